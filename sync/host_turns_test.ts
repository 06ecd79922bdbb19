import assert from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { ManualWorld } from "../tests/kit/replica_place.ts";
import { Turns } from "./host_turns.ts";

/** A world in which looking at the clock takes time. */
class TiringWorld extends ManualWorld {
  #spent = 0;
  override monotonic(): number {
    return super.monotonic() + (this.#spent += limits.fanOutMsMax / 4);
  }
}

Deno.test("tasks run at once as far as a turn goes, the others later, each once", () => {
  const world = new TiringWorld();
  const turns = new Turns(world);
  const ran: number[] = [];
  const tasks = Array.from({ length: 40 }, (_, i) => () => void ran.push(i));
  turns.add(tasks);
  assert.ok(ran.length > 0 && ran.length < 40);
  turns.add(tasks.slice(39));
  turns.delete(tasks[38]!);
  while (world.timers > 0) world.advance(0);
  const left = tasks.map((_, i) => i).filter((i) => i !== 38);
  assert.deepEqual(ran, left);
});

Deno.test("what is added while tasks run is run too", () => {
  const turns = new Turns(new ManualWorld());
  const ran: string[] = [];
  const second = () => void ran.push("second");
  turns.add([() => {
    ran.push("first");
    turns.add([second]);
  }]);
  assert.deepEqual(ran, ["first", "second"]);
});
