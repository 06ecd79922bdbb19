import assert from "node:assert/strict";
import { logStores } from "../repo/log/log_stores.ts";
import { equalBytes } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import {
  bareSession,
  certificateFor,
  ManualWorld,
  Place,
  SlowStorage,
} from "../tests/kit/replica_place.ts";
import {
  ClientSide,
  disks,
  ServerSide,
  Serving,
  Talk,
} from "../tests/kit/talk.ts";
import { encodeMessage } from "./message_codec.ts";
import { decodeResume, encodeResume, type ResumeState } from "./resume.ts";
import { features } from "./message.ts";

type ChannelOptions = ConstructorParameters<typeof ServerSide>[3];
type ClientSideOptions = ConstructorParameters<typeof ClientSide>[3];

interface Options {
  readonly resume?: ResumeState | undefined;
  readonly channel?: ChannelOptions;
  readonly client?: ClientSideOptions;
}

function talk(serving: Serving, place: Place, options: Options = {}): Talk {
  const world = place.world as ManualWorld;
  const server = new ServerSide(world, serving, {}, options.channel);
  const client = new ClientSide(world, place, options.resume, options.client);
  return new Talk(world, server, client);
}

async function start() {
  const world = new ManualWorld();
  const serving = await Serving.open(world);
  const place = await Place.open({ world, seed: 1 });
  return { world, serving, place };
}

function assertSame(a: Place, b: Place): void {
  assert.deepEqual(a.replica.graph.summary(), b.replica.graph.summary());
  assert.ok(a.replica.graph.commits > 0);
}

Deno.test("a conversation makes both sides equal, says so, and is quiet then", async () => {
  const { serving, place } = await start();
  await place.write("a", "1");
  await serving.place.write("b", "2");
  const both = talk(serving, place);
  await both.settle();
  await both.pass(limits.witnessMs);
  assertSame(place, serving.place);
  assert.equal(both.client.ended, undefined);
  assert.equal(both.client.told("live").length, 1);
  assert.ok(both.client.told("equal").length > 0, "a moment of equality");
  assert.deepEqual(both.client.told("incident"), []);
  assert.deepEqual(both.client.told("quiet").at(-1)?.quiet, true);
  assert.ok(both.client.server.isQuiet);
  both.end();
});

Deno.test("what a client is going to ask of signatures it says before: of proofs, seals, credentials, receipts and witnesses", async () => {
  const { serving, place } = await start();
  await place.write("a", "1");
  await serving.place.write("b", "2");
  const both = talk(serving, place);
  await both.settle();
  await both.pass(limits.witnessMs);
  const { asked } = both.client;
  assert.ok(asked.length >= 6, "two of the welcome, one of each other kind");
  const domains = new Set(asked.map(({ message }) => domainOf(message)));
  for (
    const said of ["prove server", "seal", "certificate", "receipt", "witness"]
  ) assert.ok(domains.has(`sheaf ${said}`), said);
  assert.equal(both.client.isSurprised, false);
  assert.deepEqual(both.client.told("incident"), []);
  both.end();
});

/** For whom something was signed. */
function domainOf(message: Uint8Array): string {
  const [text] = new TextDecoder("latin1").decode(message).split(/ \d+\n/);
  return text!;
}

Deno.test("a single commit travels at once in a live conversation, and is acknowledged", async () => {
  const { serving, place } = await start();
  const both = talk(serving, place);
  await both.settle();
  await place.write("a", "1");
  await disks();
  assert.deepEqual(both.client.messages.map(({ is }) => is), ["records"]);
  await both.settle();
  assert.equal(both.client.told("acked").at(-1)?.count, 1);
  await serving.place.write("b", "2");
  await disks();
  assert.equal(both.server.messages[0]?.is, "records");
  both.end();
});

Deno.test("a server says neither that it took a commit nor what it is before it could not lose it", async () => {
  const world = new ManualWorld();
  const storage = new SlowStorage();
  const before = await Place.open({ world, storage });
  await before.replica.close();
  const serving = await Serving.open(world, before);
  const place = await Place.open({ world, seed: 1 });
  const other = await Place.open({ world, seed: 2 });
  const talks = [talk(serving, place), talk(serving, other)] as const;
  const [own] = talks;
  for (const each of talks) await each.settle();
  storage.isSlow = true;
  await place.write("a", "1");
  for (const each of talks) await each.settle();
  assert.equal(serving.place.text("a"), "1", "it came");
  assert.ok(storage.waiting > 0);
  assert.deepEqual(own.client.told("acked"), []);
  assert.ok(!own.client.server.isQuiet);
  assert.equal(other.text("a"), undefined);
  storage.isSlow = false;
  storage.finish();
  for (const each of talks) await each.settle();
  assert.equal(own.client.told("acked").at(-1)?.count, 1);
  assert.equal(other.text("a"), "1");
  for (const each of talks) each.end();
});

