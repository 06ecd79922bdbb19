/**
 * One origin of a browser, in one thread: files that outlive pages, locks, and
 * pages with their workers, which can be closed, killed, frozen and thawed.
 *
 * Workers' code is the real one, and so are messages and locks, unless another
 * platform is given; only death is played: a killed page neither hears nor says
 * anything more, its locks are free, and its worker cannot touch the files.
 *
 * @module
 */

import { DatabaseError } from "../../src/base/errors.ts";
import { system } from "../../src/base/system.ts";
import type { World } from "../../src/base/world.ts";
import { type Locks, webLocks } from "../../src/browser/locks.ts";
import {
  type OwnedStorage,
  OwnerWorker,
} from "../../src/browser/owner_worker.ts";
import type { Wire } from "../../src/browser/route.ts";
import type { StorageIncident } from "../../src/storage/browser_storage.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import type { Connector } from "../../sync/transport/transport.ts";

/** A wire that can be closed. */
export interface Line extends Wire {
  close(): void;
}

/** What a browser gives to the pages of an origin. */
export interface Platform {
  readonly world: World;
  readonly locks: Locks;
  /** Both ends of a line between a page and its worker. */
  readonly ports: () => readonly [Line, Line];
  /** A line to all that have one of this name. */
  readonly channel: (name: string) => Line;
  /** A medium without files. */
  readonly medium: () => Storage;
}

let platform: Platform | undefined;

/** This process: its locks, ports and clock. */
function thisPlatform(): Platform {
  if (platform !== undefined) return platform;
  // Deno lets go of its subscription some time after the last channel was closed: a channel made in between can then
  // neither speak nor hear (`expected i32`). So there is never a last one.
  new BroadcastChannel("always open");
  return platform = {
    world: system,
    locks: webLocks()!,
    ports: () => {
      const { port1, port2 } = new MessageChannel();
      return [port1, port2];
    },
    channel: (name) => lineOf(new BroadcastChannel(name)),
    medium: memoryStorage,
  };
}

/** A channel transfers nothing. */
function lineOf(channel: BroadcastChannel): Line {
  return {
    postMessage: (message) => channel.postMessage(message),
    addEventListener: (type, listener) =>
      channel.addEventListener(type, listener),
    removeEventListener: (type, listener) =>
      channel.removeEventListener(type, listener),
    close: () => channel.close(),
  };
}

let origins = 0;

/** How an origin is made. */
export interface OriginOptions {
  /** The way to a server, for the worker of a page. */
  readonly connectorOf?: (address: string, life: Life) => Connector;
  /** Of its database (default: one that no other test has). */
  readonly name?: string;
  /** Where its pages live (default: in this process). */
  readonly platform?: Platform;
  /** What pages have kept beside their files. */
  readonly texts?: Map<string, string>;
}

/** One origin. */
export class Origin {
  /** Of its database; no other test's. */
  readonly name: string;
  /** What its owners have opened so far. */
  term = 0;
  files: Storage;
  /** What pages keep beside them, synchronously: a `localStorage`. */
  readonly texts: Map<string, string>;
  /** Does nothing fit on the medium? */
  isFull = false;
  /** How far this device's clock is ahead, in milliseconds. */
  aheadMs = 0;
  readonly #platform: Platform;
  readonly #options: OriginOptions;
  /** Of each owner's storage: looks whether the files are still its own. */
  readonly #looks = new Set<() => void>();
  readonly #pages: Page[] = [];

  constructor(options: OriginOptions = {}) {
    this.#options = options;
    this.name = options.name ??
      `origin-${Date.now().toString(36)}-${++origins}`;
    this.texts = options.texts ?? new Map();
    this.#platform = options.platform ?? thisPlatform();
    this.files = this.#platform.medium();
  }

