/**
 * Who else is present, as a client hears it: bytes that the others show, which are JSON to apps.
 *
 * Architecture invariant: peers and bytes are bounded, whatever a server says
 * (law 10); the list is the same object until it changes.
 */

import { limits } from "../src/base/limits.ts";

/** Somebody else. */
export interface PresentPeer {
  /** Number of the peer's connection at the server. */
  readonly peer: number;
  readonly user: string;
  /** What it shows. */
  readonly bytes: Uint8Array;
}

/** All who are there beside this client. */
export class Others {
  readonly #peers = new Map<number, PresentPeer>();
  #list: readonly PresentPeer[] | undefined;

  /** The same array until somebody comes, goes or shows something else. */
  get list(): readonly PresentPeer[] {
    return this.#list ??= Object.freeze([...this.#peers.values()]);
  }

  /** A peer shows something; empty: it is gone. Says whether anything changed. */
  set(peer: number, user: string, bytes: Uint8Array): boolean {
    if (bytes.length === 0) {
      if (!this.#peers.delete(peer)) return false;
    } else {
      const isNew = !this.#peers.has(peer);
      if (isNew && this.#peers.size >= limits.presencePeersMax) return false;
      if (bytes.length > limits.presenceBytesMax) return false;
      this.#peers.set(peer, Object.freeze({ peer, user, bytes }));
    }
    this.#list = undefined;
    return true;
  }

  /** The connection is gone, and with it everybody. Says whether anything changed. */
  clear(): boolean {
    if (this.#peers.size === 0) return false;
    this.#peers.clear();
    this.#list = undefined;
    return true;
  }
}
