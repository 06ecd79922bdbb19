import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { memoryStorage, openDatabase } from "../mod.ts";
import { faultyStorage } from "../tests/kit/mod.ts";
import { ByteWriter } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { bookSchemas, openBooks } from "./books.ts";
import { Log, type LogRecord } from "./log.ts";
import { Graph } from "../repo/graph/graph.ts";
import { RestoreReport } from "./restore_report.ts";

const [ANN, BOB] = ["a".repeat(40), "b".repeat(40)] as const;

function summaryOf(counts: Record<string, number>): Uint8Array {
  const writer = new ByteWriter();
  for (const [chain, count] of Object.entries(counts)) {
    for (const char of chain) writer.u8(char.charCodeAt(0));
    writer.u48(count);
    writer.bytes(new Uint8Array(32));
  }
  return writer.copy();
}

let nowMs = 0;
const clock = { monotonic: () => nowMs };

/** Only what a report asks of a port. */
function portWith(name: string, counts: Record<string, number>) {
  const port = { name, lengthOf: (chain: string) => counts[chain] ?? 0 };
  return port as unknown as RepositoryPort;
}

Deno.test("RestoreReport says what is missing until it is there, over a restart, and tells both ends once", async () => {
  const storage = memoryStorage();
  const records: LogRecord[] = [];
  const log = new Log((record) => records.push(record), "info", () => 0);
  const here: Record<string, number> = { [ANN]: 2 };
  const port = portWith("team/a", here);
  const summary = summaryOf({ [ANN]: 2, [BOB]: 5 });
  {
    await using db = await openDatabase({ storage, schemas: bookSchemas });
    const report = new RestoreReport(await openBooks(db), log, clock);
    report.learn(port, summary, 1_000);
    report.learn(port, summaryOf({ [ANN]: 9 }), 500);
    deepEqual(report.list(), [
      { repository: "team/a", missing: 5, total: 7, at: new Date(1_000) },
    ]);
  }
  await using db = await openDatabase({ storage, schemas: bookSchemas });
  const report = new RestoreReport(await openBooks(db), log, clock);
  equal(report.size, 1);
  here[BOB] = 3;
  report.look(port);
  equal(report.list()[0]!.missing, 2);
  here[BOB] = 6;
  report.look(port);
  report.look(port);
  equal(report.size, 0);
  const events = records.map(({ event }) => event);
  deepEqual(events, ["restore-incomplete", "restore-complete"]);
});

Deno.test("RestoreReport.isAwaited() holds while commits come back, and for a while after the last", async () => {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: bookSchemas,
  });
  const log = new Log(() => {}, "info", () => 0);
  const here: Record<string, number> = {};
  const port = portWith("team/a", here);
  const report = new RestoreReport(await openBooks(db), log, clock);
  equal(report.isAwaited("team/a"), false);
  report.learn(port, summaryOf({ [ANN]: 2, [BOB]: 2 }), 1_000);
  nowMs += limits.restoreWaitMs - 1;
  equal(report.isAwaited("team/a"), true);
  here[ANN] = 1;
  report.look(port);
  nowMs += limits.restoreWaitMs - 1;
  report.look(port);
  equal(report.isAwaited("team/a"), true);
  nowMs += 1;
  equal(report.isAwaited("team/a"), false, "the others may never come");
  here[ANN] = here[BOB] = 2;
  report.look(port);
  equal(report.isAwaited("team/a"), false);
});

/** A report that knows of no loss, and a repository that has what `here` says. */
async function reporting() {
  const storage = memoryStorage();
  const db = await openDatabase({ storage, schemas: bookSchemas });
  const log = new Log(() => {}, "info", () => 0);
  const report = new RestoreReport(await openBooks(db), log, clock);
  const here: Record<string, number> = {};
  const port = portWith("team/a", here);
  return { report, here, port, [Symbol.asyncDispose]: () => db.close() };
}

