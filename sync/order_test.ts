/**
 * The order of acceptance over the wire: who follows it computes it, and a server
 * that tells two orders, goes back or leaves something out of one is named.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import type { Flush } from "../repo/log/order.ts";
import { orderAfter } from "../repo/log/order.ts";
import { isBatch, recordKind } from "../repo/log/format.ts";
import { limits } from "../src/base/limits.ts";
import { NumberRanges } from "../src/base/number_ranges.ts";
import { refusedAt } from "../tests/kit/author_place.ts";
import { forge } from "../tests/kit/forge.ts";
import { filesOf, restored } from "../tests/kit/images.ts";
import { naiveOrder } from "../tests/kit/naive_order.ts";
import {
  type ManualWorld,
  Place,
  sessionOf,
} from "../tests/kit/replica_place.ts";
import {
  meet,
  proverFor,
  Serving,
  start,
  type Talk,
} from "../tests/kit/talk.ts";
import type { Message } from "./message.ts";
import { named, type Progress, unnamed } from "./progress.ts";
import { emptyResume, type ResumeState } from "./resume.ts";
import { witnessLayout } from "./witness.ts";

/** Until both have said what they have to say. */
async function rest(talk: Talk): Promise<void> {
  await talk.settle();
  await talk.pass(limits.witnessMs);
  await talk.settle();
}

function incidents({ client }: Talk): string[] {
  return client.told("incident").map(({ kind }) => kind);
}

/** The server again as its storage is, or was: in the same place. */
function again(
  serving: Serving,
  world: ManualWorld,
  files?: ReturnType<typeof filesOf>,
) {
  const { storage } = serving.place;
  const identity = storage.identity();
  return Serving.open(world, {
    storage: restored(files ?? filesOf(storage), identity),
  });
}

/** What a server says next to a client, each as somebody changes it; its witness waits for the next call. */
function relay(
  talk: Talk,
  change: (message: Message) => Message = (message) => message,
): void {
  const { server } = talk;
  const isWitness = (frame: Uint8Array) => frame[0] === 0x26;
  const { messages } = server;
  const frames = server.take();
  const now = messages.filter((_, i) => !isWitness(frames[i]!));
  server.sent = frames.filter(isWitness);
  for (const message of now) talk.client.message(change(message));
}

/** A message whose progress is another one; the order in it is what follows from that. */
function withFlushes(
  message: Message,
  before: Uint8Array,
  change: (flushes: readonly Flush[]) => readonly Flush[],
): Message {
  if (message.is !== "records" && message.is !== "live") return message;
  const { progress } = message;
  if (progress === undefined) return message;
  const records = message.is === "records" ? message.records : [];
  const flushes = change(unnamed(progress.flushes, records));
  const order = flushes.reduce(orderAfter, before);
  const lie: Progress = {
    flushes: named(flushes, records),
    place: { ...progress.place, order },
  };
  return { ...message, progress: lie };
}

Deno.test("a client that wrote, read and resumed has computed the order that the server's log says", async () => {
  const { world, serving, place } = await start();
  const other = await Place.open({ world, seed: 2 });
  let [resume, theirs]: (ResumeState | undefined)[] = [];
  for (let round = 0; round < 4; round++) {
    const mine: Talk = meet(serving, place, resume);
    const his: Talk = meet(serving, other, theirs);
    for (let i = 0; i < 5; i++) {
      await place.write(`a${round}${i}`, "x".repeat(i * 400));
      await other.write(`b${round}${i}`, "1");
      await serving.place.write(`s${round}${i}`, "1");
      await mine.settle();
      await his.settle();
    }
    await mine.pass(limits.witnessMs);
    await his.settle();
    await mine.settle();
    for (const talk of [mine, his]) {
      const { position, order } = talk.client.resume!.cursor!;
      const { marks } = naiveOrder(serving.place);
      deepEqual(marks.find((one) => one.position === position)?.order, order);
      if (talk === mine) equal(position, serving.order.last.position);
      deepEqual(incidents(talk), []);
      talk.end();
    }
    resume = mine.client.resume;
    theirs = his.client.resume;
  }
});

