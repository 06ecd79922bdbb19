import { deepEqual, equal, notDeepEqual, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { lateEd25519 } from "../crypto/late_ed25519.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import { countReads } from "../tests/kit/counted_reads.ts";
import { faultyStorage } from "../tests/kit/faulty_storage.ts";
import { finished } from "../tests/kit/sliced.ts";
import { ChainIds } from "./graph/chain_ids.ts";
import { filesOf } from "../tests/kit/images.ts";
import { seededRandom } from "../tests/kit/random.ts";
import {
  type ManualWorld,
  Place,
  SlowStorage,
  turns,
} from "../tests/kit/replica_place.ts";
import { refuse } from "../src/base/errors.ts";
import { commitId } from "../tests/kit/chain.ts";
import { payloadOf } from "./commit/batch.ts";
import { chainStart } from "./commit/commit.ts";
import type { FeedRecord, RepositoryPort } from "./port.ts";
import { Parking } from "./admission/parking.ts";
import { sessionName } from "./commit/session.ts";

function all(port: RepositoryPort): FeedRecord[] {
  return [
    ...port.credentials(),
    ...port.read(0, Number.MAX_SAFE_INTEGER).records,
  ];
}

/** Counts how often a port tells that more may be shared. */
function listen(port: RepositoryPort): { told: number; end: () => void } {
  const heard = { told: 0, end: () => {} };
  heard.end = port.onShareable(() => heard.told++);
  return heard;
}

async function slowPlace(mode?: "default" | "trusted" | "fast") {
  const storage = new SlowStorage();
  const place = await Place.open({ mode, storage });
  await place.write("a", "one");
  await place.replica.durable();
  storage.isSlow = true;
  return { storage, place, port: place.replica.port() };
}

Deno.test("a write is shareable after the sync of its group, and not before", async () => {
  for (const mode of ["default", "trusted"] as const) {
    const { storage, place, port } = await slowPlace(mode);
    const heard = listen(port);
    const before = port.shareable;
    const [chain] = port.vector().keys();
    deepEqual([port.commits, port.lengthOf(chain!)], [1, 1]);
    void place.write("b", "two");
    equal(place.replica.graph.commits, 2, "visible at once");
    const isHidden = () => {
      deepEqual([port.shareable, port.commits], [before, 1]);
      deepEqual([port.lengthOf(chain!), port.vector().get(chain!)], [1, 1]);
      equal(port.summary(), undefined);
      deepEqual(port.read(before, 1000).records, []);
    };
    isHidden();
    await turns();
    equal(storage.waiting, 1, "in the log, and its sync is under way");
    isHidden();
    storage.finish();
    await turns();
    equal(heard.told, 1);
    ok(port.shareable > before);
    deepEqual([port.commits, port.lengthOf(chain!)], [2, 2]);
    const { records } = port.read(before, 1000);
    deepEqual(records.map(({ first, count }) => [first, count]), [[1, 1]]);
    ok(port.summary());
    heard.end();
  }
});

Deno.test("what is received is shareable after one sync for all who settle in a turn", async () => {
  const bob = await Place.open({ seed: 2 });
  for (const text of ["one", "two", "three"]) await bob.write("b", text);
  const { storage, place, port } = await slowPlace();
  const records = await bob.arrivals();
  const heard = listen(port);
  const syncs = storage.syncs;
  for (const record of records) {
    port.receive([record]);
    port.settle();
  }
  deepEqual([port.commits, place.replica.graph.commits], [1, 4]);
  equal(port.summary(), undefined);
  await turns();
  deepEqual([storage.syncs - syncs, storage.waiting], [1, 1]);
  equal(port.commits, 1);
  storage.finish();
  await turns();
  deepEqual([port.commits, heard.told], [4, 1]);
});

Deno.test("a sync that was begun before a batch came does not make it shareable", async () => {
  const bob = await Place.open({ seed: 2 });
  await bob.write("b", "one");
  const { storage, place, port } = await slowPlace();
  void place.write("c", "own");
  await turns();
  port.receive(await bob.arrivals());
  port.settle();
  await turns();
  storage.finish();
  await turns();
  equal(port.commits, 2, "the own write");
  equal(storage.waiting, 1, "one more for what came");
  storage.finish();
  await turns();
  equal(port.commits, 3);
});

Deno.test("of a chain that comes in pieces, what a sync covered is shareable", async () => {
  const bob = await Place.open({ seed: 2 });
  for (const text of ["one", "two", "three"]) await bob.write("b", text);
  const { storage, port } = await slowPlace();
  const [certificate, first, ...others] = await bob.arrivals();
  port.receive([certificate!, first!]);
  port.settle();
  await turns();
  port.receive(others);
  port.settle();
  const [chain] = bob.replica.graph.vector().keys();
  deepEqual([port.lengthOf(chain!), port.vector().get(chain!)], [0, undefined]);
  storage.finish();
  await turns();
  deepEqual([port.lengthOf(chain!), port.vector().get(chain!)], [1, 1]);
  deepEqual([port.commits, port.summary()], [2, undefined]);
  storage.finish();
  await turns();
  deepEqual([port.lengthOf(chain!), port.commits], [3, 4]);
});

Deno.test("however often it grows in a turn, it is told once, until nobody listens", async () => {
  const bob = await Place.open({ seed: 2 });
  for (const text of ["one", "two"]) await bob.write("b", text);
  const { replica } = await Place.open();
  const port = replica.port();
  const heard = listen(port);
  for (const arrival of await bob.arrivals()) {
    port.receive([arrival]);
    replica.loaded.log.sync();
  }
  equal(heard.told, 0, "in a turn of its own");
  await turns();
  deepEqual([heard.told, port.commits], [1, 2]);
  heard.end();
  await bob.write("b", "three");
  port.receive(await bob.arrivals());
  await replica.durable();
  deepEqual([heard.told, port.commits], [1, 3]);
});

Deno.test("a failed sync is final: nothing more is shareable, and receive() says why", async () => {
  for (const mode of ["default", "fast"] as const) {
    const bob = await Place.open({ seed: 2, mode });
    await bob.write("b", "one");
    const { storage, place, port } = await slowPlace(mode);
    await turns();
    storage.finish();
    await turns();
    const heard = listen(port);
    const { shareable, commits } = port;
    const records = await bob.arrivals();
    if (mode === "default") port.receive(records);
    else void place.replica.durable().catch(() => {});
    if (mode === "fast") {
      storage.failure = new Error("the medium is gone");
      throws(() => port.receive(records));
    }
    port.settle();
    await turns();
    storage.finish(new Error("the medium is gone"));
    await turns();
    throws(() => port.receive(records), { code: "storage-readonly" });
    deepEqual([port.shareable, heard.told], [shareable, 0], mode);
    ok(port.commits <= commits, mode);
    port.settle();
    await turns();
    equal(port.shareable, shareable);
  }
});

Deno.test("Fast mode shares what is in the log once it is durable that the log is in use", async () => {
  const { storage, place, port } = await slowPlace("fast");
  const world = place.world as ManualWorld;
  // A clean close and an opening: the file looks as if nobody used it.
  storage.isSlow = false;
  await place.replica.close();
  const again = await place.reopen();
  storage.isSlow = true;
  const shared = again.replica.port();
  equal(port.name, shared.name);
  deepEqual(
    [shared.shareable, shared.commits],
    [0, 0],
    "the mark is under way",
  );
  equal(shared.vector().size, 0);
  void again.write("b", "two");
  world.advance(5);
  await turns();
  equal(shared.commits, 0);
  storage.finish();
  await turns();
  deepEqual([shared.commits, shared.shareable], [
    2,
    again.replica.loaded.log.end,
  ]);
  const heard = listen(shared);
  const { syncs } = storage;
  void again.write("c", "three");
  equal(shared.commits, 2, "it is not in the log yet");
  equal(shared.summary(), undefined);
  world.advance(5);
  await turns();
  deepEqual([shared.commits, heard.told, storage.syncs], [3, 1, syncs]);
  ok(shared.summary());
});

Deno.test("no power cut makes Fast mode go on with a chain that it shared more of", async () => {
  const storage = faultyStorage();
  const first = await Place.open({ mode: "fast", storage });
  await first.write("a", "one");
  await first.replica.close();
  const second = await first.reopen();
  const port = second.replica.port();
  await turns();
  await second.write("a", "two");
  (second.world as ManualWorld).advance(5);
  await turns();
  equal(port.commits, 2, "a peer may have both");
  const third = await second.reopen({ storage: storage.powerCut("synced") });
  await third.write("a", "another two");
  const chains = [...third.replica.graph.chains()];
  equal(chains.length, 2, "the old chain ends where the medium lost it");
});

Deno.test("a batch that begins with what is known counts the rest of it once, also where the log is read again", async () => {
  for (const mode of ["default", "trusted"] as const) {
    const author = await Place.open({ mode });
    const reader = await Place.open({ mode, seed: 2 });
    const port = reader.replica.port();
    const deliver = async () => {
      await author.replica.durable();
      const [last, ...others] = all(author.replica.port()).reverse();
      deepEqual([last!.first, others.every(({ count }) => count === 0)], [
        0,
        true,
      ]);
      port.receive([...others, last!]);
    };
    await author.write("a", "one");
    await author.vote("a");
    await deliver();
    equal(reader.votes("a"), 1);
    await author.vote("a");
    await deliver(); // Neighbours of one chain travel as one batch.
    await deliver();
    equal(reader.votes("a"), 2);
    await reader.replica.durable();
    const images = filesOf(reader.storage)
      .filter(([name]) => !name.includes("checkpoint-"));
    const storage = memoryStorage(images);
    const again = await Place.open({ mode, seed: 2, storage });
    equal(again.replica.loaded.checkpoint, undefined);
    equal(again.votes("a"), 2);
  }
});

Deno.test("a restarted port shares everything that was found in the log", async () => {
  const first = await Place.open();
  await first.write("a", "one");
  await first.replica.close();
  const port = (await first.reopen()).replica.port();
  deepEqual([port.commits, port.shareable > 0], [1, true]);
});

Deno.test("summaries and digests are equal exactly where the same commits are shareable, in every mode", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    const [ada, bob] = [
      await Place.open({ mode, seed: 1 }),
      await Place.open({ mode, seed: 2 }),
    ];
    await ada.write("a", "one");
    await bob.write("b", "two");
    const ports = [ada.replica.port(), bob.replica.port()];
    for (const { replica } of [ada, bob]) await replica.durable();
    await turns();
    const digests = () => ports.map((port) => port.digestOf(port.summary()!));
    notDeepEqual(digests()[0], digests()[1]);
    ports[0]!.receive(all(ports[1]!));
    ports[1]!.receive(all(ports[0]!));
    for (const { replica } of [ada, bob]) await replica.durable();
    await turns();
    deepEqual(digests()[0], digests()[1]);
    deepEqual(ports[0]!.summary(), ports[1]!.summary());
    const { genesisId, graph } = { ...ada.replica.loaded };
    ok(genesisId.length === 32);
    deepEqual(ports[0]!.digestOf(graph.summary()!), digests()[0]);
  }
});

