import { deepEqual, equal, ok } from "node:assert/strict";
import type { Arrival } from "../repo/admission/arrival.ts";
import { batchIn, decodeBatch } from "../repo/commit/batch.ts";
import type { FeedRecord } from "../repo/port.ts";
import { isBatch, recordKind } from "../repo/log/format.ts";
import { Place, SlowStorage } from "../tests/kit/replica_place.ts";
import { Outbox } from "./outbox.ts";

Deno.test("Outbox.next() forgets at the end of the log what both sides have, and no more", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  await place.write("b", "2");
  const port = place.replica.port();
  const [[chain, count]] = [...port.vector()] as [[string, number]];
  equal(count, 2);
  const ahead = Array.from({ length: 40 }, (_, i) => `${i}`.padStart(64, "0"));
  const has = new Map([
    [chain, count],
    ...ahead.map((one) => [one, 1] as const),
  ]);
  const from = port.shareable;
  const options = { port, from, has, credentials: false };
  const own = { has: new Map(has), forgets: true };
  const outbox = new Outbox({ ...options, ...own });
  equal(outbox.next(10_000), undefined);
  equal(outbox.countOf(chain), 0, "its length says the same");
  deepEqual(ahead.map((one) => outbox.countOf(one)), ahead.map(() => 1));
  const faithful = new Outbox(options);
  equal(faithful.next(10_000), undefined);
  equal(faithful.countOf(chain), count);
});

Deno.test("Outbox.next() sends as joined what is known to be sealed well, one by one what is not, and waits for the first", async () => {
  const place = await Place.open();
  for (const id of ["a", "b", "c"]) await place.write(id, "1");
  const own = place.replica.port();
  const known = new Set<string>();
  const vouches = ({ count }: FeedRecord, from: number) =>
    count === 0 || known.has(`${count} at ${from}`) || undefined;
  const port = new Proxy(own, {
    get: (port, name) => {
      if (name === "vouches") return vouches;
      const value = Reflect.get(port, name, port);
      return typeof value === "function" ? value.bind(port) : value;
    },
  });
  const next = (outbox: Outbox) => {
    const sent = outbox.next(10_000);
    if (sent === undefined || !("records" in sent)) return undefined;
    return sent.records.filter(({ kind }) => isBatch(kind)).map((one) =>
      decodeBatch(one.bytes, true).commits.length
    );
  };
  const outbox = new Outbox({ port, from: 0, credentials: false });
  deepEqual(next(outbox), [], "a certificate");
  equal(next(outbox), undefined);
  ok(outbox.isBlocked && !outbox.isDone);
  known.add(`1 at ${outbox.position}`);
  deepEqual(next(outbox), [1], "the first alone, as the three are not known");
  equal(next(outbox), undefined);
  known.add(`2 at ${outbox.position}`);
  deepEqual(next(outbox), [2], "the others joined, as they are known");
  ok(outbox.isDone);
});

Deno.test("Outbox.rewind() reads again from where it was, as soon as what stands before is durable", async () => {
  const storage = new SlowStorage();
  const place = await Place.open({ storage });
  await place.write("a", "1");
  await place.write("b", "2");
  await place.write("c", "3");
  const port = place.replica.port();
  const [chain] = [...port.vector().keys()] as [string];
  const outbox = new Outbox({ port, from: 0, credentials: false });
  const certificates: number[] = [];
  const voids = () => {
    const sent = outbox.next(10_000);
    const records = sent !== undefined && "records" in sent ? sent.records : [];
    certificates.push(
      records.filter(({ kind }) => kind === recordKind.certificate).length,
    );
    const batches = records.filter(({ kind }) => isBatch(kind)).map((one) =>
      decodeBatch(one.bytes, true)
    );
    return batches.flatMap(({ commits }) => commits.map((one) => one.isVoid));
  };
  deepEqual(voids(), [false, false, false]);
  outbox.noteHas(chain, 1);
  storage.isSlow = true;
  const refused = { reason: "denied", rule: "", detail: "", kept: false };
  const due = port.refuse(chain, [{ number: 1, ...refused }])!;
  outbox.rewind(0, due);
  deepEqual(voids(), []);
  ok(!outbox.isDone, "it waits");
  storage.isSlow = false;
  storage.finish();
  await place.replica.durable();
  deepEqual(voids(), [false, true, false], "under the seal of the last one");
  deepEqual(voids(), []);
  ok(outbox.isDone);
  deepEqual(certificates, [1, 0, 0, 0], "they are not told again");
  equal(port.refuse(chain, [{ number: 1, ...refused }]), undefined, "once");
});

Deno.test("Outbox.next() cuts a batch at what the peer has: the rest is under the seal of its last commit", async () => {
  for (const mode of ["default", "trusted"] as const) {
    const place = await Place.open({ mode });
    const there = await Place.open({ mode, seed: 2 });
    const text = "x".repeat(500);
    for (const id of ["a", "b"]) void place.write(id, text);
    there.replica.receive(await place.arrivals());
    for (const id of ["c", "d", "e"]) void place.write(id, text);
    await place.replica.durable();
    const port = place.replica.port();
    const [chain] = [...port.vector().keys()] as [string];
    const sent = (count: number) => {
      const has = new Map([[chain, count]]);
      const cuts = () => true;
      const options = { port, from: 0, has, credentials: false, cuts };
      const outgoing = new Outbox(options).next(1 << 20);
      ok(outgoing === undefined || "records" in outgoing);
      const records = outgoing?.records ?? [];
      return records.filter(({ kind }) => isBatch(kind));
    };
    for (let has = 0; has < 5; has++) {
      const [{ kind, bytes }] = sent(has) as [Arrival];
      const batch = batchIn(kind, bytes)!;
      // Neighbours travel as one: what is known of it stays away.
      deepEqual([batch.first, batch.commits.length], [has, 5 - has]);
    }
    deepEqual(sent(5), []);
    equal(there.text("c"), undefined);
    const [judged] = there.replica.receive(sent(2));
    equal(judged?.verdict.verdict, "admit");
    equal(there.text("e"), text);
  }
});
