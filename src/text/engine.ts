/**
 * The engine of text fields: finds the order of characters, by Yjs where some wait
 * for others or lie, and makes changes.
 *
 * A text that is read or written keeps the order of its pieces, which goes on to
 * what is written next.
 *
 * Architecture invariant: an order goes on with no text but the one it was made of
 * and those that this grew into. Readers see of it what an order made of that text
 * would show them.
 */

import {
  joinAhead,
  type TextEngine,
  type TextState,
} from "../schema/text_state.ts";
import { orderOf } from "./effort.ts";
import { cutsCharacter, TextLine } from "./line.ts";
import { isWhole, keepLine, keepShown, lineBy } from "./kept_lines.ts";
import { splicesOf } from "./splices.ts";
import { docOf, piecesOf, rootOf } from "./yjs.ts";

export const engine: TextEngine = {
  show(state) {
    const known = knownLine(state);
    if (known?.isLinear) return known.text;
    const order = orderOf(state);
    if (order.isKnown) return keepShown(state, order);
    try {
      return rootOf(docOf(state, order)).toString();
    } catch {
      // Only of bytes that no door let in: what is there, in the order of its names.
      return unorderedOf(state);
    }
  },
  edit(state, change, newClient) {
    const before = state.show(engine)!;
    const known = knownLine(state);
    const line = known?.text === before ? known : lineOf(state, before);
    const splices = typeof change === "string"
      ? splicesOf(before, change)
      : change;
    const isWhole = !splices.some((splice) => cutsCharacter(before, splice));
    const made = line.splice(splices, newClient);
    const after = joinAhead(state, made);
    if (isWhole) keepLine(after, line);
    return made;
  },
};

function knownLine(state: TextState): TextLine | undefined {
  const line = state.order(TextLine.read);
  return line instanceof TextLine ? line : undefined;
}

/** A line of a text that shows this. */
function lineOf(state: TextState, text: string): TextLine {
  const order = orderOf(state);
  if (order.isKnown) {
    return lineBy(order, text, order.isLinear && isWhole(state));
  }
  const pieces = piecesOf(docOf(state, order));
  return TextLine.of(text, false, pieces.length, pieces);
}

function unorderedOf({ clients }: TextState): string {
  const ascending = [...clients].sort(([a], [b]) => a - b);
  return ascending.flatMap(([, { runs }]) => runs.map(({ text }) => text ?? ""))
    .join("").toWellFormed();
}
