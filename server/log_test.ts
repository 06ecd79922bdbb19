import { deepEqual, doesNotThrow, equal } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { Log, type LogRecord } from "./log.ts";
import type { ServerStatus } from "./api.ts";
import { Metrics, openMetrics } from "./metrics.ts";

const status: ServerStatus = {
  name: "s",
  mode: "default",
  isClosing: false,
  connections: 3,
  sessions: 0,
  open: [],
  quarantine: { entries: 0, bytes: 0 },
  restoring: [],
  failing: 0,
};

Deno.test("Log.write() leaves out what is below its level and cuts long texts", () => {
  const records: LogRecord[] = [];
  const log = new Log((record) => records.push(record), "info", () => 0);
  log.write("debug", "noise");
  log.write("warn", "event", { text: "x".repeat(9_999), gone: undefined });
  equal(records.length, 1);
  const [{ time, level, event, text, ...rest }] = records as [LogRecord];
  deepEqual([time, level, event], [
    "1970-01-01T00:00:00.000Z",
    "warn",
    "event",
  ]);
  equal(String(text).length, 513);
  deepEqual(rest, {});
});

Deno.test("Log.write() is not disturbed by a sink that throws", () => {
  let asked = 0;
  const sink = () => {
    asked++;
    throw new Error("full");
  };
  const log = new Log(sink, "info", () => 0);
  doesNotThrow(() => log.write("error", "event"));
  log.write("error", "another");
  equal(asked, 2, "it is asked again");
});

Deno.test("TroubleLog tells of each kind once, and of so many kinds", () => {
  const records: LogRecord[] = [];
  const log = new Log((record) => records.push(record), "info", () => 0);
  const trouble = log.once({ connection: 7, address: "::1" });
  for (let i = 0; i < 100; i++) trouble.warn("protocol-error", "bad-message");
  equal(records.length, 1);
  equal(records[0]!.connection, 7);
  for (let i = 0; i < 1_000; i++) trouble.warn("protocol-error", `kind ${i}`);
  equal(records.length, limits.troubleKindsMax);
});

Deno.test("Log.write() leaves no control characters in what a stranger wrote", () => {
  const records: LogRecord[] = [];
  const log = new Log((record) => records.push(record), "info", () => 0);
  log.write("info", "x", {
    detail: 'a\n{"b":1}\r\u001b[2J\u009b\u202e\u2028c é',
  });
  equal(
    records[0]?.["detail"],
    'a\ufffd{"b":1}\ufffd\ufffd[2J\ufffd\ufffd\ufffdc é',
  );
});

Deno.test("Log.tellOf() gives an address so many lines a minute, and says how many were left out", () => {
  const records: LogRecord[] = [];
  let nowMs = 0;
  const log = new Log((record) => records.push(record), "info", () => nowMs);
  const { strangerLinesMax: most } = limits;
  for (let i = 0; i < most + 5; i++) log.tellOf("a", "warn", "x", { i });
  equal(records.length, most);
  log.tellOf("b", "warn", "x", {});
  equal(records.at(-1)?.["leftOut"], 5);
  equal(records.at(-1)?.["address"], "b");
  nowMs += 60_000 / most;
  log.tellOf("a", "warn", "x", {});
  equal(records.length, most + 2);
  equal(records.at(-1)?.["leftOut"], undefined);
});

Deno.test("Metrics are text that Prometheus reads, without labels that strangers choose", async () => {
  const metrics = await openMetrics();
  metrics.show(() => status);
  metrics.admitted(5);
  metrics.refused("bad-signature");
  metrics.protocolError("bad-message");
  for (let i = 0; i < 50; i++) metrics.protocolError(`"}\n stranger ${i}`);
  metrics.acknowledged(0.003);
  const { text } = (await metrics.text())!;
  const samples = text.split("\n").filter((line) =>
    line !== "" && !line.startsWith("#")
  );
  const form =
    /^[a-z_]+(?:\{[a-z]+="[^"\n]*"(?:,[a-z]+="[^"\n]*")*\})? [0-9.e+-]+$/;
  deepEqual(samples.filter((line) => !form.test(line)), []);
  equal(samples.includes("sheaf_commits_admitted_total 5"), true);
  equal(samples.includes("sheaf_connections 3"), true);
  equal(
    samples.includes('sheaf_protocol_errors_total{code="other"} 50'),
    true,
  );
  equal(samples.includes('sheaf_ack_seconds_bucket{le="0.005"} 1'), true);
});

Deno.test("Metrics without the package that keeps them count nothing, and say so", async () => {
  const metrics = new Metrics();
  metrics.admitted(3);
  metrics.acknowledged(0.1);
  equal(await metrics.text(), undefined);
});
