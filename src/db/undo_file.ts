/**
 * The `undo` file of a repository: the steps that can be undone and redone, so
 * that they outlive a reload.
 *
 * `{ chains, done, undone }` as `local_json.ts` writes it, newest steps first.
 *
 * Architecture invariant: it is a convenience, never a truth: damaged, stale or
 * missing it is as if nothing could be undone.
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import { decodeLocal, encodeLocal, pack, unpack } from "./local_json.ts";
import type { Mark } from "./undo_marks.ts";

/** Steps, each with its marks; the newest last. */
export interface KeptSteps {
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
  const [done, undone] = [fitting(steps.done), fitting(steps.undone)];
  return encodeLocal(
    `{"chains":${JSON.stringify(chains)},"done":${done},"undone":${undone}}`,
    genesisId,
  );
}

/** Reads them; none where the file is of no use for this repository. */
export function decodeSteps(
  bytes: Uint8Array,
  genesisId: Uint8Array,
): KeptSteps | undefined {
  return decodeLocal(bytes, genesisId, ({ chains, done, undone }) => {
    if (!Array.isArray(chains)) throw new SyntaxError("Cannot read chains");
    const read = (list: unknown) => parseSteps(unpack(list, chains));
    return { done: read(done), undone: read(undone) };
  });
}

function parseSteps(list: unknown): Mark[][] {
  if (!Array.isArray(list)) throw new SyntaxError("Cannot read steps");
  return list.slice(0, limits.undoStepsMax).reverse().map((marks: unknown) => {
    if (!Array.isArray(marks) || !marks.every(isMark)) {
      throw new SyntaxError("Cannot read a step");
    }
    return marks.map((mark) => ({ ...mark }));
  });
}

/** What each kind of mark has besides what all have, by type. */
const parts: Readonly<Record<Mark["what"], Readonly<Record<string, string>>>> =
  {
    create: {},
    delete: { item: "object", owners: "array" },
    set: { field: "string", key: "string" },
    entry: { field: "string", key: "string" },
    replace: { field: "string", key: "string" },
    move: { field: "string", key: "string", value: "string" },
    increment: { field: "string", amount: "number" },
    add: { field: "string", tags: "array" },
    remove: { field: "string", tags: "array" },
    insert: { field: "string", key: "string" },
    drop: {
      field: "string",
      key: "string",
      position: "string",
      stamps: "array",
    },
    edit: { field: "string", before: "string", after: "string" },
  };

const common = {
  collection: "string",
  id: "string",
  generation: "number",
  stamp: "object",
};

function isMark(value: unknown): value is Mark {
  if (typeof value !== "object" || value === null || !("what" in value)) {
    return false;
  }
  const { what } = value;
  if (typeof what !== "string" || !Object.hasOwn(parts, what)) return false;
  const wanted = { ...common, ...parts[what as Mark["what"]] }; // Proof: it is a key of them.
  return Object.entries(wanted).every(([name, type]) => {
    const part: unknown = Reflect.get(value, name);
    return (Array.isArray(part) ? "array" : typeof part) === type;
  });
}
