import assert from "node:assert/strict";
import type { World } from "../src/base/world.ts";
import { limits } from "../src/base/limits.ts";
import { Place } from "../tests/kit/replica_place.ts";
import { withAnswers } from "../tests/kit/with_answers.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { ServerKnowledge } from "./server_knowledge.ts";
import { UnsentCount } from "./unsent.ts";

function countOf(port: RepositoryPort, { world }: Place) {
  const server = new ServerKnowledge(port);
  return { server, unsent: new UnsentCount(port, server, world, () => {}) };
}

/** A place with so much in its log that it is not counted at each look, and a clock to set. */
async function start() {
  const place = await Place.open();
  for (let i = 0; i < 40; i++) await place.write(`a${i}`, "x".repeat(2_000));
  const port = place.replica.port();
  const [[chain, count]] = [...port.vector()] as [[string, number]];
  const time = { nowMs: 1_000, waits: [] as number[] };
  const world: World = {
    now: () => time.nowMs,
    monotonic: () => time.nowMs,
    random: (target) => target.fill(1),
    after: (delayMs) => {
      time.waits.push(delayMs);
      return () => {};
    },
  };
  const server = new ServerKnowledge(port);
  const unsent = new UnsentCount(port, server, world, () => {});
  server.opened(new Uint8Array(16).fill(1));
  server.acknowledge(chain, count);
  return { place, chain, count, time, server, unsent };
}

Deno.test("an older count of nothing unsent does not stand when more was written", async () => {
  const { place, unsent } = await start();
  assert.equal(unsent.look(false).commits, 0);
  await place.write("b", "1");
  assert.equal(unsent.look(false).commits, 1);
});

Deno.test("what a refusal says is counted at once", async () => {
  const { chain, count, server, unsent } = await start();
  assert.equal(unsent.look(false).commits, 0);
  server.refused(chain, count - 3);
  assert.equal(unsent.look(false).commits, 3);
});

Deno.test("a server that begins a new epoch may lack what another acknowledged: unsent until it is there, synced all the same", async () => {
  const { chain, count, server, unsent } = await start();
  server.opened(new Uint8Array(16).fill(1));
  assert.equal(unsent.look(false).commits, 0);
  server.opened(new Uint8Array(16).fill(2));
  assert.equal(unsent.look(false).commits, count);
  assert.equal(server.acknowledged(chain), count);
});

Deno.test("a count that is put off waits whole milliseconds", async () => {
  const { place, server, unsent, time } = await start();
  server.opened(new Uint8Array(16).fill(2));
  assert.ok(unsent.look(false).commits > 0);
  await place.write("b", "1");
  time.nowMs += limits.countMs - 1e-9;
  unsent.look(false);
  assert.deepEqual(time.waits, [1]);
});

Deno.test("while what is void is written again an older count stands", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  const real = place.replica.port();
  const answers = { isComplete: false };
  const port = withAnswers(real, answers);
  const { server, unsent } = countOf(port, place);
  assert.equal(unsent.look(false).commits, 1);
  unsent.noteReissued();
  for (const [chain, count] of real.vector()) server.acknowledge(chain, count);
  assert.equal(unsent.look(false).commits, 1);
  answers.isComplete = true;
  assert.equal(unsent.look(false).commits, 0);
});

Deno.test("while what is void is written again an older count of nothing does not stand", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  const real = place.replica.port();
  const port = withAnswers(real, { isComplete: false });
  const { server, unsent } = countOf(port, place);
  const [[chain, count]] = [...real.vector()] as [[string, number]];
  server.acknowledge(chain, count);
  assert.equal(unsent.look(false).commits, 0);
  for (const id of ["b", "c", "d"]) await place.write(id, "1");
  server.refused(chain, count);
  unsent.noteReissued();
  assert.equal(unsent.look(false).commits, 3);
});

Deno.test("what the server lacks is counted in commits, bytes and age, from any start of a record", async () => {
  const place = await Place.open();
  const port = place.replica.port();
  const { server, unsent } = countOf(port, place);
  const look = (uploadedTo = 0) => {
    const { commits } = port;
    server.reached({ cursor: undefined, uploadedTo, commits }, false);
    return unsent.look(true);
  };
  const none = { commits: 0, bytes: 0, oldest: undefined };
  assert.deepEqual(look(), none);
  await place.write("a", "1");
  const known = port.shareable;
  await place.write("b", "2");
  await place.write("c", "3");
  const all = look();
  assert.equal(all.commits, 3);
  assert.ok(all.bytes > 100);
  assert.equal(all.oldest?.getTime(), place.world.now());
  assert.equal(look(), all);
  assert.equal(look(known).commits, 2);
  assert.equal(look(known + 1).commits, 3, "no start: from the beginning");
  const [chain = ""] = port.vector().keys();
  server.has.set(chain, 2);
  assert.equal(look().commits, 1);
  server.acknowledge(chain, 3);
  assert.deepEqual(look(), none);
});
