/**
 * The items of a repository: folded when it is opened, or, over a relay, when
 * somebody first asks for one.
 *
 * Architecture invariant: who orders, stores and forwards commits never asks
 * for {@linkcode Items.state} (docs/decisions/0046).
 *
 * @module
 */

import type { Checkpoint } from "../checkpoint/checkpoint.ts";
import type { Outline } from "./outline.ts";
import type { State } from "./state.ts";

/** A state, and what it stands on. */
export interface FoldedItems {
  readonly state: State;
  /** The checkpoint of which cells are read on demand. */
  readonly base: Checkpoint | undefined;
}

/** What a relay has in the place of items. */
export interface UnfoldedItems {
  readonly outline: Outline;
  /** Folds the newest full checkpoint and the log behind it. */
  readonly fold: () => FoldedItems;
}

/** The items of one repository. */
export class Items {
  #folded: FoldedItems | undefined;
  readonly #unfolded: UnfoldedItems | undefined;
  /** Does somebody keep the state? */
  #isKept = false;

  constructor(items: FoldedItems | UnfoldedItems) {
    if ("state" in items) this.#folded = items;
    else this.#unfolded = items;
  }

  /** What a relay goes by; `undefined` where items were folded at once, because something is judged by them. */
  get outline(): Outline | undefined {
    return this.#unfolded?.outline;
  }

  /** The state, where somebody needed it. */
  get folded(): State | undefined {
    return this.#folded?.state;
  }

  /** The state: folded now, where nobody needed it before. */
  get state(): State {
    this.#isKept = true;
    return this.borrowed;
  }

  /** The state, for who keeps nothing of it beyond his turn. */
  get borrowed(): State {
    return (this.#folded ??= this.#unfolded!.fold()).state;
  }

  /** Forgets what was borrowed of a relay, where nobody keeps it; no checkpoint is being written. */
  letGo(): void {
    if (this.#isKept || this.#unfolded === undefined) return;
    this.base?.close();
    this.#folded = undefined;
  }

  /** What the state stands on. */
  get base(): Checkpoint | undefined {
    return this.#folded?.base;
  }
}
