/**
 * The items of a relay, for the moment when somebody needs them: the newest whole
 * checkpoint, and the log behind it.
 *
 * Architecture invariant: the same state as where everything was folded at once
 * (law 5); it is made by the same replay.
 *
 * @module
 */

import type { Shape } from "../../src/schema/patch.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type Checkpoint, openCheckpoint } from "../checkpoint/checkpoint.ts";
import { isDispensable } from "../checkpoint/dispensable.ts";
import type { Log } from "../log/log.ts";
import type { VoidCommits } from "../refusal/void_commits.ts";
import type { FoldedItems } from "../state/items.ts";
import { Outline } from "../state/outline.ts";
import type { State, ViewOf } from "../state/state.ts";

/** What folds a log: a `Replay`. */
interface Folder {
  record(kind: number, body: Uint8Array, address: number): void;
  again():
    | { readonly known: VoidCommits; readonly isUsable: boolean }
    | undefined;
  finish(): { readonly into: State | Outline };
}

/** A repository that is open, and how it is folded. */
interface Unfolded {
  readonly storage: Storage;
  readonly folder: string;
  readonly log: Log;
  readonly viewOf: ViewOf;
  readonly over: (
    checkpoint: Checkpoint | undefined,
    known: VoidCommits | undefined,
  ) => Folder;
}

/** What makes a repository a relay. */
export interface Relay {
  /** @param shapes what a checkpoint says of collections and fields */
  outline(shapes?: readonly Shape[]): Outline;
  /** Folds what is in the files. */
  fold(unfolded: Unfolded): FoldedItems;
}

/** See {@linkcode Relay}. */
export const relay: Relay = {
  outline: (shapes = []) => new Outline(shapes),
  fold(unfolded) {
    const { storage, folder, log, viewOf } = unfolded;
    const readLog = (target: Uint8Array, at: number) => log.readAt(target, at);
    const { checkpoint } = openCheckpoint(storage, folder, readLog, viewOf);
    try {
      return foldOver(unfolded, checkpoint);
    } catch (cause) {
      checkpoint?.close();
      if (checkpoint === undefined || !isDispensable(cause)) throw cause;
      return foldOver(unfolded, undefined);
    }
  },
};

function foldOver(
  unfolded: Unfolded,
  checkpoint: Checkpoint | undefined,
): FoldedItems {
  let base = checkpoint;
  let done = folded(unfolded, base);
  const again = done.again();
  if (again !== undefined) {
    if (!again.isUsable) {
      base?.close();
      base = undefined;
    }
    done = folded(unfolded, base, again.known);
  }
  const { into } = done.finish();
  return { state: into as State, base }; // proof: nothing else was given to fold into.
}

function folded(
  { log, over }: Unfolded,
  checkpoint: Checkpoint | undefined,
  known?: VoidCommits,
): Folder {
  const folder = over(checkpoint, known);
  log.records(
    checkpoint?.covers ?? 0,
    log.end,
    (kind, body, address) => void folder.record(kind, body, address),
  );
  return folder;
}