Deno.test("idsAt() gives the ids along a chain, near ones and far ones, and none that are unknown", async () => {
  const ada = await Place.open();
  for (let i = 0; i < 2500; i++) void ada.write("a", `${i}`);
  await ada.replica.durable();
  for (let i = 0; i < 3; i++) await ada.write("a", `late ${i}`);
  const port = ada.replica.port();
  const [chain] = port.vector().keys();
  const expected: Uint8Array[] = [];
  let last = chainStart(port.genesisId, chain!);
  ada.replica.commits.each(({ batch }) => {
    for (const one of batch.commits) {
      const header = batch.bytes.subarray(one.at, one.headerEnd);
      last = commitId(last, header, payloadOf(batch, one));
      expected.push(last);
    }
  });
  equal(expected.length, 2503);
  for (const numbers of [[2502, 0, 2047, 0], [1024, 1023, 1025], [7], [2500]]) {
    const ids = finished(port.idsAt(chain!, numbers));
    deepEqual(ids, numbers.map((number) => expected[number]));
  }
  for (const none of [2503, -1, 0.5]) {
    equal(finished(port.idsAt(chain!, [0, none])), undefined);
  }
  equal(finished(port.idsAt("z".repeat(40), [0])), undefined);
  deepEqual(finished(port.idsAt(chain!, [])), []);
  const fresh = new ChainIds(ada.replica.commits, port.genesisId);
  const slices = [...fresh.at(chain!, [2502])].length;
  ok(slices >= 2502 / 128 - 1, `${slices} slices`);
});

