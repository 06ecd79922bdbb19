/**
 * `sheaf redact`: what was ever said of some items is erased for ever, on every
 * device, when the person has agreed.
 */

import { type FileKey, readKeyFile } from "../../../server/root_key_file.ts";
import { createSigner } from "../../../crypto/mod.ts";
import type { Database } from "../../db/database.ts";
import { internalsOf, replicaOf } from "../../db/internals.ts";
import { Failure } from "../failure.ts";
import { formatAmount } from "../figures.ts";
import { escapeControls } from "../output.ts";
import {
  chooseCollection,
  chooseRepository,
  type CommonOptions,
  confirm,
  type Context,
  withDatabase,
  withStored,
} from "../session.ts";

export interface RedactOptions extends CommonOptions {
  readonly key?: string;
  readonly reason?: string;
  readonly yes?: boolean;
}

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
  if (!options.yes) {
    await confirm(context, {
      question: `Erase ${shown} for ever, everywhere?`,
      hint: "--yes erases without asking",
      otherwise: "Nothing was erased",
    });
  }
  await withDatabase({ path: data }, async (database) => {
    const repository = await database.repository(name);
    const { secret, certificate } = await keyOf(database, options.key);
    const signer = { ...createSigner(secret), certificate };
    const count = await replicaOf(repository).redact(items, signer, reason);
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

async function keyOf(
  database: Database,
  path: string | undefined,
): Promise<FileKey> {
  return path === undefined
    ? { secret: rootSecretOf(database) }
    : await readKeyFile(path) ?? missing(path);
}

export function rootSecretOf(database: Database): Uint8Array {
  const { rootSecret } = internalsOf(database).keyring;
  if (rootSecret !== undefined) return rootSecret;
  throw new Failure(
    "denied",
    "The secret of the root key is not in this folder",
    "name the file that has it",
  );
}

export function missing(path: string): never {
  throw new Failure("not-found", `There is no key file "${path}"`);
}
