/**
 * What small files beside a repository say of items that are erased goes, too:
 * what could be undone, and own edits that lost.
 */

import type { ItemName } from "../../repo/mod.ts";
import type { Storage } from "../storage/storage.ts";
import { isOneOf } from "./items.ts";
import {
  type LocalFile,
  localFileOf,
  overwrittenFile,
  undoFile,
} from "./local_file.ts";
import { lossesWithout } from "./overwritten_edits.ts";
import { stepsWithout } from "./undo_file.ts";

export interface ForgetPlace {
  readonly storage: Storage;
  readonly folder: string;
  readonly genesisId: Uint8Array;
}

export async function forgetErased(
  { storage, folder, genesisId }: ForgetPlace,
  items: readonly ItemName[],
): Promise<void> {
  const isErased = isOneOf(items);
  const undo = localFileOf(storage, folder, undoFile);
  await rewrite(undo, (bytes) => stepsWithout(bytes, genesisId, isErased));
  const losses = localFileOf(storage, folder, overwrittenFile);
  await rewrite(losses, (bytes) => lossesWithout(bytes, genesisId, isErased));
}

/** What cannot be read is of no use to anybody, and goes. */
async function rewrite(
  file: LocalFile,
  without: (bytes: Uint8Array) => Uint8Array | undefined,
): Promise<void> {
  const bytes = await file.read();
  if (bytes === undefined) return;
  await file.write(without(bytes) ?? new Uint8Array(0));
}