Deno.test("what was sent and not acknowledged when the wire broke is sent again", async () => {
  const { serving, place } = await start();
  await place.write("a", "1");
  const first = talk(serving, place);
  await first.settle();
  await place.write("b", "2");
  await place.write("c", "3");
  await disks();
  assert.deepEqual(first.client.messages.map(({ is }) => is), [
    "records",
    "records",
  ]);
  first.client.sent = []; // The wire takes them along.
  const { resume } = first.client;
  first.end();
  const second = talk(serving, place, { resume });
  await second.settle();
  assertSame(place, serving.place);
  assert.equal(serving.place.text("c"), "3");
  second.end();
});

Deno.test("a client keeps no cursor behind what is not durable here", async () => {
  const world = new ManualWorld();
  const storage = new SlowStorage();
  const serving = await Serving.open(world);
  const place = await Place.open({ world, seed: 1, storage });
  const both = talk(serving, place);
  await both.settle();
  const before = both.client.resume?.cursor?.position;
  storage.isSlow = true;
  await serving.place.write("a", "1");
  await both.settle();
  assert.equal(place.text("a"), "1", "it is there, and not durable");
  assert.equal(both.client.resume?.cursor?.position, before);
  storage.isSlow = false;
  storage.finish();
  await both.settle();
  const { shareable } = serving.place.replica.port();
  assert.equal(both.client.resume?.cursor?.position, shareable);
  both.end();
});

Deno.test("resuming with nothing new takes 150 bytes each way at most", async () => {
  const { serving, place } = await start();
  for (let i = 0; i < 20; i++) await place.write(`a${i}`, "1");
  const first = talk(serving, place);
  await first.settle();
  await first.pass(limits.witnessMs);
  const kept = encodeResume(first.client.resume!);
  first.end();
  const second = talk(serving, place, { resume: decodeResume(kept) });
  await second.flight();
  const sizes: Record<string, number> = {};
  for (const message of second.server.messages) {
    sizes[message.is] = encodeMessage(message).length;
    if (message.is === "opened") {
      assert.equal(message.vector, undefined, "the cursor stands");
    }
  }
  assert.ok(sizes.opened! + sizes.live! <= 150, JSON.stringify(sizes));
  assert.equal(sizes.records, undefined, "nothing is sent twice");
  const up = second.bytes.up - proveBytes(second);
  assert.ok(up <= 150, `open takes ${up} bytes`);
  assert.equal(second.flights, 1);
  await second.settle();
  assert.equal(second.client.told("live").length, 1);
  second.end();
});

function proveBytes({ client }: Talk): number {
  const certificates = [client.place.replica.session.certificate!];
  const [nonce, signature] = [new Uint8Array(32), new Uint8Array(64)];
  const { windowBytes: window } = limits;
  const prove = { nonce, window, certificates, signature };
  return encodeMessage({ is: "prove", ...features, ...prove }).length;
}

Deno.test("a thousand offline edits on both sides take two round trips", async () => {
  const { serving, place } = await start();
  const first = talk(serving, place);
  await first.settle();
  await first.pass(limits.witnessMs);
  const resume = first.client.resume;
  first.end();
  for (let i = 0; i < 1_000; i++) {
    void place.write(`a${i}`, "offline");
    void serving.place.write(`b${i}`, "offline");
  }
  await place.replica.durable();
  await serving.place.replica.durable();
  const second = talk(serving, place, { resume });
  await second.flight();
  await second.flight();
  await disks();
  for (const frame of second.server.take()) second.client.frame(frame);
  await disks();
  assert.equal(second.flights, 2);
  assertSame(place, serving.place);
  await second.settle();
  assert.ok(second.client.server.isQuiet);
  second.end();
});