Deno.test("receive() asks the gate once of new commits, and parks where the peer has its place", async () => {
  const bob = await Place.open({ seed: 2 });
  await bob.write("b", "one");
  await bob.write("b", "two");
  const [certificate, first, second] = await bob.arrivals();
  const port = (await Place.open()).replica.port();
  const asked: number[] = [];
  const parking = new Parking();
  const verdicts = (arrival: typeof first, isOpen: boolean) =>
    port.receive([arrival!], {
      parking,
      gate: (batch) => {
        asked.push(batch.first);
        return isOpen ? undefined : refuse("bad-clock", "closed");
      },
    }).map(({ verdict }) => verdict.verdict);
  deepEqual(verdicts(certificate, false), ["admit-credential"]);
  deepEqual(verdicts(second, true), ["park"]);
  equal(parking.size, 1);
  deepEqual(verdicts(first, false), ["refuse"]);
  deepEqual(verdicts(first, true), ["admit", "admit"]);
  equal(parking.size, 0);
  deepEqual(verdicts(second, false), ["known"]);
  deepEqual(asked, [0, 0, 1]);
});

Deno.test("one push of a fresh commit to many followers reads it once, and nothing else of the log", async () => {
  const storage = memoryStorage();
  const reads = countReads(storage);
  const ada = await Place.open({ storage });
  for (let i = 0; i < 200; i++) await ada.write(`n${i}`, "text");
  const port = ada.replica.port();
  const from = port.shareable;
  await ada.write("a", "fresh");
  const before = reads.bytes;
  const [record] = port.read(from, 64 * 1024).records;
  const once = reads.calls;
  for (let follower = 0; follower < 1_000; follower++) {
    equal(port.read(from, 64 * 1024).records[0], record);
  }
  equal(reads.calls, once);
  const bytes = reads.bytes - before;
  ok(bytes <= 2 * (port.shareable - from), `${bytes} bytes were read`);
});

