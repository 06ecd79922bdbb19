/**
 * `sheaf redact`: what was ever said of some items is erased for ever, on every
 * device, when the person has agreed.
 *
 * @module
 */

import { readRootKeyFile } from "../../../server/root_key_file.ts";
import { createSigner } from "../../../crypto/mod.ts";
import type { Database } from "../../db/database.ts";
import { internalsOf, replicaOf } from "../../db/internals.ts";
import { Failure, usageFailure } from "../failure.ts";
import { formatAmount } from "../figures.ts";
import { escapeControls } from "../output.ts";
import {
  checkInterrupt,
  chooseCollection,
  chooseRepository,
  type CommonOptions,
  type Context,
  withDatabase,
  withStored,
} from "../session.ts";

/** Options of `sheaf redact`. */
export interface RedactOptions extends CommonOptions {
  readonly rootKey?: string;
  readonly reason?: string;
  readonly yes?: boolean;
}

/** Runs `sheaf redact`. */
export async function runRedact(
  context: Context,
  ids: readonly string[],
  options: RedactOptions,
): Promise<void> {
  const { out, err } = context;
  const { data, reason = "" } = options;
  const { repository: name, collection } = await withStored(
    options,
    async (database) => {
      const repository = chooseRepository(database, options);
      const opened = await database.repository(repository);
      const { collection } = chooseCollection(opened, options.collection);
      return { repository, collection: collection.schema.name };
    },
  );
  const items = ids.map((id) => ({ collection, id }));
  const shown = `${formatAmount(items.length, "item")} of ${collection}`;
  if (!options.yes) await confirm(context, shown);
  await withDatabase({ path: data }, async (database) => {
    const repository = await database.repository(name);
    const secret = await secretOf(database, options.rootKey);
    const replica = replicaOf(repository);
    const count = await replica.redact(items, createSigner(secret), reason);
    if (count === 0) {
      const of = ids.map((id) => `"${escapeControls(id)}"`).join(", ");
      throw new Failure("not-found", `No commit says anything of ${of}`);
    }
    out.line(`erased ${shown} in ${formatAmount(count, "commit")}`);
    err.line(
      "devices erase it when they hear of it; backups, and devices that never " +
        "come back, keep it",
    );
  });
}

async function secretOf(
  database: Database,
  path: string | undefined,
): Promise<Uint8Array> {
  const secret = path === undefined
    ? internalsOf(database).keyring.rootSecret
    : await readRootKeyFile(path);
  if (secret !== undefined) return secret;
  throw new Failure(
    "denied",
    "Only the root key erases, and it is not here",
    "--root-key FILE names the file that has it",
  );
}

async function confirm(
  { ask, signal }: Context,
  shown: string,
): Promise<void> {
  if (ask === undefined) {
    throw usageFailure(
      "Nobody can be asked: standard input is no terminal",
      "--yes erases without asking",
    );
  }
  const answer = await ask(`Erase ${shown} for ever, everywhere? [y/N] `);
  checkInterrupt(signal);
  if (/^y(es)?$/i.test(answer?.trim() ?? "")) return;
  throw new Failure("not-confirmed", "Nothing was erased");
}
