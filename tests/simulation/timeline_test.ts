/**
 * Virtual time: what runs between two events, and what has no end.
 */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { Timeline } from "./timeline.ts";

Deno.test("runUntil() runs an event when no promise of the last one can go on", async () => {
  const timeline = new Timeline();
  const done: string[] = [];
  const slowly = async () => {
    for (let turn = 0; turn < 5_000; turn++) await undefined;
    done.push(`promise at ${timeline.nowMs}`);
  };
  timeline.after(1, () => void slowly());
  timeline.after(2, () => done.push(`event at ${timeline.nowMs}`));
  await timeline.runUntil(10);
  deepEqual(done, ["promise at 1", "event at 2"]);
  equal(timeline.nowMs, 10);
});

Deno.test("settle() lets no more time pass than a promise needs", async () => {
  const timeline = new Timeline();
  const { promise, resolve } = Promise.withResolvers<string>();
  timeline.after(3, () => resolve("settled"));
  timeline.after(4, () => {
    throw new Error("nobody waits for this");
  });
  equal(await timeline.settle(promise), "settled");
  equal(timeline.nowMs, 3);
});

Deno.test("settle() rejects when a promise waits for nothing", async () => {
  const never = new Promise(() => {});
  await rejects(new Timeline().settle(never), /waits for nothing/);
});

Deno.test("runUntil() rejects with what an event throws", async () => {
  const timeline = new Timeline();
  timeline.after(1, () => {
    throw new RangeError("thrown");
  });
  await rejects(timeline.runUntil(2), RangeError);
});

Deno.test("runUntil() ends a loop at one moment, and one that goes on for ever", async () => {
  for (
    const [stepMs, message] of [[0, /^Error: livelock/], [
      1,
      /^Error: endless/,
    ]] as const
  ) {
    const timeline = new Timeline();
    const again = () => void timeline.after(stepMs, again);
    again();
    await rejects(timeline.runUntil(Infinity), message);
  }
});
