/**
 * The key-value face beside a plain `Map` and a clock by hand: whatever is
 * written, waited for, closed and opened again, both answer alike.
 */

import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import type { KvChange, KvValue } from "../src/kv/mod.ts";
import { ManualWorld } from "./kit/replica_place.ts";
import { sized } from "./kit/tier.ts";
import { Device } from "./kv_device.ts";
import {
  type Command,
  commandIn,
  compare,
  compareAll,
  Oracle,
  run,
} from "./kv_oracle.ts";

Deno.test("a store is what a Map with a clock is, over waits, restarts, checkpoints and other devices", async () => {
  const property = async (commands: Command[]) => {
    const world = new ManualWorld();
    const oracle = new Oracle(world);
    let mine = await new Device(world).open();
    let other = await new Device(world).open();
    for (const command of commands) {
      world.advance(command.what === "wait" ? command.ms : 1);
      if (command.what === "reopen") {
        await mine.close();
        await mine.open();
      } else if (command.what === "checkpoint") await mine.checkpoint();
      else if (command.what === "other") {
        await mine.tell(other);
        await other.tell(mine);
        [mine, other] = [other, mine];
      } else run(command, mine.kv, oracle);
      compare(mine.kv, oracle);
    }
    compareAll(mine.kv, oracle);
    await mine.tell(other);
    compareAll(other.kv, oracle);
    await mine.close();
    await other.close();
  };
  const commands = fc.array(commandIn, { maxLength: 25 });
  await fc.assert(fc.asyncProperty(commands, property), {
    seed: 7,
    numRuns: sized(50, 1_500),
  });
});

Deno.test("who listens can keep a copy: every change is told once, with what was there before", async () => {
  const property = async (commands: Command[]) => {
    const world = new ManualWorld();
    const oracle = new Oracle(world);
    const { kv, close } = await open(world);
    const copy = new Map<string, KvValue>();
    const follow = (changes: readonly KvChange[]) => {
      for (const { key, value, before, why } of changes) {
        deepEqual(before, copy.get(key));
        equal(why === "set", value !== undefined);
        if (value === undefined) copy.delete(key);
        else copy.set(key, value);
      }
    };
    using _all = kv.subscribe({}, follow);
    for (const command of commands) {
      run(command, kv, oracle);
      if (command.what === "wait") {
        // Timers are looked at once a minute at least.
        for (let ms = command.ms; ms > 0; ms -= 6e8) {
          world.advance(Math.min(ms, 6e8));
        }
      }
      // What a read found expired is told by the timer.
      world.advance(0);
      deepEqual([...copy].sort(byKey), oracle.all);
      compareAll(kv, oracle);
    }
    await close();
    equal(world.timers, 0);
  };
  const commands = fc.array(commandIn, { maxLength: 30 });
  await fc.assert(fc.asyncProperty(commands, property), {
    seed: 7,
    numRuns: sized(50, 1_500),
  });
});

function byKey([a]: [string, KvValue], [b]: [string, KvValue]): number {
  return a < b ? -1 : 1;
}

async function open(world: ManualWorld) {
  const device = await new Device(world).open();
  return { kv: device.kv, close: () => device.close() };
}

Deno.test("a clock that is set back gives back what had expired, in scans as in reads", async () => {
  const property = async (steps: (Command | number)[]) => {
    const world = new ManualWorld();
    const oracle = new Oracle(world);
    const { kv, close } = await open(world);
    for (const step of steps) {
      if (typeof step === "number") world.time += step;
      else run(step, kv, oracle);
      compare(kv, oracle);
      compareAll(kv, oracle);
    }
    await close();
  };
  const steps = fc.array(
    fc.oneof(
      { weight: 2, arbitrary: commandIn },
      fc.integer({ min: -120, max: 120 }),
    ),
    { maxLength: 30 },
  );
  await fc.assert(fc.asyncProperty(steps, property), {
    seed: 7,
    numRuns: sized(50, 1_500),
  });
});
