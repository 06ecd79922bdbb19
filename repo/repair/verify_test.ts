import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { lateEd25519 } from "../../crypto/late_ed25519.ts";
import { encodeText } from "../../src/base/bytes.ts";
import { Place } from "../../tests/kit/replica_place.ts";
import { RECORD_HEADER_BYTES, recordKind } from "../log/format.ts";
import { decodeMark, encodeMark } from "../log/order.ts";
import { encodeCut } from "../refusal/void_commits.ts";
import {
  type VerifyOptions,
  verifyReplica,
  type VerifyReport,
} from "./verify.ts";

const pause = () => Promise.resolve();

function verify(
  place: Place,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  return verifyReplica(place.replica.loaded, options, pause);
}

Deno.test("verifyReplica() counts what it checked, in every mode", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    const place = await Place.open({ mode });
    void place.write("a", "one");
    void place.write("b", "two");
    await place.replica.durable();
    await place.vote("a");
    await place.replica.durable();
    const report = await verify(place);
    deepEqual(report, {
      ok: true,
      records: 4,
      commits: 3,
      operations: 3,
      certificates: 1,
      revocations: 0,
      statements: 0,
      voids: 0,
      redactions: 0,
      retirements: 0,
      signatures: mode === "default" ? 2 : 0,
      bytes: place.replica.loaded.log.end,
      damage: undefined,
    });
    await place.replica.close();
  }
});

Deno.test("verifyReplica() loads what checks signatures, in every mode", async () => {
  const { code } = lateEd25519;
  lateEd25519.by(() => Promise.resolve(code));
  for (const mode of ["default", "trusted", "fast"] as const) {
    const place = await Place.open({ mode });
    await place.replica.durable();
    lateEd25519.provide(undefined);
    try {
      equal((await verify(place)).ok, true);
    } finally {
      lateEd25519.provide(code);
    }
    await place.replica.close();
  }
});

Deno.test("verifyReplica() tells the address at which the damaged record starts", async () => {
  const place = await Place.open();
  const starts = [64];
  const { log } = place.replica.loaded;
  log.records(
    0,
    log.end,
    (_kind, body, address) => void starts.push(address + body.length),
  );
  for (let i = 0; i < 3; i++) {
    await place.write(`n${i}`, "text");
    starts.push(log.end);
  }
  for (let i = 0; i < starts.length - 1; i++) {
    const at = starts[i]! + RECORD_HEADER_BYTES + 3;
    place.spoil("log-00000000", at);
    const { ok, damage } = await verify(place);
    equal(ok, false);
    equal(damage?.address, starts[i]);
    match(damage!.reason, new RegExp(`address ${starts[i]}\\b`));
    place.spoil("log-00000000", at); // The same bits again: it is whole.
  }
  equal((await verify(place)).ok, true);
  await place.replica.close();
});

Deno.test("verifyReplica() finds a record that is whole and yet not to be believed", async () => {
  const author = await Place.open({ seed: 2 });
  await author.write("a", "one");
  await author.write("a", "two");
  const arrivals = await author.arrivals();
  const signed = arrivals.filter(({ kind }) => kind === recordKind.signedBatch);
  const certificate = arrivals.findLast(({ kind }) =>
    kind === recordKind.certificate
  )!;
  const forged = signed[0]!.bytes.slice();
  forged[forged.length - 1]! ^= 1;
  const wrongs: [RegExp, number, Uint8Array[]][] = [
    [/^unknown-session/, recordKind.signedBatch, [signed[0]!.bytes]],
    [/^bad-signature/, recordKind.signedBatch, [certificate.bytes, forged]],
    [/^gap/, recordKind.signedBatch, [certificate.bytes, signed[1]!.bytes]],
    [/./, recordKind.signedBatch, [encodeText("no batch at all")]],
    [/^bad-signature/, recordKind.certificate, [spoiled(certificate.bytes)]],
  ];
  for (const [reason, kind, bodies] of wrongs) {
    const place = await Place.open();
    await place.write("mine", "sound");
    const { log } = place.replica.loaded;
    for (const body of bodies.slice(0, -1)) {
      log.append(recordKind.certificate, [body]);
    }
    const start = log.end;
    log.append(kind, [bodies.at(-1)!]);
    const { damage } = await verify(place);
    equal(damage?.address, start);
    match(damage!.reason, reason);
    await place.replica.close().catch(() => {});
  }
  await author.replica.close();
});

