/**
 * What every store of a repository's records must do, as plain cases that any
 * test runner can run.
 *
 * @module
 */

import { RECORD_HEADER_BYTES, recordKind } from "../../repo/log/format.ts";
import type { Store, Stores } from "../../repo/log/store.ts";
import { editsOf } from "../../repo/redaction/rewriting.ts";
import { encodeText, equalBytes } from "../../src/base/bytes.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { FOLDER, seededWorld } from "./log.ts";
import { seededRandom } from "./random.ts";
import {
  type ConformanceCase,
  expect,
  expectCode,
} from "./storage_conformance.ts";

/** A kind of stores, and a fresh, empty storage for one case. */
export interface OpenedStores {
  readonly stores: Stores;
  readonly storage: Storage;
  /** Gives everything back. */
  cleanup(): Promise<void>;
}

type Check = (place: StorePlace) => Promise<void>;

/** The cases for one kind of stores, each on a fresh, empty storage. */
export function storeConformance(
  name: string,
  open: () => OpenedStores,
): ConformanceCase[] {
  return Object.entries(cases).map(([sentence, check]) => ({
    name: `${name}: ${sentence}`,
    async run() {
      const opened = open();
      const unlock = opened.storage.lock();
      try {
        await check(new StorePlace(opened));
      } finally {
        unlock();
        await opened.cleanup();
      }
    },
  }));
}

interface FoundRecord {
  readonly kind: number;
  readonly body: Uint8Array;
  readonly address: number;
}

/** One repository's store, opened again and again. */
class StorePlace {
  readonly #opened: OpenedStores;
  readonly #world = seededWorld(5);
  /** What must be there, in its order. */
  readonly written: FoundRecord[] = [];

  constructor(opened: OpenedStores) {
    this.#opened = opened;
  }

  /** Makes the store; it is durable. */
  async create(): Promise<Store> {
    const { stores, storage } = this.#opened;
    storage.makeFolder(FOLDER);
    storage.syncFolder("");
    const body = encodeText("genesis");
    const kind = recordKind.genesis;
    const store = stores.create(storage, FOLDER, { world: this.#world }, [
      { kind, parts: [body] },
    ]);
    await store.sync();
    const [record] = readAll(store);
    expect(record !== undefined, "its first record is there");
    this.written.push(record);
    return store;
  }

  /** Opens it; says what it called back with. */
  async open(
    from = 0,
  ): Promise<{ store: Store; records: FoundRecord[] } | undefined> {
    const { stores, storage } = this.#opened;
    const records: FoundRecord[] = [];
    const opened = await stores.open(storage, FOLDER, {
      world: this.#world,
      from,
      onRecord: (kind, body, address) =>
        void records.push({ kind, body: body.slice(), address }),
    });
    return opened && { store: opened.log, records };
  }

  /** Opens what must be there, and compares it with what was written. */
  async expectAll(): Promise<Store> {
    const opened = await this.open();
    expect(opened !== undefined, "the store is there");
    expectSame(opened.records, this.written);
    expectSame(readAll(opened.store), this.written);
    return opened.store;
  }

  put(store: Store, body: Uint8Array): number {
    const kind = recordKind.unsignedBatch;
    const address = store.append(kind, [body]);
    this.written.push({ kind, body: body.slice(), address });
    return address;
  }

  get epoch(): ReturnType<Stores["epoch"]> {
    const { stores, storage } = this.#opened;
    return stores.epoch(storage, FOLDER);
  }
}

function readAll(store: Store, from = 0): FoundRecord[] {
  const records: FoundRecord[] = [];
  const end = store.records(from, store.end, (kind, body, address) => {
    records.push({ kind, body: body.slice(), address });
  });
  expect(end === store.end, "it is read to its end");
  return records;
}

function expectSame(
  found: readonly FoundRecord[],
  wanted: readonly FoundRecord[],
): void {
  expect(
    found.length === wanted.length,
    `there are ${wanted.length} records, not ${found.length}`,
  );
  for (const [i, { kind, body, address }] of wanted.entries()) {
    const one = found[i]!;
    expect(one.kind === kind, `record ${i} has its kind`);
    expect(one.address === address, `record ${i} has its position`);
    expect(equalBytes(one.body, body), `record ${i} has its bytes`);
  }
}

