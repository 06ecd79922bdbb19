import { deepEqual, equal, ok } from "node:assert/strict";
import { relayDoor } from "../repo/admission/serving_door.ts";
import { listCheckpoints } from "../repo/checkpoint/files.ts";
import { digestOf } from "../tests/kit/digest.ts";
import { ManualWorld, Place, turns } from "../tests/kit/replica_place.ts";
import { BorrowedItems, ITEMS_IDLE_MS } from "./borrowed_items.ts";

/** A relay with what an author wrote, and the author. */
async function start() {
  const world = new ManualWorld();
  const author = await Place.open({ world, seed: 1 });
  for (let i = 0; i < 20; i++) await author.write(`n${i % 7}`, `text ${i}`);
  const options = { seed: 9, door: relayDoor, isUnasked: true };
  const relay = await Place.open({ world, ...options });
  relay.replica.receive(await author.arrivals());
  await relay.replica.durable();
  const items = new BorrowedItems(world);
  const isThere = () => relay.replica.loaded.items.folded !== undefined;
  return { world, author, relay, items, isThere };
}

/** Time goes by, and what is due is done. */
async function pass(world: ManualWorld, ms: number): Promise<void> {
  world.advance(ms);
  for (let i = 0; i < 5; i++) {
    await turns(50);
    await new Promise((resolve) => setImmediate(resolve));
    world.advance(0); // A checkpoint lets others in between.
  }
}

Deno.test("a relay's items go when nobody has borrowed them for a while, and are folded from a checkpoint again", async () => {
  const { world, author, relay, items, isThere } = await start();
  deepEqual(digestOf(items.of(relay.replica)), digestOf(author.replica.state));
  await pass(world, ITEMS_IDLE_MS - 1);
  ok(isThere());
  items.of(relay.replica);
  await pass(world, ITEMS_IDLE_MS - 1);
  ok(isThere(), "somebody has asked since");
  await author.write("late", "1");
  relay.replica.receive(await author.arrivals());
  await pass(world, 1);
  equal(isThere(), false);
  const names = listCheckpoints(relay.storage.list(relay.folder));
  ok(names.some((name) => name.startsWith("checkpoint")), names.join());
  await author.write("later", "2");
  relay.replica.receive(await author.arrivals());
  equal(isThere(), false);
  deepEqual(digestOf(items.of(relay.replica)), digestOf(author.replica.state));
  ok(relay.replica.loaded.items.base, "the checkpoint is read");
  await pass(world, ITEMS_IDLE_MS);
  equal(isThere(), false, "again and again");
  await relay.replica.close();
  equal(world.timers, 0);
});

Deno.test("items that somebody keeps stay, and follow", async () => {
  const { world, author, relay, items, isThere } = await start();
  items.of(relay.replica);
  const { state } = relay.replica;
  await pass(world, 2 * ITEMS_IDLE_MS);
  ok(isThere());
  await author.write("late", "1");
  relay.replica.receive(await author.arrivals());
  deepEqual(digestOf(state), digestOf(author.replica.state));
  await relay.replica.close();
});

Deno.test("a repository that is closed, or a server, is not asked for its items", async () => {
  const { world, relay, items } = await start();
  items.of(relay.replica);
  await relay.replica.close();
  await pass(world, ITEMS_IDLE_MS);
  const other = await start();
  other.items.of(other.relay.replica);
  other.items.close();
  other.items.of(other.relay.replica);
  await pass(other.world, 2 * ITEMS_IDLE_MS);
  ok(other.isThere());
  await other.relay.replica.close();
});

Deno.test("a timer that comes too early by a hair is set again for a later moment", async () => {
  const { world, relay } = await start();
  let nowMs = 0;
  const set: { delayMs: number; task: () => void }[] = [];
  const items = new BorrowedItems({
    monotonic: () => nowMs,
    after: (delayMs, task) => {
      set.push({ delayMs, task });
      return () => {};
    },
  });
  items.of(relay.replica);
  nowMs = ITEMS_IDLE_MS - 1e-9;
  set[0]!.task();
  equal(set[1]!.delayMs, 1);
  await relay.replica.close();
  equal(world.timers, 0);
});