Deno.test("a server that lost its log is rebuilt by vector, and given the proof of what there was", async () => {
  const { world, serving, place } = await start();
  for (let i = 0; i < 10; i++) await place.write(`a${i}`, "1");
  await serving.place.write("server", "1");
  const first = talk(serving, place);
  await first.settle();
  await first.pass(limits.witnessMs);
  const resume = first.client.resume;
  first.end();
  const fresh = await Serving.open(world);
  const second = talk(fresh, place, { resume });
  await second.settle();
  await second.pass(limits.witnessMs);
  assertSame(place, fresh.place);
  const [proof] = second.server.told("proof");
  assert.ok(proof !== undefined, "the client proves what there was");
  assert.equal(proof.witness.commits, 11);
  assert.deepEqual(second.client.told("incident"), []);
  second.end();
});

Deno.test("a client that was away while the server wrote gets only what is new", async () => {
  const { serving, place } = await start();
  for (let i = 0; i < 200; i++) void place.write(`a${i}`, "x".repeat(100));
  await place.replica.durable();
  const first = talk(serving, place);
  await first.settle();
  await first.pass(limits.witnessMs);
  const resume = first.client.resume;
  first.end();
  await serving.place.write("new", "1");
  const second = talk(serving, place, { resume });
  await second.settle();
  assertSame(place, serving.place);
  assert.ok(second.bytes.down < 2_000, `${second.bytes.down} bytes`);
  assert.ok(second.bytes.up < 1_000, `${second.bytes.up} bytes`);
  second.end();
});

Deno.test("a client hears how much of what it lacked has come, up to all of it", async () => {
  const { serving, place } = await start();
  for (let i = 0; i < 40; i++) {
    await serving.place.write(`a${i}`, "x".repeat(20_000));
  }
  const both = talk(serving, place);
  await both.settle();
  assertSame(place, serving.place);
  const told = both.client.told("progress");
  assert.ok(told.length > 1, `${told.length} times`);
  const done = told.map((progress) => progress.done);
  assert.deepEqual(done, done.toSorted((a, b) => a - b));
  assert.deepEqual(told.at(-1), {
    tell: "progress",
    name: place.replica.port().name,
    done: 40,
    total: 40,
  });
  both.end();
});

Deno.test("a commit of megabytes travels in parts, within the window", async () => {
  const { serving, place } = await start();
  const text = "0123456789".repeat(300_000);
  await place.write("large", text);
  const both = talk(serving, place);
  await both.flight();
  await both.flight();
  await disks();
  const kinds = both.client.messages.map(({ is }) => is);
  const bytes = both.client.sent.reduce((sum, { length }) => sum + length, 0);
  assert.ok(bytes <= limits.windowBytes + 1024, `${bytes} bytes at once`);
  await both.settle();
  assert.equal(serving.place.text("large"), text);
  assert.ok(kinds.length < 20);
  const other = await Place.open({ world: place.world, seed: 2 });
  const down = talk(serving, other);
  await down.settle();
  assert.equal(other.text("large"), text);
  assertSame(other, serving.place);
  both.end();
  down.end();
});

Deno.test("nothing is echoed to where it came from", async () => {
  const { serving, place } = await start();
  const both = talk(serving, place);
  await both.settle();
  for (let i = 0; i < 50; i++) {
    await place.write(`a${i}`, "1");
    await both.settle();
  }
  await both.pass(limits.witnessMs);
  const received = both.client.told("progress");
  assert.deepEqual(received, []);
  // A receipt, and what the order says.
  assert.ok(both.bytes.down < 50 * 220 + 2_000, `${both.bytes.down} bytes`);
  both.end();
});

Deno.test("an epoch that is new sends the client back to vectors, and nothing twice", async () => {
  const { world, serving, place } = await start();
  for (let i = 0; i < 100; i++) void place.write(`a${i}`, "x".repeat(200));
  await place.replica.durable();
  const first = talk(serving, place);
  await first.settle();
  const resume = first.client.resume;
  first.end();
  await serving.place.replica.durable();
  await serving.place.replica.close();
  logStores.epoch(serving.place.storage, serving.place.folder).end();
  const again = await Serving.open(world, serving.place);
  assert.ok(!equalBytes(again.order.epoch, serving.order.epoch));
  const second = talk(again, place, { resume });
  await second.settle();
  assertSame(place, again.place);
  assert.ok(second.bytes.up < 3_000, `${second.bytes.up} bytes up`);
  assert.ok(second.bytes.down < 3_000, `${second.bytes.down} bytes down`);
  second.end();
});

