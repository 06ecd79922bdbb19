/**
 * `sheaf keys`: the ids of a collection, or the public keys of this replica.
 *
 * Never prints a secret.
 */

import { toHex } from "../../base/bytes.ts";
import { escapeControls } from "../output.ts";
import {
  breathe,
  chooseCollection,
  type CommonOptions,
  type Context,
  withRepository,
  withStored,
} from "../session.ts";

export interface KeysOptions extends CommonOptions {
  readonly identity?: boolean;
}

/** How many ids are printed between two looks at Ctrl-C. */
const idsPerTurn = 20_000;

export function runKeys(context: Context, options: KeysOptions): Promise<void> {
  return options.identity
    ? printIdentity(context, options)
    : printIds(context, options);
}

function printIds(context: Context, options: KeysOptions): Promise<void> {
  const { out, signal } = context;
  return withRepository(options, async (repository) => {
    const { collection } = chooseCollection(repository, options.collection);
    let count = 0;
    for (const id of collection.keys()) {
      out.line(escapeControls(id));
      if (++count % idsPerTurn === 0) await breathe(signal);
    }
  });
}

function printIdentity(
  { out }: Context,
  options: KeysOptions,
): Promise<void> {
  return withStored(options, ({ rootKey, sessionKey, user }) => {
    out.line("the public keys of this replica");
    out.line(`root key     ${toHex(rootKey)}`);
    out.line(`session key  ${toHex(sessionKey)}  ${escapeControls(user)}`);
  });
}
