/**
 * `sheaf keys`: the ids of a collection, or the public keys of this replica.
 *
 * Never prints a secret.
 *
 * @module
 */

import { escapeControls } from "../escape.ts";
import {
  breathe,
  chooseCollection,
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";
import type { Output } from "../output.ts";
import type { Writer } from "../store.ts";

/** Options of `sheaf keys`. */
export interface KeysOptions extends CommonOptions {
  readonly identity?: boolean;
}

/** How many ids are printed between two looks at Ctrl-C. */
const idsPerTurn = 20_000;

/** Runs `sheaf keys`. */
export function runKeys(context: Context, options: KeysOptions): Promise<void> {
  const { out, signal } = context;
  return withRepository(context, options, async (repository, database) => {
    if (options.identity) {
      printIdentity(out, database.rootKey, repository.writers());
      return;
    }
    const collection = chooseCollection(repository, options.collection);
    let count = 0;
    for (const id of collection.keys()) {
      out.line(escapeControls(id));
      if (++count % idsPerTurn === 0) await breathe(signal);
    }
  });
}

function printIdentity(
  out: Output,
  rootKey: Uint8Array,
  writers: readonly Writer[],
): void {
  out.line(`root key     ${rootKey.toHex()}`);
  for (const { sessionKey, user } of writers) {
    out.line(`session key  ${sessionKey}  ${escapeControls(user)}`);
  }
}
