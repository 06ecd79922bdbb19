import assert from "node:assert/strict";
import { Unloaded } from "../src/base/late.ts";
import { limits } from "../src/base/limits.ts";
import { ManualWorld, turns } from "../tests/kit/replica_place.ts";
import type { Input, Output } from "./conversation.ts";
import { Driver, type DriverEvents } from "./driver.ts";
import { memoryWire } from "./transport/memory_transport.ts";
import type { TransportEnd } from "./transport/transport.ts";

const frame = (...bytes: number[]): Output => ({
  do: "send",
  frame: Uint8Array.from(bytes),
});
const live = { do: "tell", event: { tell: "live", name: "a" } } as Output;

/** A conversation that says what it is told to. */
class Script {
  readonly inputs: Input["is"][] = [];
  ended = 0;
  constructor(readonly answer: (input: Input) => Output[]) {}
  step(input: Input): Output[] {
    this.inputs.push(input.is);
    return this.answer(input);
  }
  end(): void {
    this.ended++;
  }
}

function start(
  answer: (input: Input) => Output[],
  tell = () => {},
  more: Pick<DriverEvents, "sign" | "ready"> = {},
) {
  const world = new ManualWorld();
  const wire = memoryWire();
  const got: string[] = [];
  const ends: TransportEnd[] = [];
  wire.ends[1].listen({
    frame: (bytes) => got.push([...bytes].join()),
    ended: ({ code }) => got.push(code),
  });
  const core = new Script(answer);
  const faults: unknown[] = [];
  const driver = new Driver(core, wire.ends[0], world, {
    tell,
    ended: (end) => ends.push(end),
    broke: (error) => faults.push(error),
    ...more,
  });
  return { world, wire, got, ends, core, driver, faults };
}

Deno.test("what is asked while a conversation speaks waits for its turn", async () => {
  const { driver, got } = start(
    () => [frame(1), live, frame(2)],
    () => driver.run(() => [frame(3)]),
  );
  driver.start();
  await turns();
  assert.deepEqual(got, ["1", "2", "3"]);
});

Deno.test("a signature goes back in, whenever it comes, and a key that fails ends the connection", async () => {
  for (const how of ["at once", "later", "never", "too late"]) {
    const { driver, got, core, faults, wait } = signing(how);
    driver.start();
    if (how === "too late") driver.close("closed", "No longer wanted");
    await wait();
    const isSigned = how === "at once" || how === "later";
    assert.deepEqual(core.inputs, isSigned ? ["begin", "signed"] : ["begin"]);
    const after = isSigned ? ["2"] : [];
    const end = { never: ["internal"], "too late": ["closed"] }[how] ?? [];
    assert.deepEqual(got, ["1", ...after, ...end], how);
    assert.equal(faults.length, how === "never" ? 1 : 0);
  }
});

/** A driver whose conversation has something signed between two frames. */
function signing(how: string) {
  const message = Uint8Array.of(9);
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const sign = (asked: Uint8Array) => {
    assert.equal(asked, message);
    return how === "at once" ? Uint8Array.of(2) : promise;
  };
  const started = start(
    (input) =>
      input.is === "signed"
        ? [frame(...input.signature)]
        : [frame(1), { do: "sign", message }],
    () => {},
    { sign },
  );
  const wait = async () => {
    if (how === "never") reject(new Error("The key is gone"));
    else resolve(Uint8Array.of(2));
    await turns();
  };
  return { ...started, wait };
}

Deno.test("the last wake counts, and none is left after the end", async () => {
  const { driver, world, core } = start(({ is }) =>
    is === "begin"
      ? [{ do: "wake", afterMs: 5 }, { do: "wake", afterMs: 50 }]
      : []
  );
  driver.start();
  world.advance(10);
  assert.deepEqual(core.inputs, ["begin"]);
  world.advance(40);
  assert.deepEqual(core.inputs, ["begin", "time"]);
  driver.run(() => [{ do: "wake", afterMs: 5 }]);
  driver.close("timeout", "");
  await turns();
  assert.equal(world.timers, 0);
  assert.equal(core.ended, 1);
});

Deno.test("a deadline that is a fraction away passes with the next wake", () => {
  const { driver, world, core } = start(({ is }) =>
    is === "begin" ? [{ do: "wake", afterMs: 3e-12 }] : []
  );
  driver.start();
  world.advance(0);
  assert.deepEqual(core.inputs, ["begin"]);
  world.advance(1);
  assert.deepEqual(core.inputs, ["begin", "time"]);
});

Deno.test("a close sends what was said before, and nothing after", async () => {
  const { driver, got, ends } = start(() => [
    frame(1),
    { do: "close", code: "too-slow", detail: "x" },
    frame(2),
  ]);
  driver.start();
  driver.run(() => [frame(3)]);
  await turns();
  assert.deepEqual(got, ["1", "too-slow"]);
  assert.deepEqual(ends, [{ code: "too-slow", detail: "x" }]);
});

Deno.test("a fault of ours ends one connection and is told", async () => {
  const { driver, got, ends, faults } = start(({ is }) => {
    if (is === "frame") throw new TypeError("oops");
    return [];
  });
  driver.start();
  await turns();
  driver.run(() => []);
  driver.run((core) =>
    core.step({
      is: "frame",
      bytes: new Uint8Array(),
      nowMs: 0,
      monotonicMs: 0,
    })
  );
  await turns();
  assert.equal((faults[0] as Error).message, "oops");
  assert.deepEqual(ends, [{ code: "internal", detail: "oops" }]);
  assert.deepEqual(got, ["internal"]);
});

Deno.test("what comes before the code that it takes ends the connection, and is no fault", async () => {
  const { driver, got, ends, faults } = start(() => {
    throw new Unloaded(() => Promise.resolve());
  });
  driver.start();
  await turns();
  assert.deepEqual(got, ["internal"]);
  assert.deepEqual([ends.length, faults.length], [1, 0]);
});

Deno.test("who does not read what is said is closed before memory fills", () => {
  const { driver, wire, ends } = start(() => []);
  wire.hold(0);
  driver.start();
  const big: Output = {
    do: "send",
    frame: new Uint8Array(limits.frameBytesMax),
  };
  for (let i = 0; i < 20; i++) driver.run(() => [big]);
  assert.equal(ends[0]?.code, "too-slow");
  const { buffered } = wire.ends[0];
  assert.ok(buffered <= limits.bufferedBytesMax + limits.frameBytesMax);
});

Deno.test("what a frame waits for holds back all that the wire brings behind it, its end too", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waits = [undefined, promise, undefined];
  const { wire, core, driver, ends } = start(() => [], () => {}, {
    ready: () => waits.shift(),
  });
  driver.start();
  const [, other] = wire.ends;
  for (let i = 0; i < 3; i++) other.send(Uint8Array.of(i));
  other.close("shutting-down", "");
  await turns();
  assert.deepEqual(core.inputs, ["begin", "frame"]);
  assert.deepEqual(ends, []);
  resolve();
  await turns();
  assert.deepEqual(core.inputs, ["begin", "frame", "frame", "frame"]);
  assert.deepEqual(ends.map(({ code }) => code), ["shutting-down"]);
});
