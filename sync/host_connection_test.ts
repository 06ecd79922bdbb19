import { equal, ok } from "node:assert/strict";
import { parseRepositoryName } from "../repo/commit/genesis.ts";
import { limits } from "../src/base/limits.ts";
import { trips } from "../tests/kit/patience.ts";
import { ClientPlace, ServerPlace, until } from "../tests/kit/sync_place.ts";
import { withAnswers } from "../tests/kit/with_answers.ts";

/** More than may be opened at a time, and no more than a peer may have. */
const MANY = 3 * limits.openingMax;

/** Asks for many repositories at once. */
function askForMany({ client, place }: ClientPlace): void {
  const port = place.replica.port();
  for (let i = 0; i < MANY; i++) {
    client.add(withAnswers(port, { name: parseRepositoryName(`other/${i}`) }));
  }
}

async function end(server: ServerPlace, ...clients: ClientPlace[]) {
  for (const client of clients) client.close();
  await server.stop();
  equal(server.faults.length, 0);
}

Deno.test("a connection opens so many repositories at a time, however many are asked for", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  const levers: PromiseWithResolvers<void>[] = [];
  server.authorize = async () => {
    const lever = Promise.withResolvers<void>();
    levers.push(lever);
    await lever.promise;
    return { declined: { code: "forbidden", detail: "no" } };
  };
  askForMany(ann);
  await until(server.world, () => levers.length >= limits.openingMax);
  await trips();
  equal(levers.length, limits.openingMax);
  levers[0]!.resolve();
  await until(server.world, () => levers.length > limits.openingMax);
  await trips();
  equal(levers.length, limits.openingMax + 1, "one for one that is done");
  for (let i = 0; i < MANY; i++) {
    await until(server.world, () => levers.length > i);
    levers[i]!.resolve();
  }
  await end(server, ann);
});

Deno.test("a connection opens no more while its peer has not read what it was sent", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  const bob = await ClientPlace.connect(server, 2);
  await ann.live();
  await bob.live();
  let asked = 0;
  // As long as a text of the wire is.
  const detail = "x".repeat(Math.floor(limits.wireTextBytesMax / 3));
  server.authorize = () => {
    asked++;
    return { declined: { code: "unavailable", detail } };
  };
  const [wire] = server.wires;
  const [, its] = wire!.ends;
  wire!.hold(1);
  const text = "x".repeat(20_000);
  for (let bytes = 0; bytes < 2 * limits.windowBytes; bytes += text.length) {
    await bob.synced(await bob.write(`note ${bytes}`, text));
  }
  const room = limits.openingBytesMax - its.buffered; // As much as fits beside a full window.
  const most = limits.openingMax + Math.ceil(room / detail.length);
  ok(most < MANY);
  askForMany(ann);
  await until(server.world, () => its.buffered > limits.openingBytesMax);
  for (let look = 0; look < 10; look++) {
    await trips(5);
    server.world.advance(50);
  }
  ok(asked <= most, `${asked} were opened, where ${most} may be`);
  wire!.release(1);
  await until(server.world, () => asked === MANY);
  ok(its.buffered < limits.openingBytesMax);
  await end(server, ann, bob);
});
