/**
 * Convergence: the same commits, in any order of arrival and batching, with
 * repetitions, restarts and checkpoints, give the same state, byte for byte
 * (law 4); and what the door refuses is refused everywhere.
 */

import { servingDoor } from "../repo/admission/serving_door.ts";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { createSigner, generateKeyPair } from "../crypto/mod.ts";
import type { Arrival } from "../repo/admission/arrival.ts";
import {
  decodeBatch,
  type PreparedCommit,
  writeBatch,
} from "../repo/commit/batch.ts";
import { issueCertificate } from "../repo/commit/certificate.ts";
import { type Mode, parseRepositoryName } from "../repo/commit/genesis.ts";
import { recordKind } from "../repo/log/format.ts";
import { Replica } from "../repo/replica.ts";
import { ByteWriter, toHex } from "../src/base/bytes.ts";
import { wallMax } from "../src/base/hlc.ts";
import type { World } from "../src/base/world.ts";
import { Editor } from "../src/db/editor.ts";
import { field } from "../src/schema/field.ts";
import { IdSource } from "../src/schema/names.ts";
import { defineSchema } from "../src/schema/schema.ts";
import { createView } from "../src/schema/view.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import { seededRandom, shuffle } from "./kit/mod.ts";
import { signsLater } from "./kit/replica_place.ts";
import { sized } from "./kit/tier.ts";
import { digestOf } from "./kit/digest.ts";

const Card = defineSchema("card", {
  title: field.string(),
  rank: field.number().default(0),
  tags: field.set(field.string()),
  votes: field.counter(),
  steps: field.list(field.string()),
  notes: field.map(field.string()),
});

/** The same collection as a later version of the app declares it. */
const NextCard = defineSchema("card", {
  ...Card.fields,
  rank: field.number().default(7),
  color: field.string().default("white"),
}, { version: 2, indexes: [["color"]] });

const root = generateKeyPair(seeded(1));
const name = parseRepositoryName("converge");

/** How a device reads the collection: as one of the versions, or without any. */
type Reading = typeof Card | typeof NextCard | undefined;

function seeded(seed: number): (target: Uint8Array) => void {
  const next = seededRandom(seed);
  return (target) => {
    for (let i = 0; i < target.length; i++) {
      target[i] = Math.floor(next() * 256);
    }
  };
}

/** One device: a replica, its clock (which may be wrong) and its editor. */
class Device {
  readonly storage = memoryStorage();
  readonly world: World;
  readonly #mode: Mode;
  readonly #session;
  readonly #reading: Reading;
  #time: number;
  replica!: Replica;
  editor!: Editor<typeof Card>;

  constructor(
    seed: number,
    mode: Mode,
    skewMs: number,
    reading: Reading = Card,
  ) {
    this.#reading = reading;
    this.#time = 1_800_000_000_000 + skewMs;
    this.#mode = mode;
    this.world = {
      now: () => this.#time += 1,
      monotonic: () => this.#time,
      random: seeded(seed + 100),
      after: (_delay, task) => {
        const timer = setTimeout(task, 0);
        return () => clearTimeout(timer);
      },
    };
    const pair = generateKeyPair(this.world.random);
    const signer = createSigner(pair.secretKey);
    const { bytes } = issueCertificate({
      sessionKey: pair.publicKey,
      user: `user-${seed}`,
      claims: "{}",
      mayIssue: false,
      notBefore: 0,
      notAfter: wallMax,
    }, createSigner(root.secretKey));
    this.#session = {
      user: `user-${seed}`,
      signer: seed % 2 === 0 ? signer : signsLater(signer),
      certificate: bytes,
    };
  }

  async open(): Promise<this> {
    this.replica = await Replica.open({
      door: servingDoor,
      storage: this.storage,
      world: this.world,
      name,
      mode: this.#mode,
      isModeRequired: true,
      rootKey: root.publicKey,
      session: this.#session,
      isOriginal: true,
      viewOf: () => createView(this.#reading),
      repair: false,
      settle: () => Promise.resolve(),
    });
    const table = this.replica.state.table(Card.name);
    // A later version has all the fields of the earlier one, and more.
    const schema = this.#reading === undefined ? Card : this.#reading;
    this.editor = new Editor(
      schema as typeof Card,
      table,
      new IdSource(this.world),
    );
    return this;
  }

  async reopen(): Promise<void> {
    await this.replica.close();
    await this.open();
  }

  /** Everything in its log, as it would travel. */
  async records(): Promise<Arrival[]> {
    await this.replica.durable();
    const arrivals: Arrival[] = [];
    const { log } = this.replica.loaded;
    log.records(0, log.end, (kind, body) => {
      if (kind === recordKind.certificate && this.#mode === "default") {
        arrivals.push({ kind: recordKind.certificate, bytes: body.slice() });
      } else if (kind === recordKind.signedBatch) {
        arrivals.push({ kind: recordKind.signedBatch, bytes: body.slice() });
      } else if (kind === recordKind.unsignedBatch) {
        arrivals.push({ kind: recordKind.unsignedBatch, bytes: body.slice() });
      }
    });
    return arrivals;
  }

  digests(): [string, string] {
    this.replica.commits.hashFrom(0);
    return [
      toHex(digestOf(this.replica.state)),
      toHex(this.replica.graph.summary()!),
    ];
  }
}

