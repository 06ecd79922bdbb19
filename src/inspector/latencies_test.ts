import assert from "node:assert/strict";
import { formatMs, heightOf, Latencies } from "./latencies.ts";

Deno.test("Latencies keep the last writes only, and what comes late for others is dropped", () => {
  const latencies = new Latencies(2);
  const first = latencies.add(1);
  const second = latencies.add(2);
  latencies.add(3);
  first("durable", 10);
  second("durable", 20);
  second("synced", 30);
  assert.deepEqual(latencies.writes, [
    { write: 2, durable: 20, synced: 30 },
    { write: 3 },
  ]);
});

Deno.test("Latencies.typical() looks at writes that reached the stage", () => {
  const latencies = new Latencies(1000);
  assert.equal(latencies.typical("write"), undefined);
  for (let i = 1; i <= 100; i++) {
    const later = latencies.add(i);
    if (i % 2 === 0) later("durable", i * 10);
  }
  assert.deepEqual(latencies.typical("write"), {
    count: 100,
    p50: 51,
    p99: 100,
  });
  assert.deepEqual(latencies.typical("durable"), {
    count: 50,
    p50: 520,
    p99: 1000,
  });
  assert.equal(latencies.typical("synced"), undefined);
});

Deno.test("formatMs() gives people a unit and few figures", () => {
  assert.equal(formatMs(0), "< 0.1 ms");
  assert.equal(formatMs(0.0004), "1 µs");
  assert.equal(formatMs(0.0126), "13 µs");
  assert.equal(formatMs(3.14159), "3.14 ms");
  assert.equal(formatMs(12345), "12.3 s");
});

Deno.test("heightOf() spans 10 µs to 10 s and stays within", () => {
  assert.equal(heightOf(0), 0);
  assert.equal(heightOf(0.01), 0);
  assert.equal(heightOf(10_000), 1);
  assert.equal(heightOf(1e9), 1);
  assert.ok(Math.abs(heightOf(10) - 0.5) < 1e-9);
});
