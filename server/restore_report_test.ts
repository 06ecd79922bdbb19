import { deepEqual, equal, rejects } from "node:assert/strict";
import { memoryStorage, openDatabase } from "../mod.ts";
import { faultyStorage } from "../tests/kit/mod.ts";
import { ByteWriter } from "../src/base/bytes.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { bookSchemas, openBooks } from "./books.ts";
import { Log, type LogRecord } from "./log.ts";
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
    const report = new RestoreReport(await openBooks(db), log);
    report.learn(port, summary, 1_000);
    report.learn(port, summaryOf({ [ANN]: 9 }), 500);
    deepEqual(report.list(), [
      { repository: "team/a", missing: 5, total: 7, at: new Date(1_000) },
    ]);
  }
  await using db = await openDatabase({ storage, schemas: bookSchemas });
  const report = new RestoreReport(await openBooks(db), log);
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

Deno.test("RestoreReport says nothing of a repository that has everything", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: bookSchemas });
  const log = new Log(() => {}, "info", () => 0);
  const report = new RestoreReport(await openBooks(db), log);
  report.learn(portWith("a", { [ANN]: 3 }), summaryOf({ [ANN]: 3 }), 1);
  equal(report.size, 0);
});

Deno.test("RestoreReport knows all that any witness shows was accepted, until the repository closes", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: bookSchemas });
  const log = new Log(() => {}, "info", () => 0);
  const report = new RestoreReport(await openBooks(db), log);
  const here: Record<string, number> = {};
  const port = portWith("a", here);
  report.learn(port, summaryOf({ [ANN]: 3 }), 2);
  report.learn(port, summaryOf({ [ANN]: 1, [BOB]: 2 }), 1); // Of a life before the last one.
  deepEqual([ANN, BOB].map((chain) => report.accepted("a", chain)), [3, 2]);
  equal(report.accepted("b", ANN), 0);
  report.closed("a");
  deepEqual([ANN, BOB].map((chain) => report.accepted("a", chain)), [3, 0]);
  here[ANN] = 3;
  report.look(port);
  equal(report.accepted("a", ANN), 0, "it is here");
});

Deno.test("RestoreReport goes on beside books that cannot be written, and says so", async () => {
  const storage = faultyStorage();
  const db = await openDatabase({ storage, schemas: bookSchemas });
  const books = await openBooks(db);
  const records: LogRecord[] = [];
  const log = new Log((record) => records.push(record), "info", () => 0);
  const report = new RestoreReport(books, log);
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