/** How long others are held off while somebody does `more` just before each wait ends. */
function heldOffMs(report: RestoreReport, more: () => void): number {
  const fromMs = nowMs;
  for (let i = 0; i < 1_000 && report.isAwaited("team/a"); i++) {
    nowMs += limits.restoreWaitMs - 1;
    more();
  }
  return nowMs - fromMs;
}

Deno.test("RestoreReport.isAwaited() ends, though somebody hands in his own commits one by one", async () => {
  await using place = await reporting();
  const { report, here, port } = place;
  report.learn(port, summaryOf({ [ANN]: 1, [BOB]: 1_000 }), 1_000);
  const ms = heldOffMs(report, () => {
    here[BOB] = (here[BOB] ?? 0) + 1;
    report.look(port);
  });
  ok(ms < limits.restoreWaitTotalMsMax + limits.restoreWaitMs, `${ms}`);
  ok(report.size === 1, "and it still says what is missing");
});

Deno.test("RestoreReport.isAwaited() is not prolonged by one witness after another", async () => {
  for (const step of [1, -1]) {
    await using place = await reporting();
    const { report, port } = place;
    let wall = 10_000;
    const show = () =>
      report.learn(port, summaryOf({ [BOB]: wall += step }), wall);
    show();
    equal(report.isAwaited("team/a"), true);
    const ms = heldOffMs(report, show);
    ok(ms <= 2 * limits.restoreWaitMs, `${ms}`);
  }
});

Deno.test("RestoreReport.isAwaited() is held to one time in all, over losses that are made whole in between", async () => {
  await using place = await reporting();
  const { report, here, port } = place;
  let count = 0;
  const again = () => {
    here[BOB] = count;
    report.look(port);
    report.learn(port, summaryOf({ [BOB]: ++count }), count);
  };
  again();
  const ms = heldOffMs(report, again);
  ok(ms < limits.restoreWaitTotalMsMax + limits.restoreWaitMs, `${ms}`);
});

Deno.test("RestoreReport says nothing of a repository that has everything", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: bookSchemas });
  const log = new Log(() => {}, "info", () => 0);
  const report = new RestoreReport(await openBooks(db), log, clock);
  report.learn(portWith("a", { [ANN]: 3 }), summaryOf({ [ANN]: 3 }), 1);
  equal(report.size, 0);
});

Deno.test("RestoreReport knows all that any witness shows was accepted, until the repository closes", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: bookSchemas });
  const log = new Log(() => {}, "info", () => 0);
  const report = new RestoreReport(await openBooks(db), log, clock);
  const here: Record<string, number> = {};
  const port = portWith("a", here);
  report.learn(port, summaryOf({ [ANN]: 3 }), 2);
  report.learn(port, summaryOf({ [ANN]: 1, [BOB]: 2 }), 1); // Of a life before the last one.
  deepEqual([ANN, BOB].map((chain) => report.accepted("a", chain)?.count), [
    3,
    2,
  ]);
  equal(report.accepted("b", ANN), undefined);
  report.closed("a");
  deepEqual([ANN, BOB].map((chain) => report.accepted("a", chain)?.count), [
    3,
    undefined,
  ]);
  here[ANN] = 3;
  report.look(port);
  equal(report.accepted("a", ANN), undefined, "it is here");
});

Deno.test("RestoreReport takes the later witness's word of what is void, as far as that goes", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: bookSchemas });
  const log = new Log(() => {}, "info", () => 0);
  const port = portWith("a", {});
  const summaryOf = (count: number, ...voids: number[]) => {
    const graph = new Graph(new Uint8Array(32));
    for (let i = 0; i < count; i++) {
      graph.add(ANN, { wall: 1, count: i, parents: [] }, voids.includes(i));
    }
    graph.setHashed(ANN, count, new Uint8Array(32).fill(count));
    return graph.summary()!;
  };
  const [first, second] = [summaryOf(6, 1, 4, 5), summaryOf(5, 2)];
  for (const isFirst of [true, false]) {
    const report = new RestoreReport(await openBooks(db), log, clock);
    if (isFirst) report.learn(port, first, 1);
    report.learn(port, second, 2);
    if (!isFirst) report.learn(port, first, 1);
    const { count, id, voids } = report.accepted("a", ANN)!;
    deepEqual([count, id[0], [...voids!]], [6, 6, [[2, 3], [5, 6]]]);
  }
});

