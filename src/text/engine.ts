/**
 * The engine of text fields: Yjs puts characters in order and makes changes.
 *
 * A text that is written again and again keeps its document between two writes.
 *
 * Architecture invariant: a document is kept for one state and goes on with no
 * other. Readers see of it what a document made of that state would show them.
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import { isWithinCharacter } from "../schema/prepare_text.ts";
import {
  emptyText,
  joinAhead,
  type TextEngine,
  type TextSplice,
  type TextState,
} from "../schema/text_state.ts";
import { isLinear } from "./effort.ts";
import { applySplices, splicesOf } from "./splices.ts";
import { changeOf, docOf, rootOf } from "./yjs.ts";
import type * as Y from "yjs";

/** A document between two writes. */
interface Working {
  readonly doc: Y.Doc;
  /** What it is a document of. */
  readonly state: TextState;
  readonly text: string;
  /** Is its text what the state shows, by proof? */
  readonly isLinear: boolean;
  /** Was anything written with it? Then its client is its own. */
  readonly isOwn: boolean;
}

/** Documents of what was written last, the latest at the end. */
let kept: readonly Working[] = [];

/** Knows the order of characters by Yjs. */
export const engine: TextEngine = {
  show(state) {
    const working = kept.find((one) => one.state === state);
    if (working?.isLinear) return working.text;
    try {
      return rootOf(docOf(state)).toString();
    } catch {
      // Only of bytes that no door let in: what is there, in the order of its names.
      return unorderedOf(state);
    }
  },
  edit(state, change, newClient) {
    const working = workingOf(state);
    const { doc, text } = working;
    kept = kept.filter((one) => one !== working);
    const splices = typeof change === "string"
      ? splicesOf(text, change)
      : change;
    if (!working.isOwn) doc.clientID = newClient();
    const made = changeBy(doc, () => spliceDoc(doc, splices));
    if (splices.some((splice) => cutsCharacter(text, splice))) return made;
    const after = joinAhead(state, made);
    const now = applySplices(text, splices);
    const next = { ...working, state: after, text: now, isOwn: true };
    kept = [...kept, next].slice(-limits.textDocsMax);
    return made;
  },
};

/** Does a splice leave half a character? Yjs shows another one in its place. */
function cutsCharacter(
  text: string,
  { at, delete: length = 0, insert = "" }: TextSplice,
): boolean {
  return isWithinCharacter(text, at) || isWithinCharacter(text, at + length) ||
    !insert.isWellFormed();
}

function workingOf(state: TextState): Working {
  const known = kept.find((one) => one.state === state);
  const isSound = known?.isLinear || known?.text === state.show(engine);
  if (known !== undefined && isSound) return known;
  const doc = docOf(state);
  const text = rootOf(doc).toString();
  return { doc, state, text, isLinear: isLinear(state), isOwn: false };
}

function unorderedOf({ clients }: TextState): string {
  const ascending = [...clients].sort(([a], [b]) => a - b);
  return ascending.flatMap(([, { runs }]) => runs.map(({ text }) => text ?? ""))
    .join("").toWellFormed();
}

/** Splices a document's text; all places are meant as before the first splice. */
export function spliceDoc(
  doc: Y.Doc,
  splices: readonly TextSplice[],
  origin?: unknown,
): void {
  doc.transact(() => {
    const root = rootOf(doc);
    for (const splice of splices.toReversed()) {
      const { at, delete: length = 0, insert = "" } = splice;
      if (length > 0) root.delete(at, length);
      if (insert !== "") root.insert(at, insert);
    }
  }, origin);
}

/** The change that `edit` makes to a document. */
function changeBy(doc: Y.Doc, edit: () => void): TextState {
  let change = emptyText;
  const take = (update: Uint8Array) => void (change = changeOf(update));
  doc.on("update", take);
  edit();
  doc.off("update", take);
  return change;
}
