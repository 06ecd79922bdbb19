/**
 * The `undo` file of a repository: the steps that can be undone and redone, so
 * that they outlive a reload.
 *
 * `{ format, chains, upTo, done, undone }` as `local_json.ts` writes it, newest steps first.
 *
 * Architecture invariant: it is a convenience, never a truth: damaged, stale or
 * missing it is as if nothing could be undone.
 */

import type { Stamp } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import type { ItemName } from "../../repo/mod.ts";
import { decodeLocal, encodeLocal, pack, unpack } from "./local_json.ts";
import type { Mark } from "./undo_marks.ts";

/** Of marks: those of another one say nothing here. */
const FORMAT = 1;

/** Steps, each with its marks; the newest last. */
export interface KeptSteps {
  /** The newest own commit that they know of: with a later one in the log they are stale. */
  readonly upTo: Stamp | undefined;
  readonly done: readonly (readonly Mark[])[];
  readonly undone: readonly (readonly Mark[])[];
}

/** As many of the newest steps as there is room for. */
export function encodeSteps(
  steps: KeptSteps,
  genesisId: Uint8Array,
): Uint8Array {
  const chains: string[] = [];
  let room: number = limits.undoBytesMax;
  const fitting = (list: KeptSteps["done"]) => {
    const parts: string[] = [];
    for (const marks of list.toReversed()) {
      const part = JSON.stringify(pack(marks, chains));
      room -= part.length;
      if (room < 0) break;
      parts.push(part);
    }
    return `[${parts.join()}]`;
  };
  const upTo = JSON.stringify(pack(steps.upTo ?? null, chains));
  const [done, undone] = [fitting(steps.done), fitting(steps.undone)];
  return encodeLocal(
    `{"format":${FORMAT},"chains":${
      JSON.stringify(chains)
    },"upTo":${upTo},"done":${done},"undone":${undone}}`,
    genesisId,
  );
}

/** Reads them; none where the file is of no use for this repository. */
export function decodeSteps(
  bytes: Uint8Array,
  genesisId: Uint8Array,
): KeptSteps | undefined {
  return decodeLocal(bytes, genesisId, (json) => {
    const { format, chains, upTo, done, undone } = json;
    if (format !== FORMAT) throw new SyntaxError("Cannot read other marks");
    // Proof: its checksum was right, so it was written here.
    const read = (list: unknown) =>
      (unpack(list, chains as string[]) as Mark[][])
        .slice(0, limits.undoStepsMax).reverse()
        .map((marks) => marks.map((mark) => ({ ...mark })));
    const last = unpack(upTo ?? null, chains as string[]) as Stamp | null;
    return {
      upTo: last ?? undefined,
      done: read(done),
      undone: read(undone),
    };
  });
}

/** The file without what steps say of some items; `undefined` where it is none. */
export function stepsWithout(
  bytes: Uint8Array,
  genesisId: Uint8Array,
  isErased: (item: ItemName) => boolean,
): Uint8Array | undefined {
  const kept = decodeSteps(bytes, genesisId);
  if (kept === undefined) return undefined;
  const left = (steps: KeptSteps["done"]) =>
    steps.map((marks) => marks.filter((mark) => !isErased(mark)))
      .filter((marks) => marks.length > 0);
  const { upTo } = kept;
  const steps = { upTo, done: left(kept.done), undone: left(kept.undone) };
  return encodeSteps(steps, genesisId);
}
