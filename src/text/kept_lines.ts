/**
 * Which texts keep their lines: those that were read or written last, as many as
 * there is room for.
 */

import { limits } from "../base/limits.ts";
import type { TextState } from "../schema/text_state.ts";
import type { PieceOrder } from "./effort.ts";
import { TextLine } from "./line.ts";

/** How many pieces they had when they were used last, the latest at the end. */
const kept = new Map<TextLine, number>();
let pieces = 0;

/** What a line takes besides its pieces, in those. */
const ALONE = 64;

/** Has a text go on with a line; those that have not been used for long are let go. */
export function keepLine(state: TextState, line: TextLine): void {
  state.keepOrder(line, line.isLinear ? line.text : undefined);
  letGo(line);
  kept.set(line, line.count + ALONE);
  pieces += line.count + ALONE;
  for (const one of kept.keys()) {
    if (pieces <= limits.textPiecesMax || one === line) break;
    letGo(one);
    one.forget();
  }
}

function letGo(line: TextLine): void {
  pieces -= kept.get(line) ?? 0;
  kept.delete(line);
}

/** Keeps the order of a text, and shows it. */
export function keepShown(state: TextState, order: PieceOrder): string {
  const text = order.show();
  if (isWhole(state)) keepLine(state, lineBy(order, text));
  return text;
}

/** The line of a known order. */
export function lineBy(
  order: PieceOrder,
  text: string,
  isLinear: boolean = order.isLinear,
): TextLine {
  return TextLine.of(text, isLinear, order.count, order.pieces());
}

/** Is nothing deleted that has not come? What comes then would be shown. */
export function isWhole({ clients }: TextState): boolean {
  for (const { gone } of clients.values()) if (gone.length > 0) return false;
  return true;
}