  /** Opens a page and starts its worker. */
  page(): Page {
    const page = new Page(this, this.#platform, this.#options);
    this.#pages.push(page);
    return page;
  }

  /** Everything is gone, without a word. */
  [Symbol.dispose](): void {
    for (const page of this.#pages) page.kill();
  }

  /** The browser removes all files; their owner is told. */
  evict(): void {
    this.files = this.#platform.medium();
    for (const look of [...this.#looks]) look();
  }

  /** The files, for one owner: the next one fences it. */
  open(life: Life): OwnedStorage {
    const term = ++this.term;
    const { files } = this;
    let tell: ((incident: StorageIncident) => void) | undefined;
    let failure: DatabaseError | undefined;
    const look = () => {
      if (files !== this.files) failure ??= evicted();
      if (term !== this.term) failure ??= fencedOff();
      if (failure === undefined) return;
      this.#looks.delete(look);
      const { code, message } = failure;
      const hear = tell;
      tell = undefined; // Told once.
      const at = this.#platform.world.now();
      const incident = { code, at, message } as StorageIncident;
      life.run(() => hear?.(incident));
    };
    this.#looks.add(look);
    const check = () => {
      if (life.isDead) throw new Error("a dead process wrote");
      look();
      if (failure !== undefined) throw failure;
      if (this.isFull) {
        throw new DatabaseError("storage-full", "The medium is full");
      }
    };
    return {
      ...fenced(files, check),
      term,
      canBeStolen: true,
      // Who begins to listen hears what happened before as well.
      watch: (onIncident) => {
        tell = onIncident;
        look();
        return () => void (tell = undefined);
      },
      close: () => Promise.resolve(void this.#looks.delete(look)),
    };
  }
}

function fencedOff(): DatabaseError {
  return new DatabaseError("database-locked", "Another tab owns the files");
}

function evicted(): DatabaseError {
  return new DatabaseError("storage-evicted", "The browser removed the files");
}

/** The files of a storage, as long as `check` does not throw. */
function fenced(files: Storage, check: () => void): Storage {
  const fencedFile = (file: StorageFile): StorageFile => ({
    size: () => file.size(),
    readAt: (target, offset) => file.readAt(target, offset),
    writeAt: (bytes, offset) => (check(), file.writeAt(bytes, offset)),
    truncate: (length) => (check(), file.truncate(length)),
    sync: () => (check(), file.sync()),
    close: () => file.close(),
  });
  return {
    open(name, options) {
      if (options?.create) check();
      const file = files.open(name, options);
      return file && fencedFile(file);
    },
    list: (folder) => files.list(folder),
    folders: (folder) => files.folders(folder),
    makeFolder: (folder) => (check(), files.makeFolder(folder)),
    syncFolder: (folder) => (check(), files.syncFolder(folder)),
    rename: (from, to) => (check(), files.rename(from, to)),
    remove: (name) => (check(), files.remove(name)),
    lock: () => () => {},
    identity: () => files.identity(),
    usage: () => files.usage(),
  };
}

/** Is it alive, and does it move? */
export class Life {
  isDead = false;
  /** Messages that it hears before its end. */
  countdown: { left: number; readonly over: () => void } | undefined;
  #frozen: PromiseWithResolvers<void> | undefined;
  #waiting: (() => void)[] = [];
  readonly death = Promise.withResolvers<void>();

  /** Runs something now, after the thaw, or never. */
  run(task: () => void): void {
    if (this.isDead) return;
    if (this.#frozen === undefined) return task();
    this.#waiting.push(task);
  }

  /** Nothing runs until the thaw. */
  freeze(): void {
    this.#frozen ??= Promise.withResolvers<void>();
  }

  /** What waited runs, in order. */
  thaw(): void {
    this.#frozen?.resolve();
    this.#frozen = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const task of waiting) this.run(task);
  }

  /** Nothing runs any more. */
  die(): void {
    this.isDead = true;
    this.#waiting = [];
    this.death.resolve();
  }
}

/** One page, and the worker that it started. */
export class Page {
  readonly life = new Life();
  /** As the page and its worker have them. */
  readonly locks: Locks;
  readonly world: World;
  /** To its own worker. */
  readonly port: Wire;
  readonly worker: OwnerWorker;
  readonly #origin: Origin;
  readonly #platform: Platform;
  readonly #closings: (() => void)[] = [];

  constructor(
    origin: Origin,
    platform: Platform,
    { connectorOf }: OriginOptions,
  ) {
    this.#origin = origin;
    this.#platform = platform;
    const { life } = this;
    this.locks = locksOf(life, platform.locks);
    this.world = worldOf(life, platform.world, () => origin.aheadMs);
    const [near, far] = platform.ports();
    this.#closings.push(() => near.close(), () => far.close());
    this.port = wireOf(near, life);
    this.worker = new OwnerWorker({
      port: wireOf(far, life),
      channelOf: () => this.channel(),
      locks: this.locks,
      world: this.world,
      openStorage: () => Promise.resolve(origin.open(life)),
      ...connectorOf &&
        { connectorOf: (address) => connectorOf(address, life) },
    });
  }

  /** To all pages and workers of the database. */
  channel(): Wire {
    const channel = this.#platform.channel(`sheaf:${this.#origin.name}`);
    this.#closings.push(() => channel.close());
    return wireOf(channel, this.life);
  }

  /** It ends without a word when it has heard so many messages more. */
  killAfter(messages: number): void {
    this.life.countdown = { left: messages, over: () => this.kill() };
  }

  /** It ends without a word. */
  kill(): void {
    if (this.life.isDead) return;
    this.life.die();
    for (const close of this.#closings) close();
  }
}

/** A wire of a page: it hears nothing while it is frozen, and says nothing when it is dead. */
function wireOf(wire: Wire, life: Life): Wire {
  const listeners = new Map<(event: Event) => void, (event: Event) => void>();
  return {
    postMessage(message, transfer) {
      if (!life.isDead) wire.postMessage(message, transfer);
    },
    addEventListener(type, listener) {
      const own = (event: Event) => {
        life.run(() => listener(event));
        if (life.countdown && --life.countdown.left === 0) {
          life.countdown.over();
        }
      };
      listeners.set(listener, own);
      wire.addEventListener(type, own);
    },
    removeEventListener(type, listener) {
      const own = listeners.get(listener);
      if (own !== undefined) wire.removeEventListener(type, own);
    },
    start() {
      wire.start?.();
    },
  };
}

/** The platform's locks, which a dead page gives back. */
function locksOf(life: Life, locks: Locks): Locks {
  return {
    async request(name, options, held) {
      await locks.request(name, options, async () => {
        if (life.isDead) return;
        const run = Promise.withResolvers<void>();
        life.run(() => held().then(run.resolve, run.reject));
        await Promise.race([run.promise, life.death.promise]);
      });
    },
    query: () => locks.query(),
  };
}

function worldOf(life: Life, world: World, aheadMs: () => number): World {
  return {
    now: () => world.now() + aheadMs(),
    monotonic: () => world.monotonic(),
    random: (target) => world.random(target),
    after(delayMs, task) {
      let isCancelled = false;
      // One that is due while it is frozen waits, and may be cancelled still.
      const run = () => isCancelled || task();
      const cancel = world.after(delayMs, () => life.run(run));
      return () => {
        isCancelled = true;
        cancel();
      };
    },
  };
}
