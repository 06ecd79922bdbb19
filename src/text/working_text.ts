/**
 * A document of a text while it is edited: what is typed goes into it at once,
 * and what others type comes into it.
 *
 * Architecture invariant: what a document shows is taken for what its state shows
 * only where that has one order, by proof: each run was put in between two units
 * that stood side by side, whichever came first (law 4).
 */

import * as Y from "yjs";
import type { TextSpan } from "../schema/span_set.ts";
import {
  joinAhead,
  type TextSplice,
  type TextState,
  type TextView,
} from "../schema/text_state.ts";
import { orderOf } from "./effort.ts";
import { freshIn, isSurelySame } from "./fresh.ts";
import { keepLine } from "./kept_lines.ts";
import { TextLine } from "./line.ts";
import {
  changeIn,
  docOf,
  piecesOf,
  putBetween,
  rootOf,
  updateOf,
} from "./yjs.ts";

export class WorkingText implements TextView {
  readonly doc: Y.Doc;
  #state: TextState;
  /** Was a change that it gave written to another state? */
  #isAhead = false;
  #text: string | undefined;
  #isLinear: boolean;
  /** Units of its own client that are in changes it gave. */
  #given = 0;
  /** What was deleted since, by client. */
  #deleted = new Map<number, TextSpan[]>();

  constructor(state: TextState) {
    const order = orderOf(state);
    this.doc = docOf(state, order);
    this.#state = state;
    this.#isLinear = order.isLinear;
    state.showFrom(this);
  }

  /** What it was last a document of: what it holds besides was typed in it. */
  get state(): TextState {
    return this.#state;
  }

  get text(): string {
    return this.#text ??= rootOf(this.doc).toString();
  }

  /** Units of its own client that are in changes it gave. */
  get given(): number {
    return this.#given;
  }

  /** Is there nothing that no change has given? */
  get isGiven(): boolean {
    return this.#deleted.size === 0 && this.#given === this.#typed;
  }

  get #typed(): number {
    return Y.getState(this.doc.store, this.doc.clientID);
  }

  /** Does it show what this state shows, by proof? */
  shows(state: TextState): boolean {
    return this.#state === state && this.#isLinear && this.isGiven &&
      !this.#isAhead;
  }

  /** Lets its state go: that goes on showing what it showed. */
  release(): void {
    const state = this.#state;
    if (this.shows(state) && !state.order(TextLine.read)) {
      keepLine(state, this.#line());
    }
    state.keepShown();
  }

  bytes(): Uint8Array | undefined {
    return this.#line().bytes();
  }

  #line(): TextLine {
    const pieces = piecesOf(this.doc);
    return TextLine.of(this.text, this.#isLinear, pieces.length, pieces);
  }

  /** Splices it; all places are meant as before the first splice. `after` is the text then, where it is known. */
  splice(splices: readonly TextSplice[], after?: string): void {
    const root = rootOf(this.doc);
    const { deleteSet } = this.doc.transact((transaction) => {
      for (const splice of splices.toReversed()) {
        const { at, delete: length = 0, insert = "" } = splice;
        if (length > 0) root.delete(at, length);
        if (insert !== "") root.insert(at, insert);
      }
      return transaction;
    });
    for (const [client, spans] of deleteSet.clients) {
      const gone = spans.map(({ clock, len }) => ({ clock, length: len }));
      const known = this.#deleted.get(client);
      if (known === undefined) this.#deleted.set(client, gone);
      else known.push(...gone);
    }
    this.#text = after;
  }

  /** What was spliced since the last change that it gave, for whoever writes that to a state. */
  give(state?: TextState): TextState {
    const change = changeIn(this.doc, this.#given, this.#deleted);
    this.#given = this.#typed;
    this.#deleted = new Map();
    if (this.#isAhead || !state || !isSurelySame(state, this.#state)) {
      this.#isAhead = true;
    } else {
      this.#state = joinAhead(state, change);
      this.#state.showFrom(this);
    }
    return change;
  }

  /**
   * Takes what came into its state. `false` where a new document must be made of
   * that: it would show something else, or now there is one order by proof.
   */
  take(state: TextState, show: (state: TextState) => string): boolean {
    const isNext = this.#isLinear && !this.#isAhead;
    const fresh = isNext ? freshIn(state, this.#state) : undefined;
    this.#state = state;
    this.#isAhead = false;
    this.#text = undefined;
    state.showFrom(this);
    if (fresh !== undefined && putBetween(this.doc, fresh)) return true;
    this.#isLinear = false;
    const { isTooMuch, isLinear } = orderOf(state);
    if (isTooMuch) return false;
    const known = Y.decodeStateVector(Y.encodeStateVector(this.doc));
    Y.applyUpdate(this.doc, updateOf(state, known));
    return !this.isGiven || !isLinear && this.text === show(state);
  }
}
