/**
 * Whose syncs meet: the commit queues of one thread that are about to sync in
 * this turn, and those whose sync is under way.
 *
 * A lone sync is quickest where it blocks the thread. Of several, each would
 * wait for all before it: so they are launched side by side, and only the last
 * of a turn may block, which is the time that the others need anyway.
 *
 * It counts what queues say and guesses nothing from time. It decides how a sync
 * is asked for, never whether: what is durable when does not depend on it.
 *
 * @module
 */

/** Counts the syncs of one thread that are announced, and under way. */
export class SyncCrowd {
  /** Announced in this turn and not begun. */
  #coming = 0;
  /** Under way. */
  #flying = 0;
  /** Of these, begun since nothing was coming. */
  #fresh = 0;

  /** A queue will sync before this turn ends, or see that it need not. */
  announce(): void {
    if (this.#coming++ === 0) this.#fresh = 0;
  }

  /** An announced one is here: it syncs now, or will not. */
  arrive(): void {
    this.#coming--;
  }

  /**
   * Must a sync that is asked for now leave the thread free? Whoever comes last
   * in a turn need not, unless a sync of an earlier turn is under way: a writer
   * that never leaves its turn would keep the others from hearing of theirs.
   */
  get isMet(): boolean {
    return this.#coming > 0 || this.#flying > this.#fresh;
  }

  /** A sync is under way since now. */
  launched(): void {
    this.#flying++;
    if (this.#coming > 0) this.#fresh++;
  }

  /** A sync that was under way has ended, well or not. */
  landed(): void {
    this.#flying--;
    if (this.#fresh > this.#flying) this.#fresh = this.#flying;
  }
}

/** The one of this thread: what flushes together need not be of one database. */
export const threadCrowd: SyncCrowd = new SyncCrowd();
