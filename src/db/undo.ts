/**
 * `repository.undo`: takes back what was written here, step by step, and does
 * it again, as ordinary commits.
 *
 * Only this face is loaded with the database. The rest comes when undo is first
 * asked for; what is written until it is there waits for it.
 */

import { refuseOptions } from "../base/known_options.ts";
import { Listeners } from "./listeners.ts";
import type { UndoParts, UndoResult } from "./undo_apply.ts";
import type { UndoHistory } from "./undo_history.ts";
import type { Write } from "./write.ts";

export type { LeftAlone, UndoResult } from "./undo_apply.ts";

/** What can be done just now. */
export interface UndoState {
  readonly canUndo: boolean;
  readonly canRedo: boolean;
}

/** Takes back what was written here, and does it again. */
export interface Undo extends UndoState {
  /**
   * Takes the last step back, as one commit; `undefined` where there is none.
   * What somebody else changed since stays as it is: the result says what.
   *
   * @throws {DatabaseError} `denied` where rules and `constraint` where constraints
   * forbid it (the step is forgotten), `closed`, or the failure that made the
   * repository read-only
   */
  undo(): Write<UndoResult> | undefined;
  /** Does again what was undone last. As {@linkcode undo}. */
  redo(): Write<UndoResult> | undefined;
  /** All that is written here while the callback runs, or until its promise settles, is one step. */
  group<R>(callback: () => R): R;
  /** Forgets all steps: nothing can be undone any more. */
  clear(): void;
  /** Resolves when steps can be undone, those from before a reload, too. */
  readonly ready: Promise<void>;
  /** Calls when {@linkcode UndoState} changed; the result ends it. */
  readonly subscribe: (listener: () => void) => () => void;
  /** The same object until something changes. */
  readonly getSnapshot: () => UndoState;
}

export class RepositoryUndo implements Undo {
  readonly #listeners: Listeners;
  readonly ready: Promise<void>;
  #history: UndoHistory | undefined;
  /** What is for the history, while it is on its way. */
  #waiting: ((history: UndoHistory) => void)[] = [];
  #state: UndoState = Object.freeze({ canUndo: false, canRedo: false });
  #isTelling = false;
  #isReady = false;

  constructor(parts: UndoParts) {
    refuseOptions(this);
    this.#listeners = new Listeners(parts.report);
    parts.replica.noting = (notes, stamp) =>
      this.#tell((history) => history.note(notes, stamp));
    this.ready = this.#load(parts);
    this.ready.catch(() => { // Who waits hears it; nobody else goes without writing.
      parts.replica.noting = undefined;
      this.#waiting = [];
    });
  }

  async #load(parts: UndoParts): Promise<void> {
    // What is written from now on is noted.
    const before = Array.from(parts.replica.graph.chains(), (chain) => ({
      ...chain,
    }));
    const { UndoHistory } = await import("./undo_history.ts");
    const history = new UndoHistory(parts, () => this.#changed(), before);
    this.#history = history;
    for (const tell of this.#waiting.splice(0)) tell(history);
    await history.ready;
    this.#isReady = true;
  }

  #tell(what: (history: UndoHistory) => void): void {
    if (this.#history === undefined) this.#waiting.push(what);
    else what(this.#history);
  }

  get canUndo(): boolean {
    return this.#history?.canUndo ?? false;
  }

  get canRedo(): boolean {
    return this.#history?.canRedo ?? false;
  }

  readonly getSnapshot = (): UndoState => {
    const { canUndo, canRedo } = this;
    const last = this.#state;
    if (last.canUndo === canUndo && last.canRedo === canRedo) return last;
    return this.#state = Object.freeze({ canUndo, canRedo });
  };

  readonly subscribe = (listener: () => void): () => void =>
    this.#listeners.add(listener);

  undo(): Write<UndoResult> | undefined {
    return this.#history?.undo();
  }

  redo(): Write<UndoResult> | undefined {
    return this.#history?.redo();
  }

  group<R>(callback: () => R): R {
    this.#tell((history) => history.begin());
    const end = () => this.#tell((history) => history.end());
    let result: R;
    try {
      result = callback();
    } catch (error) {
      end();
      throw error;
    }
    if (result instanceof Promise) result.then(end, end);
    else end();
    return result;
  }

  clear(): void {
    this.#tell((history) => history.clear());
  }

  /** Writes the steps down, if they changed since; resolves when that is done. It never fails. */
  async save(): Promise<void> {
    // A page that goes away has no time to wait for what is there.
    if (!this.#isReady) await this.ready.catch(() => {});
    await this.#history?.save();
  }

  #changed(): void {
    if (this.#isTelling || this.#listeners.size === 0) return;
    this.#isTelling = true;
    const before = this.#state;
    queueMicrotask(() => {
      this.#isTelling = false;
      if (this.getSnapshot() !== before) this.#listeners.tell();
    });
  }
}