/** What stands in the log as far as it may be shared. */
function shareableIn({ replica }: Place): Map<string, number> {
  const counts = new Map<string, number>();
  const { shareable } = replica.port();
  replica.commits.each(
    ({ batch: { chain, first, commits } }) => {
      counts.set(
        chain,
        Math.max(counts.get(chain) ?? 0, first + commits.length),
      );
    },
    0,
    shareable,
  );
  return counts;
}

/** The server refuses one of the own commits, or all of their chain is written again. */
function voidSome(
  { replica }: Place,
  pick: (count: number) => number,
): void {
  replica.flush();
  const chains = [...replica.graph.chains()].filter(({ name }) =>
    name.startsWith(sessionName(replica.session))
  );
  const last = chains.at(-1);
  if (last === undefined) return;
  const number = pick(last.length);
  const refused = {
    number,
    reason: "denied",
    rule: "",
    detail: "",
    kept: false,
  };
  if (pick(2) === 0) replica.port().refuse(last.name, [refused]);
  else replica.port().cut([{ chain: last.name, from: 0 }]);
}

Deno.test("vector, counts and log say the same of what may be shared, at every step", async () => {
  const others = await Promise.all([2, 3].map((seed) => Place.open({ seed })));
  let cuts = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const next = seededRandom(seed);
      const pick = (count: number) => Math.floor(next() * count);
      const { storage, place, port } = await slowPlace();
      const { replica } = place;
      const cursors = others.map(() => 0);
      for (let step = 0; step < 40; step++) {
        const what = pick(8);
        if (what === 0) void place.write(`n${pick(3)}`, `${step}`);
        if (what === 1) replica.flush();
        if (what === 2) storage.releaseAt(0);
        if (what === 3) port.settle();
        if (what === 4) await turns(pick(4));
        if (what === 7) voidSome(place, pick);
        if (what === 5 || what === 6) {
          const source = others[what - 5]!;
          await source.write("x", `${step}`);
          const from = cursors[what - 5]!;
          const { records, next } = source.replica.port().read(
            from,
            1 + pick(900),
          );
          cursors[what - 5] = next;
          port.receive([...source.replica.port().credentials(), ...records]);
        }
        const expected = shareableIn(place);
        deepEqual(port.vector(), expected, `step ${step}`);
        let commits = 0;
        for (const [chain, count] of expected) {
          commits += count;
          equal(port.lengthOf(chain), count);
        }
        equal(port.commits, commits);
        // Not yet either while something waits for a sync that was cut meanwhile.
        const isAll = commits === replica.graph.commits;
        if (!isAll) equal(port.summary(), undefined);
      }
      cuts += replica.loaded.voided.cuts.length;
      storage.isSlow = false;
      storage.finish();
      await replica.durable();
      ok(port.summary(), "all of it is durable");
    }),
    { numRuns: 40, seed: 5 },
  );
  ok(cuts > 40);
});

Deno.test("a port does not vouch for a seal that nobody has looked at, and tells when that is done", async () => {
  const place = await Place.open({ lent: "new" });
  await place.write("a", "1");
  const port = place.replica.port();
  const record = port.read(0, 1 << 20).records.find(({ count }) => count > 0)!;
  const { code } = lateEd25519;
  lateEd25519.by(() => Promise.resolve(code));
  const heard = listen(port);
  try {
    lateEd25519.provide(undefined);
    equal(port.vouches!(record, 0), undefined);
    await turns();
    equal(heard.told, 1);
  } finally {
    lateEd25519.provide(code);
  }
  equal(port.vouches!(record, 0), true);
  record.bytes[record.bytes.length - 1]! ^= 1;
  equal(port.vouches!(record, 0), false);
  heard.end();
});
