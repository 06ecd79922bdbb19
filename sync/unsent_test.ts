import assert from "node:assert/strict";
import { Place } from "../tests/kit/replica_place.ts";
import { UnsentCount } from "./channel_knowledge.ts";

Deno.test("what the server lacks is counted in commits, bytes and age, from any start of a record", async () => {
  const place = await Place.open();
  const port = place.replica.port();
  let has = 0;
  const count = new UnsentCount(port, () => has);
  assert.deepEqual(count.from(0), count.none());
  await place.write("a", "1");
  const known = port.shareable;
  await place.write("b", "2");
  await place.write("c", "3");
  const all = count.from(0);
  assert.equal(all.commits, 3);
  assert.ok(all.bytes > 100);
  assert.equal(all.oldest?.getTime(), place.world.now());
  assert.equal(count.from(0), all);
  assert.equal(count.from(known).commits, 2);
  has = 2;
  assert.equal(count.from(0).commits, 1);
  has = 3;
  assert.deepEqual(count.from(0), {
    commits: 0,
    bytes: 0,
    oldest: undefined,
  });
});

Deno.test("an address that is no record's start counts from the beginning", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  const count = new UnsentCount(place.replica.port(), () => 0);
  assert.equal(count.from(3).commits, 1);
  const known = place.replica.port().shareable;
  await place.write("b", "2");
  assert.equal(count.from(known).commits, 1);
  assert.equal(count.from(known + 1).commits, 2);
});