function spoiled(certificate: Uint8Array): Uint8Array {
  const bytes = certificate.slice();
  bytes[bytes.length - 1]! ^= 1;
  return bytes;
}

Deno.test("verifyReplica() looks at the checkpoint too, and leaves it alone", async () => {
  const place = await Place.open();
  for (let i = 0; i < 2_000; i++) void place.write(`note-${i}`, "text");
  for (let i = 0; i < 2_000; i++) void place.vote(`note-${i}`);
  await place.replica.close();
  const again = await place.reopen();
  again.spoil("checkpoint-00000001", 100);
  const { ok: isOk, damage } = await verify(again);
  equal(isOk, false);
  equal(damage?.address, -1);
  match(damage!.reason, /checkpoint-00000001/);
  await again.replica.close();
  ok(place.storage.list(place.folder).includes("checkpoint-00000001"));
});

Deno.test("a repository that is closed meanwhile is not called damaged", async () => {
  const place = await Place.open();
  for (let i = 0; i < 4; i++) await place.write(`n${i}`, "x".repeat(2_000_000));
  let isClosing = false;
  const verifying = verifyReplica(place.replica.loaded, {}, async () => {
    if (!isClosing) await place.replica.close();
    isClosing = true;
  });
  await rejects(verifying, { code: "closed" });
});

Deno.test("verifyReplica() tells how far it is and ends with its signal", async () => {
  const place = await Place.open();
  for (let i = 0; i < 4; i++) await place.write(`n${i}`, "x".repeat(2_000_000));
  const progress: number[] = [];
  await verify(place, { onProgress: ({ done }) => progress.push(done) });
  ok(progress.length > 1);
  deepEqual(progress, progress.toSorted((a, b) => a - b));
  equal(progress.at(-1), place.replica.loaded.log.end);
  const stop = new AbortController();
  const reason = new Error("enough");
  const onProgress = () => stop.abort(reason);
  await rejects(verify(place, { onProgress, signal: stop.signal }), reason);
  await place.replica.close();
});

Deno.test("verifyReplica() finds a cut of what is not there", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  await place.write("a", "two");
  const { log, graph, voided } = place.replica.loaded;
  const [chain] = graph.vector().keys();
  voided.cut(log.end, [{ chain: chain!, from: 1 }]);
  log.append(recordKind.cut, [encodeCut([{ chain: chain!, from: 1 }])]);
  equal((await verify(place)).damage, undefined);
  const start = log.end;
  const cuts = [{ chain: chain!, from: 5 }];
  voided.cut(log.append(recordKind.cut, [encodeCut(cuts)]), cuts);
  const { damage } = await verify(place);
  equal(damage?.address, start);
  match(damage.reason, /not there/);
});

Deno.test("verifyReplica() checks that the marks of a served log say the order of its batches", async () => {
  const place = await Place.open();
  await place.write("before", "1");
  await place.replica.serve();
  for (const id of ["a", "b"]) await place.write(id, "1");
  await place.replica.durable();
  equal((await verify(place)).ok, true);
  const { log, order } = place.replica.loaded;
  const { epoch, accepted } = decodeMark(order!.body, 0);
  // A mark of nothing, with the order that it would have behind a batch.
  const lie = encodeMark({ epoch, accepted, order: new Uint8Array(32) });
  const address = log.append(recordKind.order, [lie]);
  const { damage } = await verify(place);
  equal(damage?.address, address - RECORD_HEADER_BYTES);
  match(damage!.reason, /another order/);
  await place.replica.close();
});