/** Certificates first, everything else in any order, some of it twice. */
function scramble(arrivals: Arrival[], random: () => number): Arrival[] {
  const certificates = arrivals.filter(({ kind }) =>
    kind === recordKind.certificate
  );
  const batches = arrivals.filter(({ kind }) =>
    kind !== recordKind.certificate
  );
  const repeated = batches.filter(() => random() < 0.3);
  return [...certificates, ...shuffle([...batches, ...repeated], random)];
}

/**
 * The same unsigned commits in other batches: those of their author cut
 * anywhere, and some that also hold commits of the one before. Seals hold
 * signed ones together. Only joining them without sending the parts could make
 * two batches wait for each other.
 */
function rebatch(arrivals: Arrival[], random: () => number): Arrival[] {
  const result = arrivals.filter(({ kind }) =>
    kind !== recordKind.unsignedBatch
  );
  const chains = new Map<string, PreparedCommit[]>();
  for (const { kind, bytes } of arrivals) {
    if (kind !== recordKind.unsignedBatch) continue;
    const { chain, first, commits } = decodeBatch(bytes, false);
    const known = chains.get(chain) ?? [];
    chains.set(chain, known);
    for (const [i, { at, headerEnd, payloadAt, end }] of commits.entries()) {
      const header = bytes.slice(at, headerEnd);
      const payload = bytes.slice(payloadAt, end);
      known[first + i] = { header, payload, payloadAt: -1 };
    }
    for (let from = first; from < first + commits.length;) {
      const count = 1 + Math.floor(random() * 4);
      const to = Math.min(from + count, first + commits.length);
      result.push(packed(chain, known, from, to));
      const before = Math.max(0, from - Math.floor(random() * 3));
      if (random() < 0.3) result.push(packed(chain, known, before, to));
      from = to;
    }
  }
  return result;
}

function packed(
  chain: string,
  commits: PreparedCommit[],
  first: number,
  end: number,
): Arrival {
  const writer = new ByteWriter();
  writeBatch(writer, { chain, first, commits: commits.slice(first, end) });
  return { kind: recordKind.unsignedBatch, bytes: writer.copy() };
}

const words = ["ash", "birch", "cedar"];

/** One random change; ids are few, so that devices meet on them. */
function act(device: Device, random: () => number): void {
  const { editor, replica } = device;
  const id = `card-${Math.floor(random() * 4)}`;
  const word = words[Math.floor(random() * words.length)]!;
  const n = Math.floor(random() * 5);
  replica.transact((tx) => {
    const item = editor.get(tx, id);
    if (item === undefined) {
      editor.create(tx, {
        id,
        title: word,
        rank: n,
        tags: [word],
        votes: n,
        steps: [word],
      });
    } else if (random() < 0.15) editor.delete(tx, id);
    else if (random() < 0.3) editor.update(tx, id, { title: word, rank: n });
    else if (random() < 0.5) {
      editor.update(tx, id, {
        tags: random() < 0.5 ? { add: [word] } : { remove: [word] },
        votes: { increment: n },
      });
    } else {
      const length = (item.steps as string[]).length;
      const at = Math.floor(random() * (length + 1));
      editor.update(tx, id, {
        steps: length > 1 && random() < 0.5
          ? { move: [{ from: 0, to: length - 1 }] }
          : { insert: [{ at, value: word }] },
        notes: random() < 0.7 ? { put: { [word]: `${n}` } } : { drop: [word] },
      });
    }
  });
}

