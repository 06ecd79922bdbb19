import assert from "node:assert/strict";
import type { World } from "../src/base/world.ts";
import { limits } from "../src/base/limits.ts";
import { Place } from "../tests/kit/replica_place.ts";
import { withAnswers } from "../tests/kit/with_answers.ts";
import { ChannelKnowledge } from "./channel_knowledge.ts";
import { noLives } from "./resume.ts";
import type { ClientConversation } from "./client_conversation.ts";
import type { Driver } from "./driver.ts";

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
  const knowledge = new ChannelKnowledge({
    ...{ port, world },
    ...{ due: () => {}, lives: () => noLives },
  });
  knowledge.noteOpened(new Uint8Array(16).fill(1));
  knowledge.noteAcked(chain, count);
  return { place, chain, count, time, knowledge };
}

Deno.test("an older count of nothing unsent does not stand when more was written", async () => {
  const { place, knowledge } = await start();
  assert.equal(knowledge.unsent(false).commits, 0);
  await place.write("b", "1");
  assert.equal(knowledge.unsent(false).commits, 1);
});

Deno.test("what a refusal says is counted at once", async () => {
  const { chain, count, knowledge } = await start();
  assert.equal(knowledge.unsent(false).commits, 0);
  knowledge.noteRefused(chain, count - 3);
  assert.equal(knowledge.unsent(false).commits, 3);
});

Deno.test("a server that begins a new epoch may lack what another acknowledged: unsent until it is there, synced all the same", async () => {
  const { chain, count, knowledge } = await start();
  knowledge.noteOpened(new Uint8Array(16).fill(1));
  assert.equal(knowledge.unsent(false).commits, 0);
  knowledge.noteOpened(new Uint8Array(16).fill(2));
  assert.equal(knowledge.unsent(false).commits, count);
  assert.equal(knowledge.acknowledged(chain), count);
});

Deno.test("a count that is put off waits whole milliseconds", async () => {
  const { place, knowledge, time } = await start();
  knowledge.noteOpened(new Uint8Array(16).fill(2));
  assert.ok(knowledge.unsent(false).commits > 0);
  await place.write("b", "1");
  time.nowMs += limits.countMs - 1e-9;
  knowledge.unsent(false);
  assert.deepEqual(time.waits, [1]);
});

Deno.test("while what is void is written again an older count stands", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  const real = place.replica.port();
  const answers = { isComplete: false };
  const port = withAnswers(real, answers);
  const world = place.world;
  const knowledge = new ChannelKnowledge({
    ...{ port, world },
    ...{ due: () => {}, lives: () => noLives },
  });
  assert.equal(knowledge.unsent(false).commits, 1);
  knowledge.noteReissued();
  for (const [chain, count] of real.vector()) knowledge.noteAcked(chain, count);
  assert.equal(knowledge.unsent(false).commits, 1);
  answers.isComplete = true;
  assert.equal(knowledge.unsent(false).commits, 0);
});

Deno.test("while what is void is written again an older count of nothing does not stand", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  const real = place.replica.port();
  const port = withAnswers(real, { isComplete: false });
  const { world } = place;
  const knowledge = new ChannelKnowledge({
    ...{ port, world },
    ...{ due: () => {}, lives: () => noLives },
  });
  const [[chain, count]] = [...real.vector()] as [[string, number]];
  knowledge.noteAcked(chain, count);
  assert.equal(knowledge.unsent(false).commits, 0);
  for (const id of ["b", "c", "d"]) await place.write(id, "1");
  knowledge.noteRefused(chain, count);
  knowledge.noteReissued();
  assert.equal(knowledge.unsent(false).commits, 3);
});

Deno.test("when all is quiet all of others is acknowledged, but what is being written again", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  const real = place.replica.port();
  const answers = { isComplete: false };
  const port = withAnswers(real, answers);
  const { world } = place;
  const knowledge = new ChannelKnowledge({
    ...{ port, world },
    ...{ due: () => {}, lives: () => noLives },
  });
  let isOwn = false;
  const core = {
    isQuiet: () => true,
    owns: () => isOwn,
    serverHas: () => 0,
    resumeState: () => undefined,
  };
  knowledge.attach({ core } as unknown as Driver<ClientConversation>);
  const [[chain, count]] = [...real.vector()] as [[string, number]];
  assert.equal(knowledge.acknowledged(chain), 0);
  answers.isComplete = true;
  assert.equal(knowledge.acknowledged(chain), count);
  isOwn = true; // Of those only a receipt says that.
  assert.equal(knowledge.acknowledged(chain), 0);
  knowledge.noteAcked(chain, count);
  assert.equal(knowledge.acknowledged(chain), count);
});
