import { deepEqual, equal, throws } from "node:assert/strict";
import { equalBytes } from "../../src/base/bytes.ts";
import { Place } from "../../tests/kit/replica_place.ts";
import { decodeBatch } from "../commit/batch.ts";
import { bytesOf } from "../commit/batch_parts.ts";
import { CommitReader } from "./commit_reader.ts";
import { countEqual } from "./known_commits.ts";
import { recordKind } from "../log/format.ts";

function chainOf(place: Place): string {
  return [...place.replica.graph.chains()][0]!.name;
}

/** A place with commits in several batches, one of them of three. */
async function filled(mode: "default" | "trusted"): Promise<Place> {
  const place = await Place.open({ mode });
  await place.write("a", "zero");
  void place.write("a", "one");
  void place.write("b", "two");
  await place.write("c", "three");
  await place.vote("a");
  return place;
}

Deno.test("each() visits every commit once, in order, with its batch's address", async () => {
  const place = await filled("default");
  const { commits, loaded } = place.replica;
  const numbers: number[] = [];
  commits.each(({ batch, address, from }) => {
    const start = new Uint8Array(4);
    loaded.log.readAt(start, address);
    equal(equalBytes(start, batch.bytes.subarray(0, 4)), true);
    for (let i = from; i < batch.commits.length; i++) {
      numbers.push(batch.first + i);
    }
  });
  deepEqual(numbers, [0, 1, 2, 3, 4]);
  await place.replica.close();
});

Deno.test("each() says from where on a batch that overlaps another is new", async () => {
  // Two processes of one seed: the same commits, batched in two ways.
  const one = await Place.open({ mode: "trusted" });
  await one.write("a", "zero");
  const other = await Place.open({ mode: "trusted" });
  void other.write("a", "zero");
  void other.write("a", "one");
  const place = await Place.open({ mode: "trusted", seed: 2 });
  place.replica.receive(await one.arrivals());
  place.replica.receive(await other.arrivals());
  const news: [first: number, commits: number, from: number][] = [];
  place.replica.commits.each(({ batch, from }) =>
    void news.push([batch.first, batch.commits.length, from])
  );
  deepEqual(news, [[0, 1, 0], [0, 2, 1]]);
  await Promise.all([one, other, place].map(({ replica }) => replica.close()));
});

Deno.test("read() finds every commit, those of a batch included, and later ones too", async () => {
  const place = await filled("default");
  const { commits } = place.replica;
  const chain = chainOf(place);
  for (const number of [3, 0, 4, 2, 1, 2]) {
    const found = commits.read(chain, number);
    equal(
      found?.logged.batch.first! +
        found!.logged.batch.commits.indexOf(found!.commit),
      number,
    );
  }
  equal(commits.read(chain, 5), undefined);
  equal(commits.read("nobody", 0), undefined);
  const kept = commits.read(chain, 1)!;
  const bytes = kept.logged.batch.bytes.slice();
  await place.write("d", "x".repeat(300_000));
  equal(commits.read(chain, 5)?.commit.wall, place.replica.graph.clock.wall);
  deepEqual(
    kept.logged.batch.bytes,
    bytes,
    "what was read is not written over",
  );
  await place.replica.close();
});

Deno.test("read() gives commits of the same bytes on every replica", async () => {
  const author = await filled("default");
  const other = await Place.open({ seed: 2 });
  other.replica.receive(await author.arrivals());
  const chain = chainOf(author);
  for (let number = 0; number < 5; number++) {
    const [here, there] = [author, other].map((place) => {
      const found = place.replica.commits.read(chain, number)!;
      return bytesOf(found.logged.batch, found.commit);
    });
    deepEqual(here, there);
    equal(here!.length > 0, true);
  }
  equal(author.replica.commits.read(chain, 5), undefined);
  await Promise.all([author.replica.close(), other.replica.close()]);
});

Deno.test("countEqual() compares what is known without reading its record, and damage is no difference", async () => {
  const place = await filled("default");
  const { loaded, graph } = place.replica;
  const chain = chainOf(place);
  const batches = (await place.arrivals())
    .filter(({ kind }) => kind === recordKind.signedBatch)
    .map(({ bytes }) => decodeBatch(bytes, true));
  let records = 0, read = 0;
  const { log } = loaded;
  const counting: typeof log = Object.create(log, {
    end: { get: () => log.end },
    records: {
      value: (...given: Parameters<typeof log.records>) => {
        records++;
        return log.records(...given);
      },
    },
    readAt: {
      value: (target: Uint8Array, address: number) => {
        read += target.length;
        return log.readAt(target, address);
      },
    },
  });
  const reader = new CommitReader({ ...loaded, log: counting }, "default");
  reader.find(chain, 0); // Builds the index.
  [records, read] = [0, 0];
  let bytes = 0;
  for (const batch of [...batches, ...batches]) {
    const { commits } = batch;
    equal(countEqual(reader, batch, commits.length), commits.length);
    bytes += commits.at(-1)!.end - commits[0]!.at;
  }
  deepEqual([records, read], [0, bytes]);

  const [whole] = batches.filter(({ commits }) => commits.length > 1);
  const { first, commits } = whole!;
  for (const [i, { payloadAt }] of commits.entries()) {
    const other = whole!.bytes.slice();
    other[payloadAt]! ^= 1;
    const spoilt = { ...whole!, bytes: other };
    equal(countEqual(reader, spoilt, commits.length), i);
    equal(countEqual(reader, spoilt, i), i);
  }
  const later = { ...whole!, first: graph.chain(chain)!.length };
  equal(countEqual(reader, later, 1), 0, "nobody has it");

  const { address, offset } = reader.find(chain, first)!;
  const again = new CommitReader(loaded, "default");
  again.find(chain, first);
  place.spoil("log-00000000", address + offset);
  throws(() => countEqual(again, whole!, 1), { code: "log-damaged" });
  await place.replica.close();
});

Deno.test("hashAll() hashes after opening what sealing goes on from; other modes hash when asked", async () => {
  for (const mode of ["default", "trusted"] as const) {
    const place = await filled(mode);
    const again = await place.reopen(); // As after a crash: no checkpoint.
    const { graph, commits } = again.replica;
    const chain = chainOf(again);
    equal(graph.chain(chain)?.hashed, 0);
    commits.hashAll();
    equal(graph.chain(chain)?.hashed, mode === "default" ? 5 : 0);
    commits.hashFrom(0);
    equal(graph.chain(chain)?.hashed, 5);
    place.replica.commits.hashFrom(0);
    deepEqual(graph.summary(), place.replica.graph.summary());
    await again.replica.close();
  }
});

Deno.test("a reader made later knows what is hashed already", async () => {
  const place = await filled("default");
  await place.replica.close();
  const again = await place.reopen();
  const { loaded, graph } = again.replica;
  equal(graph.chain(chainOf(again))?.hashed, 5, "the checkpoint tells");
  let reads = 0;
  const log = new Proxy(loaded.log, {
    get(target, key) {
      if (key === "records") reads++;
      return Reflect.get(target, key, target);
    },
  });
  new CommitReader({ ...loaded, log }, "default").hashAll();
  equal(reads, 0);
  await again.write("a", "more");
  await again.replica.close();
});