async function converge(seed: number, mode: Mode): Promise<void> {
  const random = seededRandom(seed);
  const skews = [0, -5_000, 5_000];
  const readings = [Card, NextCard, Card];
  const devices = await Promise.all(
    skews.map((skew, i) =>
      new Device(seed * 10 + i, mode, skew, readings[i]).open()
    ),
  );
  for (let round = 0; round < 4; round++) {
    for (const device of devices) {
      const count = Math.floor(random() * 6);
      for (let i = 0; i < count; i++) {
        act(device, random);
        if (random() < 0.3) await device.replica.durable();
      }
      if (random() < 0.2) await device.replica.checkpoint();
      if (random() < 0.2) await device.reopen();
    }
    const [from, to] = shuffle(devices, random);
    take(to!, scramble(await from!.records(), random));
  }
  for (let pass = 0; pass < 2; pass++) {
    for (const from of devices) {
      for (const to of devices) {
        if (from !== to) take(to, scramble(await from.records(), random));
      }
    }
  }
  const expected = devices[0]!.digests();
  for (const device of devices) {
    deepEqual(device.digests(), expected, `seed ${seed}`);
  }
  await devices[1]!.reopen();
  deepEqual(devices[1]!.digests(), expected, `seed ${seed}, reopened`);
  for (const reading of [undefined, Card, NextCard]) {
    const late = await new Device(seed * 10 + 5, mode, 0, reading).open();
    await takeSlowly(late, await devices[0]!.records(), random);
    const what = `seed ${seed}, late, read as version ${reading?.version}`;
    deepEqual(late.digests(), expected, what);
    await late.reopen();
    deepEqual(late.digests(), expected, `${what}, reopened`);
    await late.replica.close();
  }
  for (const device of devices) await device.replica.close();
}

/** Everything in other batches and another order, with checkpoints and restarts between. */
async function takeSlowly(
  device: Device,
  arrivals: Arrival[],
  random: () => number,
): Promise<void> {
  const rest = scramble(rebatch(arrivals, random), random);
  while (rest.length > 0) {
    take(device, rest.splice(0, 1 + Math.floor(random() * 6)));
    if (random() < 0.1) await device.replica.checkpoint();
    // What is parked waits in memory only: a restart asks for it again.
    if (random() < 0.1 && device.replica.status().parked === 0) {
      await device.reopen();
    }
  }
}

function take(device: Device, arrivals: Arrival[]): void {
  for (const { verdict } of device.replica.receive(arrivals)) {
    ok(verdict.verdict !== "refuse", JSON.stringify(verdict));
  }
}

for (const mode of ["default", "trusted", "fast"] as const) {
  Deno.test(`replicas with the same commits have the same state: ${mode} mode`, async () => {
    const run = fc.asyncProperty(
      fc.integer({ min: 1, max: 1_000_000 }),
      (seed) => converge(seed, mode),
    );
    await fc.assert(run, { seed: 7, numRuns: sized(4, 200) });
  });
}

Deno.test("receive() shows foreign commits at once and keeps them over a restart", async () => {
  const [ada, bob] = [
    await new Device(1, "default", 0).open(),
    await new Device(2, "default", 0).open(),
  ];
  ada.replica.transact((tx) =>
    ada.editor.create(tx, { id: "a", title: "hello" })
  );
  const heard: number[] = [];
  bob.replica.state.table(Card.name).subscribe((changes) =>
    heard.push(changes.length)
  );
  take(bob, await ada.records());
  deepEqual(heard, [1]);
  equal(bob.replica.state.find(Card.name)?.cellOf("a")?.item?.title, "hello");
  await bob.reopen();
  equal(bob.replica.state.find(Card.name)?.cellOf("a")?.item?.title, "hello");
  for (const device of [ada, bob]) await device.replica.close();
});

Deno.test("a device without the author's certificate refuses its batches", async () => {
  const ada = await new Device(1, "default", 0).open();
  const bob = await new Device(2, "default", 0).open();
  ada.replica.transact((tx) =>
    ada.editor.create(tx, { id: "a", title: "hello" })
  );
  const batches = (await ada.records()).filter(({ kind }) =>
    kind === recordKind.signedBatch
  );
  const [judged] = bob.replica.receive(batches);
  equal(judged?.verdict.verdict, "refuse");
  equal(bob.replica.graph.commits, 0);
  for (const device of [ada, bob]) await device.replica.close();
});
