import assert from "node:assert/strict";
import { Place } from "../../tests/kit/replica_place.ts";
import { lookForReplicas } from "../replica_list.ts";
import { lateReading } from "./late_reading.ts";
import { reading } from "./reading.ts";

/** As it is in a page, and in a worker. */
async function unloaded(run: () => Promise<void>): Promise<void> {
  lateReading.provide(undefined);
  try {
    await run();
  } finally {
    lateReading.provide(reading);
  }
}

Deno.test("a repository without a checkpoint opens without what reads them", async () => {
  await unloaded(async () => {
    const place = await Place.open();
    await place.write("a", "one");
    place.replica.loaded.log.close();
    const again = await place.reopen();
    assert.equal(again.text("a"), "one");
    assert.equal(lateReading.isLoaded, false);
  });
});

Deno.test("what reads checkpoints is loaded by who opens a repository that has one", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  await place.replica.close();
  await unloaded(async () => {
    const again = await place.reopen();
    assert.equal(again.replica.loaded.checkpoint?.number, 1);
    assert.equal(again.text("a"), "one");
    assert.equal(lateReading.isLoaded, true);
  });
});

Deno.test("lookForReplicas() loads what reads checkpoints where the name stands in none but them", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  await place.replica.close();
  await unloaded(async () => {
    assert.deepEqual(await lookForReplicas(place.storage), ["place"]);
    assert.equal(lateReading.isLoaded, false);
    place.file("log-00000000").writeAt(new Uint8Array(100).fill(7), 64);
    assert.deepEqual(await lookForReplicas(place.storage), ["place"]);
    assert.equal(lateReading.isLoaded, true);
  });
});
