/**
 * One origin of a browser, in one thread: files that outlive pages, locks, and
 * pages with their workers, which can be closed, killed, frozen and thawed.
 *
 * Messages, locks and workers' code are the real ones; only death is played: a
 * killed page neither hears nor says anything more, its locks are free, and its
 * worker cannot touch the files.
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
import type { StorageIncident } from "../../src/db/storage_status.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import type { Connector } from "../../sync/transport/transport.ts";

const platform = webLocks()!;
let origins = 0;

// Deno lets go of its subscription some time after the last channel was closed: a channel made in between can then
// neither speak nor hear (`expected i32`). So there is never a last one.
new BroadcastChannel("always open");

/** How an origin is made. */
export interface OriginOptions {
  readonly connectorOf?: (address: string) => Connector;
}

/** One origin. */
export class Origin {
  /** Of its database; no other test's. */
  readonly name: string = `origin-${Date.now().toString(36)}-${++origins}`;
  /** What its owners have opened so far. */
  term = 0;
  files: Storage = memoryStorage();
  /** What pages keep beside them, synchronously: a `localStorage`. */
  readonly texts = new Map<string, string>();
  /** Does nothing fit on the medium? */
  isFull = false;
  readonly #options: OriginOptions;
  /** Of each owner's storage: looks whether the files are still its own. */
  readonly #looks = new Set<() => void>();
  readonly #pages: Page[] = [];

  constructor(options: OriginOptions = {}) {
    this.#options = options;
  }

  /** Opens a page and starts its worker. */
  page(): Page {
    const page = new Page(this, this.#options);
    this.#pages.push(page);
    return page;
  }

  /** Everything is gone, without a word. */
  [Symbol.dispose](): void {
    for (const page of this.#pages) page.kill();
  }

  /** The browser removes all files; their owner is told. */
  evict(): void {
    this.files = memoryStorage();
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
      const incident = { code, at: Date.now(), message } as StorageIncident;
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
  readonly #closings: (() => void)[] = [];

  constructor(origin: Origin, { connectorOf }: OriginOptions) {
    this.#origin = origin;
    const { life } = this;
    this.locks = locksOf(life);
    this.world = worldOf(life);
    const { port1, port2 } = new MessageChannel();
    this.#closings.push(() => port1.close(), () => port2.close());
    this.port = wireOf(port1, life);
    this.worker = new OwnerWorker({
      port: wireOf(port2, life),
      channelOf: () => this.channel(),
      locks: this.locks,
      world: this.world,
      openStorage: () => Promise.resolve(origin.open(life)),
      ...connectorOf && { connectorOf },
    });
  }

  /** To all pages and workers of the database. */
  channel(): Wire {
    const channel = new BroadcastChannel(`sheaf:${this.#origin.name}`);
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
function wireOf(
  wire: MessagePort | BroadcastChannel,
  life: Life,
): Wire {
  const listeners = new Map<(event: Event) => void, (event: Event) => void>();
  return {
    postMessage(message, transfer) {
      if (life.isDead) return;
      if (wire instanceof MessagePort) wire.postMessage(message, transfer);
      else wire.postMessage(message);
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
      if (wire instanceof MessagePort) wire.start();
    },
  };
}

/** The platform's locks, which a dead page gives back. */
function locksOf(life: Life): Locks {
  return {
    async request(name, options, held) {
      await platform.request(name, options, async () => {
        if (life.isDead) return;
        const run = Promise.withResolvers<void>();
        life.run(() => held().then(run.resolve, run.reject));
        await Promise.race([run.promise, life.death.promise]);
      });
    },
    query: () => platform.query(),
  };
}

function worldOf(life: Life): World {
  return {
    ...system,
    after: (delayMs, task) => system.after(delayMs, () => life.run(task)),
  };
}
