/**
 * Who hears of changes of a store: told once for each transaction, when all
 * collections of the repository have heard of it, and when entries expire.
 *
 * The one timer runs only while somebody listens: who only reads asks the clock.
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { QueryEngine } from "../query/engine.ts";
import { valueOf } from "./entry.ts";
import type { KeptChange, KeysKept } from "./keys_kept.ts";
import type { KvValue } from "./value.ts";

/** What became of one entry, for who listens. */
export interface KvChange<V = KvValue> {
  readonly key: string;
  /** What it is now; `undefined` when it is not there. */
  readonly value: V | undefined;
  /** What it was before; `undefined` when it was not there. */
  readonly before: V | undefined;
  readonly why: "set" | "deleted" | "expired";
}

/** Hears what one transaction, or the clock, did to entries. */
export type KvListener<V = KvValue> = (
  changes: readonly KvChange<V>[],
) => void;

interface Watcher {
  readonly isMeant: (key: string) => boolean;
  readonly listener: KvListener;
}

export class Watchers {
  readonly #kept: KeysKept;
  readonly #engine: QueryEngine;
  readonly #world: World;
  readonly #watchers = new Set<Watcher>();
  /** Expired, and not told yet. */
  readonly #found: KeptChange[] = [];
  #cancel: (() => void) | undefined;
  /** When the timer runs out that is set. */
  #due = Infinity;

  constructor(kept: KeysKept, engine: QueryEngine, world: World) {
    this.#kept = kept;
    this.#engine = engine;
    this.#world = world;
  }

  get isHeard(): boolean {
    return this.#watchers.size > 0;
  }

  add(isMeant: Watcher["isMeant"], listener: KvListener): Disposable {
    if (typeof listener !== "function") {
      throw new DatabaseError(
        "invalid-option",
        "Cannot subscribe: the listener is not a function",
      );
    }
    const watcher = { isMeant, listener };
    this.#watchers.add(watcher);
    this.#wait();
    return {
      [Symbol.dispose]: () => {
        this.#watchers.delete(watcher);
        if (!this.isHeard) this.clear();
      },
    };
  }

  /** Takes note of what a reader found expired: told soon, but not from within a read. */
  readonly note = (change: KeptChange): void => {
    if (this.isHeard) this.#found.push(change);
    this.#wait();
  };

  /** Tells what a transaction did, once all of the repository has heard of it. */
  tell(changes: readonly KeptChange[]): void {
    const all = [...this.#found.splice(0), ...changes];
    for (const watcher of this.#watchers) {
      const meant = all.filter(({ key }) => watcher.isMeant(key));
      if (meant.length === 0) continue;
      this.#engine.tell(() => {
        // Each listener has its own: what it does to them harms nobody.
        if (this.#watchers.has(watcher)) watcher.listener(meant.map(shown));
      });
    }
    this.#wait();
  }

  #wait(): void {
    const next = this.#found.length > 0 ? -Infinity : this.#kept.next;
    if (!this.isHeard || next === Infinity) return this.#stop();
    const ahead = Math.max(0, next - this.#world.now());
    const delay = Math.min(ahead, limits.kvTimerMsMax);
    const due = this.#world.monotonic() + delay; // The other clock may be set.
    if (this.#cancel !== undefined && this.#due <= due) return;
    this.#stop();
    this.#due = due;
    this.#cancel = this.#world.after(delay, () => {
      this.#stop();
      this.#kept.sweep(this.note);
      this.tell([]);
    });
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#due = Infinity;
  }

  clear(): void {
    this.#watchers.clear();
    this.#found.length = 0;
    this.#stop();
  }
}

function shown({ key, before, after, why }: KeptChange): KvChange {
  return {
    key,
    value: after && valueOf(after),
    before: before && valueOf(before),
    why,
  };
}