Deno.test("RestoreReport goes on beside books that cannot be written, and says so", async () => {
  const storage = faultyStorage();
  const db = await openDatabase({ storage, schemas: bookSchemas });
  const books = await openBooks(db);
  const records: LogRecord[] = [];
  const log = new Log((record) => records.push(record), "info", () => 0);
  const report = new RestoreReport(books, log, clock);
  const here: Record<string, number> = {};
  const port = portWith("a", here);
  report.learn(port, summaryOf({ [ANN]: 3 }), 1);
  storage.failNext();
  const at = new Date(0);
  await rejects(async () => {
    await books.revocations.create({ id: "key", reason: "", at });
  });
  here[ANN] = 3;
  report.look(port);
  report.learn(portWith("b", {}), summaryOf({ [BOB]: 2 }), 2);
  deepEqual(report.list().map(({ repository }) => repository), ["b"]);
  deepEqual(records.map(({ event }) => event), [
    "restore-incomplete",
    "repository-failed",
    "restore-complete",
    "repository-failed",
    "restore-incomplete",
  ]);
  await rejects(db.close());
});

Deno.test("RestoreReport.isAwaited() holds everywhere for the first minute of a server that lost what nobody knows", async () => {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: bookSchemas,
  });
  const log = new Log(() => {}, "info", () => 0);
  const report = new RestoreReport(await openBooks(db), log, clock, true);
  const port = portWith("a", { [ANN]: 3 });
  report.learn(port, summaryOf({ [ANN]: 3 }), 1);
  nowMs += limits.restoredWaitMs - 1;
  deepEqual(["a", "b"].map((name) => report.isAwaited(name)), [true, true]);
  nowMs++;
  deepEqual(["a", "b"].map((name) => report.isAwaited(name)), [false, false]);
});

Deno.test("RestoreReport.prove() keeps the ends that several peers have shown of one chain", async () => {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: bookSchemas,
  });
  const log = new Log(() => {}, "info", () => 0);
  const report = new RestoreReport(await openBooks(db), log, clock);
  report.learn(portWith("a", {}), summaryOf({ [ANN]: 9 }), 1);
  const id = new Uint8Array(32);
  for (const count of [3, 5]) {
    report.prove("a", ANN, new Map([[count, { count, id }]]));
  }
  const ends = [3, 4, 5].map((count) => report.accepted("a", ANN, count));
  deepEqual(ends.map((end) => end?.count), [3, 9, 5]);
});

Deno.test("RestoreReport.proves() knows whose what is missing was, and who may certify, over a restart", async () => {
  const storage = memoryStorage();
  const log = new Log(() => {}, "info", () => 0);
  const certificateOf = (chain: string, mayIssue = 0) =>
    Uint8Array.from(
      `\x01${String.fromCharCode(mayIssue)}${chain.slice(0, 32)}`,
      (char) => char.charCodeAt(0),
    );
  const port = portWith("team/a", {});
  const proved = (report: RestoreReport, repository = "team/a") =>
    [certificateOf(ANN), certificateOf(BOB), certificateOf(BOB, 1)].map((one) =>
      report.proves(repository, one)
    );
  {
    await using db = await openDatabase({ storage, schemas: bookSchemas });
    const report = new RestoreReport(await openBooks(db), log, clock);
    deepEqual(proved(report), [false, false, true]);
    report.learn(port, summaryOf({ [ANN]: 2 }), 1_000);
    deepEqual(proved(report), [true, false, true]);
    deepEqual(proved(report, "team/b"), [false, false, true]);
  }
  await using db = await openDatabase({ storage, schemas: bookSchemas });
  const report = new RestoreReport(await openBooks(db), log, clock);
  deepEqual(proved(report), [true, false, true]);
});
