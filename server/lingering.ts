/**
 * Sockets that outlive their conversation: their peer neither reads nor lets
 * go, and the platform cannot terminate them.
 *
 * Architecture invariant: what waits in such sockets is memory that only their
 * peer can free: an address has so many, and no new socket while it does
 * (law 10).
 *
 * @module
 */

import { limits } from "../src/base/limits.ts";

/** Sockets by address, from the end of their conversation until they are gone. */
export class Lingering {
  readonly #endedMs = new Map<string, Map<object, number>>();

  /**
   * The conversation of a socket ended.
   *
   * @returns says that the socket is gone
   */
  add(address: string, nowMs: number): () => void {
    const socket = {};
    let sockets = this.#endedMs.get(address);
    if (sockets === undefined) {
      this.#endedMs.set(address, sockets = new Map());
    }
    sockets.set(socket, nowMs);
    return () => this.#gone(address, socket);
  }

  #gone(address: string, socket: object): void {
    const sockets = this.#endedMs.get(address);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#endedMs.delete(address);
  }

  /** Has an address so many that it gets no other one? Those that ended just now may be closing yet. */
  isFull(address: string, nowMs: number): boolean {
    const sockets = this.#endedMs.get(address);
    if (sockets === undefined || sockets.size < limits.lingeringSocketsMax) {
      return false;
    }
    const beforeMs = nowMs - limits.lingerMs;
    let count = 0;
    for (const endedMs of sockets.values()) if (endedMs <= beforeMs) count++;
    return count >= limits.lingeringSocketsMax;
  }
}