Deno.test("after kill -9 of the server a client resumes with 1 KB each way at most, however many chains there are", async () => {
  const { world, serving, place } = await start();
  const { genesisId } = place.replica.port();
  const session = sessionOf(9);
  const chains = 600;
  const batches = Array.from(
    { length: chains },
    (_, incarnation) =>
      forge({
        session,
        genesisId,
        wall: world.now() + incarnation,
        incarnation,
      }),
  );
  const certificate = {
    kind: recordKind.certificate,
    bytes: session.certificate!,
  };
  const { replica } = serving.place;
  const judged = replica.receive([certificate, ...batches]);
  ok(judged.every(({ verdict }) => verdict.verdict !== "refuse"));
  await replica.durable();
  const first = meet(serving, place);
  await rest(first);
  equal(place.replica.graph.size, chains);
  const resume = first.client.resume!;
  first.end();
  const restarted = await again(serving, world);
  deepEqual(restarted.order.epoch, serving.order.epoch);
  const second = meet(restarted, place, resume);
  await second.settle();
  deepEqual(incidents(second), []);
  equal(second.client.told("live").length, 1);
  const { up, down } = second.bytes;
  ok(up < 1_024 && down < 1_024, `${up} bytes up, ${down} down`);
  second.end();
});

Deno.test("the same commits in another order, from two servers that answer as one, are noticed", async () => {
  const { world, serving, place } = await start();
  await serving.place.write("before", "1");
  const first = meet(serving, place);
  await rest(first);
  first.end();
  const image = filesOf(serving.place.storage);
  const writers = [2, 3].map(async (seed) => {
    const writer = await Place.open({ world, seed });
    await writer.write(`by ${seed}`, "1");
    return await writer.arrivals();
  });
  const [one, two] = await Promise.all(writers);
  const servers: Serving[] = [];
  for (const order of [[one!, two!], [two!, one!]]) {
    const server = await again(serving, world, image);
    for (const arrivals of order) {
      server.place.replica.receive(arrivals);
      await server.place.replica.durable();
    }
    servers.push(server);
  }
  const [here, there] = servers as [Serving, Serving];
  deepEqual(
    here.place.replica.graph.summary(),
    there.place.replica.graph.summary(),
  );
  const talk = meet(here, place, first.client.resume);
  await rest(talk);
  deepEqual(incidents(talk), []);
  talk.end();
  const lied = meet(there, place, talk.client.resume);
  await rest(lied);
  deepEqual(new Set(incidents(lied)), new Set(["server-forked"]));
  lied.end();
});

Deno.test("a server that tells of a flush what its order does not say is named, and its places are not kept", async () => {
  const nobody = "\x07".repeat(40);
  const lies: Record<string, (flushes: readonly Flush[]) => Flush[]> = {
    "left out": (flushes) => flushes.slice(1),
    "another time": ([flush, ...rest]) => [
      { ...flush!, accepted: flush!.accepted + 1 },
      ...rest,
    ],
    "a batch more": ([flush, ...rest]) => [{
      ...flush!,
      batches: [
        ...flush!.batches,
        { chain: nobody, commits: 1, voids: new NumberRanges() },
      ],
    }, ...rest],
  };
  for (const [what, lie] of Object.entries(lies)) {
    const { serving, place } = await start();
    const talk = meet(serving, place);
    await rest(talk);
    const { cursor } = talk.client.resume!;
    await serving.place.write("a", "1");
    await serving.place.replica.durable();
    await talk.client.place.replica.durable();
    relay(talk, (message) => {
      if (message.is !== "records" || !message.progress) return message;
      const { flushes, place } = message.progress;
      const told = lie(unnamed(flushes, message.records));
      const progress = { flushes: named(told, message.records), place };
      return { ...message, progress };
    });
    await place.replica.durable();
    deepEqual(incidents(talk), ["server-forked"], what);
    equal(place.text("a"), "1", "what it sent is sound by itself");
    deepEqual(talk.client.resume!.cursor, cursor, what);
    talk.end();
  }
});

Deno.test("a server that tells one client a consistent order of its own signs another one, and is named by its witness", async () => {
  const { serving, place } = await start();
  const talk = meet(serving, place);
  await rest(talk);
  const before = talk.client.resume!.cursor!.order;
  await serving.place.write("a", "1");
  await serving.place.replica.durable();
  relay(
    talk,
    (message) =>
      withFlushes(
        message,
        before,
        (flushes) =>
          flushes.map((flush) => ({ ...flush, accepted: flush.accepted + 1 })),
      ),
  );
  deepEqual(incidents(talk), []);
  await talk.pass(limits.witnessMs);
  deepEqual(incidents(talk), ["server-forked"]);
  talk.end();
});

