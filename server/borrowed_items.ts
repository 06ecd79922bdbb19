/**
 * The items of relays, for conditional writes: folded for the first one, and let
 * go of when none has come for a while. Whoever else asks for them has them until
 * the repository is closed.
 */

import type { State } from "../repo/state/state.ts";
import type { Replica } from "../repo/mod.ts";
import type { World } from "../src/base/world.ts";

/** After so long without a conditional write a relay's items go. */
export const ITEMS_IDLE_MS = 60_000;

interface Loan {
  askedMs: number;
  cancel: () => void;
}

export class BorrowedItems {
  readonly #world: Pick<World, "monotonic" | "after">;
  readonly #loans = new Map<Replica, Loan>();
  #isClosed = false;

  constructor(world: Pick<World, "monotonic" | "after">) {
    this.#world = world;
  }

  /** The items of a replica, for a question that is over before this turn is. */
  of(replica: Replica): State {
    const { items } = replica.loaded;
    if (items.outline === undefined) return items.state;
    const askedMs = this.#world.monotonic();
    const loan = this.#loans.get(replica);
    if (loan !== undefined) loan.askedMs = askedMs;
    else if (!this.#isClosed) {
      const cancel = this.#later(replica, ITEMS_IDLE_MS);
      this.#loans.set(replica, { askedMs, cancel });
    }
    return items.borrowed;
  }

  #later(replica: Replica, afterMs: number): () => void {
    return this.#world.after(afterMs, () => void this.#letGo(replica));
  }

  async #letGo(replica: Replica): Promise<void> {
    const loan = this.#loans.get(replica);
    if (loan === undefined) return;
    const { askedMs } = loan;
    const restMs = askedMs + ITEMS_IDLE_MS - this.#world.monotonic();
    if (restMs > 0) {
      // A timer may come early by less than the clock can tell.
      loan.cancel = this.#later(replica, Math.ceil(restMs));
      return;
    }
    // Who asks again folds from there on: what lies behind it is short.
    await replica.checkpoint().catch(() => {}); // It costs time only.
    if (loan.askedMs !== askedMs) return this.#letGo(replica);
    this.#loans.delete(replica);
    if (!replica.isClosed) replica.loaded.items.letGo();
  }

  /** Repositories are about to be closed, and their items go with them. */
  close(): void {
    this.#isClosed = true;
    for (const { cancel } of this.#loans.values()) cancel();
    this.#loans.clear();
  }
}
