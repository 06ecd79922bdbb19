/**
 * Own edits that lost: what is told is what somebody finds who replays the whole
 * log and keeps of each commit the set of all its ancestors.
 */

import { deepEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import { faultyStorage, type Kept } from "./kit/mod.ts";
import { trips } from "./kit/patience.ts";
import { isTried, sized } from "./kit/tier.ts";
import { Oracle } from "./overwritten_oracle.ts";
import { Device, ticking } from "./undo_device.ts";

/** Takes all that the device tells. */
async function taken(device: Device): Promise<unknown[]> {
  const told: unknown[] = [];
  const end = device.cards.onOverwritten((edits) => {
    for (const edit of edits) {
      const { id, before, after } = edit;
      // Lists are looked at in tests of their own.
      if (edit.kind === "deleted") told.push({ place: id, before, after });
      else if (edit.field !== "steps") {
        const key = edit.key === undefined ? "" : `/${edit.key}`;
        told.push({ place: `${id} ${edit.field}${key}`, before, after });
      }
    }
  });
  await trips(6);
  end();
  await trips(2);
  return told;
}

const writing = fc.record({
  who: fc.nat(2),
  what: fc.nat(10),
  id: fc.constantFrom("a", "b"),
  size: fc.nat(3),
});
const happenings = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: writing },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        ...([[0, 1], [0, 2], [1, 0], [1, 0], [1, 2], [2, 0], [2, 1]] as const),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "reload" as const,
        "listen" as const,
        "checkpoint" as const,
      ),
    },
  ),
  { minLength: 20, maxLength: 60 },
);

function write(
  { cards }: Device,
  { who, what, id, size }: {
    who: number;
    what: number;
    id: string;
    size: number;
  },
  unique: number,
): void {
  if (what === 0) {
    if (cards.has(id)) cards.delete(id);
    return;
  }
  if (!cards.has(id)) {
    return void cards.create({ id, title: `new ${unique}`, steps: ["1", "2"] });
  }
  const changes = [
    { title: `${who} ${unique}` },
    { title: `same ${size}` },
    { rank: unique },
    { votes: { increment: 1 } },
    { tags: { add: [`t${size}`] } },
    { tags: { remove: [`t${size}`] } },
    { notes: { put: { [`k${size}`]: `${unique}` } } },
    { notes: { drop: [`k${size}`] } },
    { note: `${cards.get(id)!.note}${unique}` },
    { steps: { insert: [{ at: 0, value: `${unique}` }] } },
  ] as const;
  cards.update(id, changes[what - 1]!);
}

Deno.test("onOverwritten() tells what a replay of the log with all ancestors finds", async () => {
  await fc.assert(
    fc.asyncProperty(happenings, async (all) => {
      const world = ticking();
      const devices = [0, 1, 2].map(() => new Device(world));
      const me = devices[0]!;
      for (const device of devices) await device.open();
      for (const id of ["a", "b"]) me.cards.create({ id, steps: ["1", "2"] });
      for (const device of devices) if (device !== me) await me.tell(device);
      await taken(me); // From here on all is to be told.
      const oracle = new Oracle(me);
      let unique = 0;
      for (const one of all) {
        if (one === "reload") {
          await me.database.close();
          await me.open();
        } else if (one === "checkpoint") await me.repository.checkpoint();
        else if (one === "listen") {
          const told = await taken(me);
          await me.repository.durable();
          deepEqual(told.sort(byPlace), oracle.take().sort(byPlace));
        } else if ("who" in one) write(devices[one.who]!, one, ++unique);
        else await devices[one[0]]!.tell(devices[one[1]]!);
      }
      for (const device of devices) if (device !== me) await device.tell(me);
      const told = await taken(me);
      await me.repository.durable();
      deepEqual(told.sort(byPlace), oracle.take().sort(byPlace));
      deepEqual(me.errors, []);
      for (const { database } of devices) await database.close();
    }),
    { seed: 7, numRuns: sized(60, 2_000) },
  );
});

function byPlace(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** One life of a device whose edit loses; says how often that was told. */
async function life(me: Device, they: Device): Promise<number> {
  let told = 0;
  try {
    await me.open();
    me.cards.onOverwritten((edits) => void (told += edits.length));
    await they.tell(me);
  } catch {
    // It has died.
  }
  await trips(6);
  return told;
}

Deno.test("onOverwritten() tells at least once and at most twice, wherever the power was cut", async () => {
  const images: Kept[] = ["synced", "all", 1, 2, 3];
  let isWhole = false;
  for (let cut = 1; !isWhole; cut++) {
    if (!isTried(cut, 3)) continue;
    for (const kept of images) {
      const world = ticking();
      const they = await new Device(world).open();
      await they.cards.create({ id: "a" });
      const before = faultyStorage();
      const me = await new Device(world, before).open();
      await they.tell(me);
      await taken(me);
      await me.cards.update("a", { title: "mine" });
      await me.database.close();
      they.cards.update("a", { title: "theirs" });
      const storage = before.afterPowerCut("synced", { freezeAt: cut });
      const first = await life(new Device(world, storage), they);
      isWhole = storage.operations < cut;
      const second = await life(
        new Device(world, storage.powerCut(kept)),
        they,
      );
      const times = first + second;
      ok(times === 1 || times === 2, `cut ${cut}, kept ${kept}: ${times}`);
      if (isWhole) deepEqual([first, second], [1, 0]);
      await they.database.close();
    }
  }
});
