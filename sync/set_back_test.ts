import assert from "node:assert/strict";
import { filesOf, restored } from "../tests/kit/images.ts";
import { ManualWorld, Place, sessionOf } from "../tests/kit/replica_place.ts";
import { ClientPlace, ServerPlace, until } from "../tests/kit/sync_place.ts";

/**
 * A client whose folder was set back after it had sent more; it writes before it connects again.
 *
 * @param isAlone others wrote in between: then its chain does not lie in one piece in the server's log
 */
async function setBack(writes: number, isOneBatch: boolean, isAlone: boolean) {
  const server = await ServerPlace.start();
  const { world } = server;
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  await ann.write("a", "zero");
  await ann.live();
  const files = filesOf(ann.place.storage);
  for (const text of isAlone ? ["one", "two"] : ["1", "2", "3", "4", "two"]) {
    await ann.write("a", text);
    await ann.live();
    if (!isAlone) await server.place.write("b", text);
  }
  ann.close();
  const place = await Place.open({
    seed: 1,
    world: new ManualWorld(77),
    session: sessionOf(1),
    storage: restored(files),
  });
  const durable: Promise<void>[] = [];
  for (let i = 0; i < writes; i++) {
    durable.push(place.write(`mine-${i}`, `${i}`));
    if (!isOneBatch) await durable[i];
  }
  await Promise.all(durable);
  const back = await ClientPlace.connect(server, 1, { place });
  // As many commits as the server has look alike, until there is one more.
  if (isAlone && writes === 2) {
    await until(world, () => back.channel.status.state === "live");
    await back.write("more", "later");
  }
  const graph = (one: Place) => one.replica.graph;
  await until(world, () => {
    const texts = [server.place, place].map((one) =>
      [
        one.text("a"),
        ...Array.from({ length: writes }, (_, i) => one.text(`mine-${i}`)),
      ].join()
    );
    return texts[0] === texts[1] && texts[0]!.startsWith("two") &&
      !texts[0]!.includes(",,") && !texts[0]!.endsWith(",") &&
      back.channel.status.unsent.commits === 0;
  }, 20_000);
  assert.deepEqual(graph(place).summary(), graph(server.place).summary());
  assert.deepEqual(place.replica.refusals(), []);
  back.close();
  await server.stop();
}

for (const writes of [0, 1, 2, 4, 8]) {
  for (const isOneBatch of [true, false]) {
    for (const isAlone of [true, false]) {
      const how = isOneBatch ? "at once" : "one by one";
      const where = isAlone ? "" : ", while others wrote";
      Deno.test(`a client that was set back and wrote ${writes} ${how} before it connects loses nothing${where}`, async () => {
        await setBack(writes, isOneBatch, isAlone);
      });
    }
  }
}
