/**
 * Presence: what the people in a repository show each other just now. It rides
 * on the connection, is never logged, and is gone when the connection is.
 */

import { decodeText, encodeText } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { refuseOptions } from "../base/known_options.ts";
import { limits } from "../base/limits.ts";
import { copyJson } from "../schema/json.ts";
import type { JsonValue } from "../schema/mod.ts";
import type { Channel, PresentPeer } from "./channel.ts";
import { Listeners } from "./listeners.ts";

/** Somebody else who is here. */
export interface PresentUser {
  /** Tells two devices of one user apart; another number after a reconnect. */
  readonly peer: number;
  /** The user of that device's certificate. */
  readonly user: string;
  /** What they show. */
  readonly data: JsonValue;
}

/** Who is here now, and what they show. */
export interface Presence {
  /** Shows `data` to everybody else in the repository, until it is cleared or the connection ends. */
  set(data: JsonValue): void;
  /** Shows nothing any more. */
  clear(): void;
  /** The others; the same array until something changes. Empty while offline. */
  readonly others: readonly PresentUser[];
  /** Calls when {@linkcode others} changed; the result ends it. */
  subscribe(listener: () => void): () => void;
  /** As {@linkcode others}, for `useSyncExternalStore` and its kind. */
  getSnapshot(): readonly PresentUser[];
}

const nobody: readonly PresentUser[] = Object.freeze([]);
const noPeers: readonly PresentPeer[] = Object.freeze([]);
const nothing: Uint8Array = new Uint8Array(0);

/** The presence of one repository, over connections that come and go. */
export class RepositoryPresence implements Presence {
  readonly #listeners: Listeners;
  #channel: Channel | undefined;
  #shown = nothing;
  #peers: readonly PresentPeer[] | undefined;
  #others = nobody;

  constructor(report?: (error: unknown) => void) {
    refuseOptions(this);
    this.#listeners = new Listeners(report);
  }

  set(data: JsonValue): void {
    const text = JSON.stringify(copyJson(data, complain));
    const bytes = encodeText(text);
    if (bytes.length > limits.presenceBytesMax) {
      throw new DatabaseError(
        "value-too-large",
        `Cannot show this: presence takes ${limits.presenceBytesMax} bytes of JSON at most`,
      );
    }
    this.show(bytes);
  }

  clear(): void {
    this.show(nothing);
  }

  /** Shows bytes as they are; none: nothing any more. */
  show(bytes: Uint8Array): void {
    this.#shown = bytes;
    this.#channel?.present(bytes);
  }

  /** The others as they came; the same array until it changes. */
  get peers(): readonly PresentPeer[] {
    return this.#channel?.others ?? noPeers;
  }

  get others(): readonly PresentUser[] {
    const peers = this.#channel?.others;
    if (peers !== this.#peers) {
      this.#peers = peers;
      this.#others = readPeers(peers);
    }
    return this.#others;
  }

  readonly subscribe = (listener: () => void): () => void => {
    return this.#listeners.add(listener);
  };

  readonly getSnapshot = (): readonly PresentUser[] => this.others;

  /** Goes on over this channel, or over none. */
  attach(channel: Channel | undefined): void {
    this.#channel = channel;
    if (channel !== undefined && this.#shown.length > 0) {
      channel.present(this.#shown);
    }
    this.heard();
  }

  /** Something of the channel changed. */
  heard(): void {
    const before = this.#others;
    if (this.others !== before) this.#listeners.tell();
  }
}

function readPeers(
  peers: readonly PresentPeer[] | undefined,
): readonly PresentUser[] {
  if (peers === undefined || peers.length === 0) return nobody;
  const others: PresentUser[] = [];
  for (const { peer, user, bytes } of peers) {
    const data = readData(bytes);
    if (data !== undefined) others.push(Object.freeze({ peer, user, data }));
  }
  return Object.freeze(others);
}

/** What is no JSON is not shown: another app's, or a liar's. */
function readData(bytes: Uint8Array): JsonValue | undefined {
  try {
    const value: unknown = JSON.parse(decodeText(bytes));
    return copyJson(value, complain) as JsonValue;
  } catch {
    return undefined;
  }
}

function complain(why: string): never {
  throw new DatabaseError(
    "invalid-value",
    `Presence must be plain JSON: ${why}`,
  );
}
