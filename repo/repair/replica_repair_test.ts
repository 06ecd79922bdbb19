import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import type { DatabaseError } from "../../src/base/errors.ts";
import { Place } from "../../tests/kit/replica_place.ts";
import { digestOf } from "../../tests/kit/digest.ts";

Deno.test("repair keeps everything before the damage and what still connects behind it", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    const place = await Place.open({ mode });
    await place.write("before", "one");
    await place.replica.durable();
    const other = await Place.open({ mode, seed: 2 });
    await other.write("theirs", "kept");
    const at = place.replica.loaded.log.end;
    await place.write("damaged", "two");
    await place.replica.durable();
    place.replica.receive(await other.arrivals());
    await place.write("behind", "three");
    await place.replica.close();
    place.spoil("log-00000000", at + 20);
    for (const name of place.storage.list(place.folder)) {
      if (name.startsWith("checkpoint")) {
        place.storage.remove(`${place.folder}/${name}`);
      }
    }
    await rejects(place.reopen(), (error: DatabaseError) => {
      equal(error.code, "log-damaged");
      ok(error.message.includes(String(at)), error.message);
      return true;
    });
    const mended = await place.reopen({ repair: true });
    const { quarantine } = mended.replica.status().recovery;
    ok(mended.storage.list(mended.folder).includes(quarantine!));
    deepEqual(
      ["before", "damaged", "theirs", "behind"].map((id) => mended.text(id)),
      ["one", undefined, "kept", "three"],
      mode,
    );
    await mended.replica.close();
    const again = await mended.reopen();
    equal(again.replica.status().recovery.clean, true);
    await again.write("after", "four");
    equal(
      again.replica.graph.size,
      3,
      "a chain that lost commits does not go on",
    );
    await again.replica.close();
    await other.replica.close();
  }
});

Deno.test("repair looks behind a checkpoint, which is of no use afterwards", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  const at = place.replica.loaded.log.end;
  await place.write("b", "two");
  await place.write("c", "three");
  await place.replica.close();
  place.spoil("log-00000000", at + 20);
  const mended = await place.reopen({ repair: true });
  deepEqual(["a", "b", "c"].map((id) => mended.text(id)), [
    "one",
    "two", // The checkpoint of a small log has it.
    "three",
  ]);
  for (let i = 0; i < 50; i++) await mended.write(`new-${i}`, "x");
  const digest = digestOf(mended.replica.state);
  const crashed = await mended.reopen(); // No checkpoint was written since.
  deepEqual(digestOf(crashed.replica.state), digest);
  await crashed.replica.close();
  equal(crashed.replica.status().checkpointFailure, undefined);
  const again = await crashed.reopen();
  deepEqual(digestOf(again.replica.state), digest);
  ok(again.replica.loaded.checkpoint !== undefined);
  await again.replica.close();
});

Deno.test("a checkpoint that covers more than the log is an error, and repair opens what is left", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  const at = place.replica.loaded.log.end;
  await place.write("b", "two");
  await place.replica.close();
  place.file("log-00000000").truncate(at);
  await rejects(place.reopen(), { code: "log-damaged" });
  const mended = await place.reopen({ repair: true });
  deepEqual([mended.text("a"), mended.text("b")], ["one", "two"]);
  await mended.write("c", "anew");
  equal(
    mended.replica.graph.size,
    2,
    "the number of the lost commit is not used again",
  );
  await mended.replica.close();
  const again = await mended.reopen();
  deepEqual([again.text("b"), again.text("c")], ["two", "anew"]);
  await again.replica.close();
});

Deno.test("a log that is empty beside its checkpoint is an error, and repair keeps the checkpoint", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  await place.replica.close();
  const checkpoint = place.storage.list(place.folder)
    .find((name) => name.startsWith("checkpoint-"))!;
  const bytes = bytesOf(place, checkpoint);
  place.file("log-00000000").truncate(0);
  await rejects(place.reopen(), { code: "log-damaged" });
  const mended = await place.reopen({ repair: true });
  const { clean, quarantine } = mended.replica.status().recovery;
  equal(clean, false);
  equal(quarantine, `quarantine-${checkpoint}`);
  await mended.write("b", "two");
  await mended.replica.close();
  deepEqual(bytesOf(mended, quarantine!), bytes);
});

function bytesOf(place: Place, name: string): Uint8Array {
  const file = place.file(name);
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  return bytes;
}

Deno.test("repair of a sound repository changes nothing", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  await place.replica.close();
  const files = place.storage.list(place.folder).sort();
  const again = await place.reopen({ repair: true });
  equal(again.replica.status().recovery.quarantine, undefined);
  await again.replica.close();
  equal(again.replica.graph.size, 1);
  equal(place.storage.list(place.folder).length, files.length);
  const third = await again.reopen();
  equal(third.text("a"), "one");
  await third.replica.close();
});

Deno.test("repair keeps the names of those who wrote behind the damage, in every mode", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    const place = await Place.open({ mode });
    await place.write("a", "one");
    await place.replica.durable();
    const at = place.replica.loaded.log.end;
    await place.write("b", "damaged");
    await place.replica.close();
    const bob = await place.reopen({ seed: 2 });
    await bob.write("c", "behind");
    await bob.replica.close();
    place.spoil("log-00000000", at + 20);
    const mended = await place.reopen({ repair: true });
    const users = [...mended.replica.certificates].map(({ user }) => user);
    deepEqual(users, ["user-1", "user-2"], mode);
    await mended.replica.close();
    const again = await mended.reopen();
    equal([...again.replica.certificates].length, 2);
    await again.replica.close();
  }
});
