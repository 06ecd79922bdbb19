import { deepEqual, equal, ok } from "node:assert/strict";
import { Place } from "../../tests/kit/replica_place.ts";
import { seededRandom } from "../../tests/kit/random.ts";

/** Flips one bit of one of a place's files. */
function flip(place: Place, name: string, bit: number): void {
  const file = place.file(name);
  const byte = new Uint8Array(1);
  file.readAt(byte, bit >> 3);
  byte[0]! ^= 1 << (bit & 7);
  file.writeAt(byte, bit >> 3);
  file.close();
}

Deno.test("repair sets any one flipped bit of a log right, in every mode", async () => {
  const random = seededRandom(12);
  for (const mode of ["default", "trusted", "fast"] as const) {
    const place = await Place.open({ mode });
    for (let i = 0; i < 20; i++) await place.write(`n${i}`, `text ${i}`);
    await place.replica.close();
    const file = place.file("log-00000000");
    const before = new Uint8Array(file.size());
    file.readAt(before, 0);
    for (let i = 0; i < 40; i++) {
      flip(place, "log-00000000", Math.floor(random() * before.length * 8));
      const mended = await place.reopen({ repair: true });
      const { recovery } = mended.replica.status();
      equal(recovery.quarantine, undefined);
      equal(mended.replica.graph.size, 1, "its chain goes on");
      deepEqual(
        Array.from({ length: 20 }, (_, n) => mended.text(`n${n}`)),
        Array.from({ length: 20 }, (_, n) => `text ${n}`),
      );
      await mended.replica.close();
      const after = new Uint8Array(before.length);
      file.readAt(after, 0);
      deepEqual(after, before);
    }
  }
});

Deno.test("two flipped bits of a record are no one bit", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  const at = place.replica.loaded.log.end;
  await place.write("b", "two");
  await place.write("c", "three");
  await place.replica.close();
  flip(place, "log-00000000", (at + 30) * 8);
  flip(place, "log-00000000", (at + 60) * 8 + 3);
  const mended = await place.reopen({ repair: true });
  ok(mended.replica.status().recovery.quarantine !== undefined);
  equal(mended.text("a"), "one");
  await mended.replica.close();
});
