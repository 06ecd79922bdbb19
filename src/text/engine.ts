/**
 * The engine of text fields: Yjs puts characters in order and makes changes.
 *
 * A text that is written again and again keeps its document between two writes,
 * which takes what others wrote meanwhile.
 *
 * Architecture invariant: a document goes on with no state but its own and those
 * that this grew into. Readers see of it what a document made of that state would
 * show them.
 */

import { limits } from "../base/limits.ts";
import {
  isWithinCharacter,
  type TextEngine,
  type TextSplice,
  type TextState,
} from "../schema/text_state.ts";
import { orderOf } from "./effort.ts";
import { freshIn } from "./fresh.ts";
import { applySplices, splicesOf } from "./splices.ts";
import { WorkingText } from "./working_text.ts";
import { docOf, rootOf } from "./yjs.ts";

/** Documents of what was written last, the latest at the end. */
let kept: readonly WorkingText[] = [];

export const engine: TextEngine = {
  show(state) {
    const known = grownTo(state);
    if (known?.shows(state)) {
      const { text } = known;
      known.release();
      return text;
    }
    const order = orderOf(state);
    if (order.isLinear) return order.show();
    try {
      return rootOf(docOf(state, order)).toString();
    } catch {
      // Only of bytes that no door let in: what is there, in the order of its names.
      return unorderedOf(state);
    }
  },
  edit(state, change, newClient) {
    const known = grownTo(state);
    const isSound = known?.shows(state) || known?.text === state.show(engine);
    const working = isSound && known ? known : begin(state, newClient());
    kept = kept.filter((one) => one !== known);
    const { text } = working;
    const splices = typeof change === "string"
      ? splicesOf(text, change)
      : change;
    working.splice(splices, applySplices(text, splices));
    const made = working.give(state);
    if (splices.some((splice) => cutsCharacter(text, splice))) return made;
    kept = [...kept, working].slice(-limits.textDocsMax);
    working.release();
    return made;
  },
};

/** The document of a state, or of what it was when something was written to it here. */
function grownTo(state: TextState): WorkingText | undefined {
  const known = kept.find((one) => one.state === state);
  if (known !== undefined) return known;
  const before = kept.find((one) =>
    one.given > 0 && state.endOf(one.doc.clientID) === one.given &&
    freshIn(state, one.state) !== undefined
  );
  if (before?.take(state, (it) => it.show(engine)!) !== false) return before;
  kept = kept.filter((one) => one !== before);
}

function begin(state: TextState, client: number): WorkingText {
  const working = new WorkingText(state);
  working.typeAs(client);
  return working;
}

/** Does a splice leave half a character? Yjs shows another one in its place. */
function cutsCharacter(
  text: string,
  { at, delete: length = 0, insert = "" }: TextSplice,
): boolean {
  return isWithinCharacter(text, at) || isWithinCharacter(text, at + length) ||
    !insert.isWellFormed();
}

function unorderedOf({ clients }: TextState): string {
  const ascending = [...clients].sort(([a], [b]) => a - b);
  return ascending.flatMap(([, { runs }]) => runs.map(({ text }) => text ?? ""))
    .join("").toWellFormed();
}