const text = encodeText;

const cases: Record<string, Check> = {
  async "open() answers undefined where there is none"(place) {
    expect(await place.open() === undefined, "there was nothing to open");
  },
  async "open() gives what was appended, in its order, also behind a position"(
    place,
  ) {
    const store = await place.create();
    for (let i = 0; i < 5; i++) place.put(store, text(`record ${i}`));
    await store.close();
    await (await place.expectAll()).close();
    const { address, body } = place.written[2]!;
    const opened = await place.open(address + body.length);
    expect(opened !== undefined, "the store is there");
    expectSame(opened.records, place.written.slice(3));
    expectSame(readAll(opened.store), place.written);
    await opened.store.close();
  },
  async "what was synced is there when nobody closed it"(place) {
    const store = await place.create();
    place.put(store, text("a"));
    await store.sync();
    await (await place.expectAll()).close();
  },
  async "a record is read from the moment it was appended"(place) {
    const store = await place.create();
    const before = store.end;
    const body = text("a record");
    const address = place.put(store, body);
    expect(address === before + RECORD_HEADER_BYTES, "behind its header");
    expect(store.end === address + body.length, "the end is behind it");
    body.fill(0); // It keeps bytes of its own.
    expectSame(readAll(store), place.written);
    const target = new Uint8Array(8);
    expect(store.readAt(target, address) === 8, "its bytes are read");
    expect(equalBytes(target, text("a record")), "as they were given");
    await store.close();
  },
  async "records() begins behind any record and stops where it is told"(place) {
    const store = await place.create();
    for (let i = 0; i < 4; i++) place.put(store, text(`record ${i}`));
    for (const [i, { address, body }] of place.written.entries()) {
      const next = address + body.length;
      expectSame(readAll(store, next), place.written.slice(i + 1));
      const stopped = store.records(
        0,
        store.end,
        (_kind, _body, at) => at === address,
      );
      expect(stopped === next, `it stops behind record ${i}`);
    }
    const within = place.written[1]!.address + 1;
    expectCode("log-damaged", () => store.records(within, store.end, () => {}));
    await store.close();
  },
  async "sync() covers what was appended, and what is appended as it begins"(
    place,
  ) {
    const store = await place.create();
    let told = 0;
    store.onSynced = () => told++;
    place.put(store, text("a"));
    expect(store.synced < store.end, "nothing is durable by itself");
    let syncing = 0;
    store.onSyncing = () => {
      if (syncing++ === 0) place.put(store, text("a mark"));
    };
    await store.sync();
    expect(store.synced === store.end, "all of it is durable");
    expect(told === 1 && syncing === 1, "who listens is told once");
    expect(store.sync() === undefined, "there is nothing left to do");
    await (await place.expectAll()).close();
  },
  async "sync() covers what is appended while another one runs"(place) {
    const store = await place.create();
    const seen: number[] = [];
    store.onSynced = () => seen.push(store.synced);
    const waiting: (Promise<void> | undefined)[] = [];
    for (let i = 0; i < 10; i++) {
      place.put(store, text(`record ${i}`));
      waiting.push(store.sync());
    }
    await Promise.all(waiting);
    expect(store.synced === store.end, "all of it is durable");
    expect(seen.every((one, i) => i === 0 || one > seen[i - 1]!), "it grows");
    await (await place.expectAll()).close();
  },
  async "a seal may come later, and nothing behind it is durable before"(
    place,
  ) {
    const store = await place.create();
    let give!: (seal: Uint8Array) => void;
    const seal = new Promise<Uint8Array>((resolve) => give = resolve);
    let sealed = 0;
    store.onSealed = () => sealed++;
    const start = store.end;
    const kind = recordKind.signedBatch;
    const head = text("a batch");
    const address = store.append(kind, [head], seal);
    expect(store.sealed === start && store.end > start, "it has no seal yet");
    const synced = store.sync();
    expect(synced !== undefined, "a sync waits for it");
    const { end } = store;
    let giveNext!: (seal: Uint8Array) => void;
    const nextSeal = new Promise<Uint8Array>((resolve) => giveNext = resolve);
    const next = store.append(kind, [head], nextSeal);
    const bytes = new Uint8Array(64).fill(7);
    give(bytes);
    await synced;
    expect(sealed === 1 && store.sealed === end, "it has its seal");
    expect(store.synced === end, "and is durable, the next one is not");
    giveNext(bytes);
    await store.sync();
    expect(store.synced === store.end, "all of it is durable");
    const body = Uint8Array.from([...head, ...bytes]);
    place.written.push({ kind, body, address }, { kind, body, address: next });
    await (await place.expectAll()).close();
  },
  async "a seal that never comes ends writing"(place) {
    const store = await place.create();
    const no = Promise.reject(new DatabaseError("closed", "No key"));
    store.append(recordKind.signedBatch, [text("a batch")], no);
    let failed = false;
    await Promise.resolve(store.sync()).catch(() => failed = true);
    expect(failed && store.failure !== undefined, "who waits is told");
    await store.close();
    await (await place.expectAll()).close();
  },
  async "fail() ends writing, and not reading"(place) {
    const store = await place.create();
    let heard: unknown;
    store.onFailed((why) => heard = why);
    const ended = store.onFailed(() => heard = "too many");
    ended();
    const why = new DatabaseError("storage-readonly", "A test says so");
    store.fail(why);
    await Promise.resolve();
    expect(heard === why && store.failure === why, "it is told, and kept");
    expectCode("storage-readonly", () => place.put(store, text("a")));
    expectCode("storage-readonly", () => store.sync());
    expectSame(readAll(store), place.written);
    await store.close();
    await (await place.expectAll()).close();
  },
  async "close() makes everything durable, and ends everything else"(place) {
    const store = await place.create();
    place.put(store, text("a"));
    await store.close();
    await store.close();
    expectCode("closed", () => store.append(4, [text("b")]));
    expectCode("closed", () => readAll(store));
    await (await place.expectAll()).close();
  },
  async "a record that is too large is refused, and nothing else"(place) {
    const store = await place.create();
    const large = new Uint8Array(limits.batchBytesMax / 2 + 1);
    expectCode("value-too-large", () => store.append(4, [large, large]));
    place.put(store, text("a"));
    await store.sync();
    await (await place.expectAll()).close();
  },
  async "rewrite() erases in place"(place) {
    const store = await place.create();
    const address = place.put(store, text("a secret of somebody"));
    place.put(store, text("another"));
    const body = text("a ****** of somebody");
    const edits = editsOf(store, address, place.written[1]!.body, body);
    const written = store.rewrite(edits);
    place.written[1] = { ...place.written[1]!, body };
    expectSame(readAll(store), place.written);
    await written;
    await store.sync();
    await (await place.expectAll()).close();
  },
  async "many records of all sizes come back"(place) {
    let store = await place.create();
    const random = seededRandom(3);
    for (let i = 0; i < 300; i++) {
      const size = Math.floor(random() ** 4 * 20_000);
      const body = new Uint8Array(size).map(() => random() * 3);
      place.put(store, body);
      if (random() < 0.2) await store.sync();
      if (random() > 0.03) continue;
      await store.close();
      store = await place.expectAll();
    }
    await store.close();
    await (await place.expectAll()).close();
  },
  async "an epoch goes on until it is ended or another one begins"(place) {
    const store = await place.create();
    expect(place.epoch.read() === undefined, "there is none at first");
    place.epoch.end();
    for (const byte of [1, 2]) {
      const epoch = new Uint8Array(16).fill(byte);
      await place.epoch.begin(epoch);
      const read = place.epoch.read();
      expect(read !== undefined && equalBytes(read, epoch), "it goes on");
    }
    place.epoch.end();
    expect(place.epoch.read() === undefined, "it was ended");
    await store.close();
  },
};