Deno.test("who has most of a chain is sent the rest of it alone, also by vector and in one batch", async () => {
  const { serving, place } = await start();
  for (let i = 0; i < 50; i++) {
    await serving.place.write(`a${i}`, "x".repeat(1_000));
  }
  const first = talk(serving, place);
  await first.settle();
  first.end();
  await serving.place.write("last", "1");
  await serving.place.replica.durable();
  const second = talk(serving, place); // Without what was kept.
  await second.settle();
  assert.equal(place.text("last"), "1");
  assert.ok(second.bytes.down < 2_000, `${second.bytes.down} bytes down`);
  second.end();
});

for (const mode of ["trusted", "fast"] as const) {
  Deno.test(`a conversation in ${mode} mode makes both sides equal, without a signature on a batch`, async () => {
    const world = new ManualWorld();
    const serving = await Serving.open(world, undefined, mode);
    const place = await Place.open({ world, seed: 1, mode });
    await place.write("a", "1");
    await serving.place.write("b", "2");
    await disks();
    const both = talk(serving, place);
    await both.settle();
    await both.pass(limits.witnessMs);
    await both.pass(limits.witnessMs);
    assert.equal(place.text("b"), "2");
    assert.equal(serving.place.text("a"), "1");
    assert.deepEqual(both.client.told("incident"), []);
    assert.ok(both.client.told("equal").length > 0);
    both.end();
  });
}

Deno.test("repositories of different modes are declined, and nothing of them is exchanged", async () => {
  for (
    const [here, there] of [["default", "trusted"], [
      "fast",
      "default",
    ]] as const
  ) {
    const world = new ManualWorld();
    const serving = await Serving.open(world, undefined, there);
    const place = await Place.open({ world, seed: 1, mode: here });
    await place.write("a", "1");
    await serving.place.write("b", "2");
    await disks();
    const both = talk(serving, place);
    await both.settle();
    assert.equal(both.client.told("declined")[0]?.code, "mode-mismatch");
    assert.equal(both.server.told("closed").length, 1);
    assert.equal(serving.place.text("a"), undefined);
    assert.equal(place.text("b"), undefined);
    assert.equal(both.client.ended, undefined);
    both.end();
  }
});

Deno.test("a server that holds credit back lets a client go on as fast as it grants, and no faster", async () => {
  const { world, serving, place } = await start();
  for (let i = 0; i < 40; i++) await place.write(`a${i}`, "x".repeat(100_000));
  const server = new ServerSide(world, serving, { holdsCredit: true });
  const both = new Talk(world, server, new ClientSide(world, place));
  await both.settle();
  const first = serving.place.replica.graph.commits;
  assert.ok(first > 0 && first < 12, `${first} commits`);
  assert.equal(both.client.ended, undefined, "a client waits for credit");
  for (let i = 0; i < 20; i++) {
    server.perform(server.core.grant(server.core.ungranted));
    await both.settle();
  }
  assertSame(place, serving.place);
  both.end();
});

Deno.test("a goodbye ends a conversation with the time to stay away, which is bounded", async () => {
  const { serving, place } = await start();
  const both = talk(serving, place);
  await both.settle();
  both.server.perform(both.server.core.goodbye(10 ** 12));
  await both.settle();
  assert.equal(both.client.told("goodbye")[0]?.waitMs, limits.goodbyeMsMax);
  assert.equal(both.client.ended?.code, "shutting-down");
  assert.equal(both.server.ended?.code, "shutting-down");
  both.end();
});

Deno.test("a connection ends when the client's certificate has run out, and not before", async () => {
  const { world, serving } = await start();
  const bare = bareSession(1);
  const lastMs = 2.5 * limits.heartbeatMs;
  const notAfter = world.now() + lastMs;
  const certificate = certificateFor(bare, undefined, false, notAfter);
  const session = { ...bare, certificate };
  const place = await Place.open({ world, seed: 1, session });
  const both = talk(serving, place);
  await both.settle();
  const begunMs = world.monotonic();
  while (both.server.ended === undefined) {
    assert.ok(world.monotonic() < begunMs + 2 * lastMs, "it ends");
    await both.pass(both.server.wakeMs - world.monotonic());
  }
  assert.equal(both.server.ended.code, "expired-session");
  assert.equal(world.monotonic(), begunMs + lastMs + 1);
  both.end();
});
