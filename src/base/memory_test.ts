import { deepEqual, equal } from "node:assert/strict";
import { Memory, processHeap } from "./memory.ts";

Deno.test("Memory.isFull() counts what is needed, not what nobody has collected", () => {
  let garbage = 0.4;
  const heap = { used: () => 0.2 + garbage, collect: () => void (garbage = 0) };
  equal(new Memory(heap, () => 0).isFull(), false);
  equal(garbage, 0);
  const full = { used: () => 0.6, collect() {} };
  equal(new Memory(full, () => 0).isFull(), true);
});

Deno.test("Memory.isFull() collects a tenth of the time at most, and nothing while there is room", () => {
  let nowMs = 0;
  let used = 0.4;
  const collected: number[] = [];
  const collect = () => {
    collected.push(nowMs);
    nowMs += 100;
  };
  const memory = new Memory({ used: () => used, collect }, () => nowMs);
  memory.isFull();
  used = 0.6;
  for (let i = 0; i < 2_000; i++, nowMs++) memory.isFull();
  deepEqual(collected, [0, 1_100]);
});

Deno.test("processHeap frees what nobody needs", () => {
  let much: unknown = Array.from({ length: 1e6 }, (_, i) => [i]);
  const before = processHeap.used();
  equal(Array.isArray(much), true);
  much = undefined;
  processHeap.collect();
  equal(processHeap.used() < before, true);
});
