/**
 * Who is present in one repository of a server, and telling the others.
 *
 * Each receiver has at most one thing to hear of each peer: the newest. What
 * changes faster than `presenceMs` is told once; who reads slowly hears later.
 *
 * Architecture invariant: peers and bytes are bounded, whoever sends (law 10);
 * presence is never logged.
 */

import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";

/** One channel of a peer that may read. */
export interface Receiver {
  /** The connection's number. */
  readonly id: number;
  readonly user: string;
  /** Bytes that wait in its transport. */
  readonly buffered: number;
  tell(peer: number, user: string, bytes: Uint8Array): void;
}

interface Present {
  readonly user: string;
  readonly bytes: Uint8Array;
}

const GONE = new Uint8Array();
/** Who has more than this to read hears of others later. */
const BUSY_BYTES = 256 * 1024;

/** The presence of one repository. */
export class PresenceRoom {
  readonly #world: World;
  readonly #present = new Map<number, Present>();
  /** What the receivers were not told yet: a flood costs one entry. */
  readonly #changed = new Map<number, Present>();
  readonly #receivers = new Map<Receiver, Map<number, Present>>();
  #cancel: (() => void) | undefined;
  #lastMs = -Infinity;

  constructor(world: World) {
    this.#world = world;
  }

  /** A peer that hears of all who are there, and from now on of all changes. */
  join(receiver: Receiver): void {
    const pending = new Map(this.#present);
    pending.delete(receiver.id);
    this.#receivers.set(receiver, pending);
    if (pending.size > 0) this.#schedule();
  }

  /** A peer is gone. */
  leave(receiver: Receiver): void {
    this.#receivers.delete(receiver);
    this.set(receiver, GONE);
    if (this.#receivers.size > 0) return;
    this.#changed.clear();
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** A peer shows something; empty: nothing any more. */
  set({ id, user }: Receiver, bytes: Uint8Array): void {
    const isGone = bytes.length === 0;
    if (isGone ? !this.#present.delete(id) : !this.#hasRoom(id, bytes)) return;
    const present = { user, bytes };
    if (!isGone) this.#present.set(id, present);
    this.#changed.set(id, present);
    this.#schedule();
  }

  #hasRoom(id: number, bytes: Uint8Array): boolean {
    if (bytes.length > limits.presenceBytesMax) return false;
    return this.#present.has(id) ||
      this.#present.size < limits.presencePeersMax;
  }

  #schedule(): void {
    if (this.#cancel !== undefined) return;
    const now = this.#world.monotonic();
    const waitMs = Math.max(0, this.#lastMs + limits.presenceMs - now);
    this.#cancel = this.#world.after(waitMs, () => this.#flush());
  }

  #flush(): void {
    this.#cancel = undefined;
    this.#lastMs = this.#world.monotonic();
    const changed = [...this.#changed];
    this.#changed.clear();
    let isLeft = false;
    for (const [receiver, pending] of [...this.#receivers]) {
      for (const [id, present] of changed) {
        if (id !== receiver.id) pending.set(id, present);
      }
      isLeft = !this.#tell(receiver, pending) || isLeft;
    }
    if (isLeft) this.#schedule();
  }

  /** Says whether there was room for it. */
  #tell(receiver: Receiver, pending: Map<number, Present>): boolean {
    if (receiver.buffered > BUSY_BYTES) return pending.size === 0;
    const news = [...pending];
    pending.clear();
    for (const [peer, { user, bytes }] of news) {
      receiver.tell(peer, user, bytes);
    }
    return true;
  }
}
