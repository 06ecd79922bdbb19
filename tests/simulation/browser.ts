/**
 * A browser in virtual time: the locks, ports and channels that it gives to the
 * pages of an origin and their workers.
 *
 * @module
 */

import type { World } from "../../src/base/world.ts";
import type { LockOptions, Locks } from "../../src/browser/locks.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Line, Platform } from "../kit/origin.ts";
import type { Dice } from "./dice.ts";

/** The longest that a message or a lock is on its way. */
const LATE_MS = 3;

/** What a browser is made of. */
export interface BrowserParts {
  readonly world: World;
  readonly dice: Dice;
  /** An empty medium. */
  readonly medium: () => Storage;
}

/** See the file's header. */
export function virtualPlatform(
  { world, dice, medium }: BrowserParts,
): Platform {
  const lateMs = () => dice.number() * LATE_MS;
  const channels = new Map<string, Set<End>>();
  return {
    world,
    locks: new VirtualLocks(world, lateMs),
    ports() {
      const one = new End(world, lateMs);
      const other = new End(world, lateMs);
      one.peers = () => [other];
      other.peers = () => [one];
      return [one, other];
    },
    channel(name) {
      const all = channels.get(name) ?? new Set();
      channels.set(name, all);
      const end: End = new End(world, lateMs, () => all.delete(end));
      end.peers = () => [...all].filter((one) => one !== end);
      all.add(end);
      end.start();
      return end;
    },
    medium,
  };
}

/** One end of a port or channel: what is said arrives in order, and later. */
class End implements Line {
  readonly #world: World;
  readonly #lateMs: () => number;
  readonly #closed: () => void;
  readonly #listeners = new Set<(event: Event) => void>();
  /** What came before it was started. */
  #early: unknown[] | undefined = [];
  #isClosed = false;
  #lastMs = 0;
  peers: () => readonly End[] = () => [];

  constructor(world: World, lateMs: () => number, closed = () => {}) {
    this.#world = world;
    this.#lateMs = lateMs;
    this.#closed = closed;
  }

  postMessage(message: unknown, transfer: ArrayBuffer[]): void {
    if (this.#isClosed) return;
    const peers = this.peers();
    const now = this.#world.monotonic();
    this.#lastMs = Math.max(this.#lastMs, now + this.#lateMs());
    // Whoever has only one peer may give his bytes away.
    const isAlone = peers.length === 1;
    for (const peer of peers) {
      const data = structuredClone(message, isAlone ? { transfer } : {});
      this.#world.after(this.#lastMs - now, () => peer.#take(data));
    }
  }

  #take(data: unknown): void {
    if (this.#isClosed) return;
    if (this.#early !== undefined) return void this.#early.push(data);
    for (const listener of [...this.#listeners]) {
      listener(new MessageEvent("message", { data }));
    }
  }

  addEventListener(_type: "message", listener: (event: Event) => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(
    _type: "message",
    listener: (event: Event) => void,
  ): void {
    this.#listeners.delete(listener);
  }

  start(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const data of early) this.#world.after(0, () => this.#take(data));
  }

  close(): void {
    this.#isClosed = true;
    this.#closed();
  }
}

/** Somebody who holds a lock, or waits for it. */
interface Request {
  readonly held: () => Promise<void>;
  readonly settled: PromiseWithResolvers<void>;
}

/** Who holds a lock, and who waits. */
interface Queue {
  holder: Request | undefined;
  readonly waiting: Request[];
}

/** Web Locks: exclusive ones, in order of asking; a theft waits for nobody. */
class VirtualLocks implements Locks {
  readonly #world: World;
  readonly #lateMs: () => number;
  readonly #lines = new Map<string, Queue>();

  constructor(world: World, lateMs: () => number) {
    this.#world = world;
    this.#lateMs = lateMs;
  }

  request(
    name: string,
    { steal, signal }: LockOptions,
    held: () => Promise<void>,
  ): Promise<void> {
    const request = { held, settled: Promise.withResolvers<void>() };
    const { promise } = request.settled;
    if (signal?.aborted) return Promise.reject(aborted());
    signal?.addEventListener("abort", () => this.#giveUp(name, request));
    this.#soon(() => {
      if (signal?.aborted) return;
      const line = this.#lineOf(name);
      if (steal) {
        line.holder?.settled.reject(aborted());
        return this.#grant(name, line, request);
      }
      line.waiting.push(request);
      this.#next(name, line);
    });
    return promise;
  }

  #lineOf(name: string): Queue {
    const line = this.#lines.get(name) ?? { holder: undefined, waiting: [] };
    this.#lines.set(name, line);
    return line;
  }

  #soon(task: () => void): void {
    this.#world.after(this.#lateMs(), task);
  }

  #giveUp(name: string, request: Request): void {
    const line = this.#lines.get(name);
    if (line?.holder === request) return;
    const at = line?.waiting.indexOf(request) ?? -1;
    if (at >= 0) line!.waiting.splice(at, 1);
    request.settled.reject(aborted());
  }

  #next(name: string, line: Queue): void {
    if (line.holder !== undefined) return;
    const next = line.waiting.shift();
    if (next !== undefined) this.#grant(name, line, next);
    else if (this.#lines.get(name) === line) this.#lines.delete(name);
  }

  #grant(name: string, line: Queue, request: Request): void {
    line.holder = request;
    const { settled: { resolve, reject } } = request;
    const end = () => {
      if (line.holder !== request) return;
      line.holder = undefined;
      this.#soon(() => this.#next(name, line));
    };
    request.held().then(resolve, reject).then(end);
  }

  query(): Promise<{ readonly held: readonly { readonly name: string }[] }> {
    const held = [...this.#lines].flatMap(([name, { holder }]) =>
      holder === undefined ? [] : [{ name }]
    );
    return new Promise((resolve) => this.#soon(() => resolve({ held })));
  }
}

function aborted(): DOMException {
  return new DOMException("The lock is not to be had", "AbortError");
}