Deno.test("a server that withholds a refusal from somebody has to tell him another order", async () => {
  const { world, serving, place } = await start();
  const author = await Place.open({ world, seed: 2 });
  void author.write("refused", "1");
  await author.write("behind", "1");
  const original = (await author.arrivals()).at(-1)!;
  const [chain] = author.replica.graph.vector().keys();
  author.replica.refuse(chain!, [refusedAt(0)]);
  await author.replica.durable();
  const talk = meet(serving, place);
  await rest(talk);
  const before = talk.client.resume!.cursor!.order;
  const brought = meet(serving, author);
  await rest(brought);
  brought.end();
  let withheld = 0;
  relay(talk, (message) => {
    if (message.is !== "records") return message;
    const lie = withFlushes(
      message,
      before,
      (flushes) =>
        flushes.map((flush) => ({
          ...flush,
          batches: flush.batches.map((batch) => {
            withheld += batch.voids.size;
            return { ...batch, voids: new NumberRanges() };
          }),
        })),
    ) as typeof message;
    const records = lie.records.map((record) =>
      isBatch(record.kind) ? original : record
    );
    return { ...lie, records };
  });
  equal(withheld, 1);
  await place.replica.durable();
  equal(place.text("refused"), "1", "it looks as if it had been accepted");
  deepEqual(incidents(talk), []);
  await talk.pass(limits.witnessMs);
  deepEqual(incidents(talk), ["server-forked"]);
  talk.end();
});

Deno.test("a server whose folder was set back is named, also when it has grown past the place", async () => {
  for (const isGrown of [false, true]) {
    const { world, serving, place } = await start();
    await serving.place.write("old", "1");
    const image = filesOf(serving.place.storage);
    await serving.place.write("lost", "1");
    const first = meet(serving, place);
    await rest(first);
    const resume = first.client.resume!;
    first.end();
    const back = await again(serving, world, image);
    deepEqual(back.order.epoch, serving.order.epoch);
    for (let i = 0; isGrown && i < 9; i++) {
      await back.place.write(`new${i}`, "1");
      await back.place.replica.durable();
    }
    ok(back.order.last.position > resume.cursor!.position === isGrown);
    const second = meet(back, place, resume);
    await rest(second);
    const kind = isGrown ? "server-forked" : "server-rolled-back";
    ok(incidents(second).includes(kind), incidents(second).join());
    second.end();
  }
});

Deno.test("a server that went back to before what it signed for, but not behind a place, is told what it has lost", async () => {
  const { world, serving, place } = await start();
  await place.write("old", "1");
  const first = meet(serving, place);
  await rest(first);
  const { cursor } = first.client.resume!;
  first.end();
  const image = filesOf(serving.place.storage);
  const second = meet(serving, place, first.client.resume);
  await place.write("lost", "1");
  await rest(second);
  // It died before it was told the place behind that.
  const resume = { ...second.client.resume!, cursor };
  second.end();
  const back = await again(serving, world, image);
  for (let i = 0; i < 9; i++) {
    await back.place.write(`new${i}`, "1");
    await back.place.replica.durable();
  }
  const third = meet(back, place, resume);
  await rest(third);
  deepEqual(incidents(third), []);
  const lacking = third.client.told("restoring");
  deepEqual(lacking.map(({ missing }) => missing), [1, 0]);
  equal(back.place.text("lost"), "1");
  third.end();
});

Deno.test("a client that lies about a place is told the vector, and learns nothing by it", async () => {
  const { world, serving } = await start();
  await serving.place.write("a", "1");
  await serving.place.replica.durable();
  const { epoch, position, order } = serving.order.last;
  const spoilt = order.slice();
  spoilt[31]! ^= 1;
  for (
    const lie of [
      { epoch, position, order: spoilt },
      { epoch, position: position - 64, order },
      { epoch, position: 2 ** 52, order },
      { epoch: new Uint8Array(16), position, order },
    ]
  ) {
    const place = await Place.open({ world, seed: 4 });
    const talk = meet(serving, place, {
      ...emptyResume(place.replica.port().genesisId),
      cursor: lie,
    });
    let opened: Message | undefined;
    while (opened === undefined) {
      ok(await talk.flight());
      opened = talk.server.messages.find(({ is }) => is === "opened");
    }
    ok(opened.is === "opened" && opened.vector !== undefined);
    await talk.settle();
    equal(place.text("a"), "1");
    talk.end();
  }
});

Deno.test("a witness of another order at the place that was told is no sound one", async () => {
  const { serving, place } = await start();
  await serving.place.write("a", "1");
  const talk = meet(serving, place);
  await rest(talk);
  const port = serving.place.replica.port();
  const { witness } = talk.client.resume!;
  const { position } = serving.order.last;
  const bytes = witnessLayout.sign({
    genesisId: port.genesisId,
    epoch: serving.order.epoch,
    position,
    commits: port.commits,
    digest: port.digestOf(port.summary()!),
    order: new Uint8Array(32),
    wall: 1,
  }, proverFor(serving.session)).bytes;
  talk.client.message({ is: "witness", channel: 1, witness: bytes });
  deepEqual(incidents(talk), ["server-forked"]);
  deepEqual(talk.client.resume!.witness, witness);
  talk.end();
});
