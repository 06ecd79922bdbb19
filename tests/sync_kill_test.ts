/**
 * kill -9 under load, with real processes, folders and sockets: a server and
 * its clients are killed at random moments, again and again. What `synced` said
 * is on the server and on everybody; what was durable is in its own folder; all
 * are equal in the end.
 *
 * A kill takes nothing back that the system has taken; what a power cut takes
 * is in `crash_test.ts` and in the simulation.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import type { Mode } from "../mod.ts";
import { seededRandom } from "./kit/mod.ts";
import { pause, until } from "./kit/patience.ts";
import { type Child, Stage } from "./kill/stage.ts";

/** Less than half a minute on an idle machine; a busy one may take its time. */
const DEADLINE_MS = 240_000;
/** Other dice: `SHEAF_KILL_SEED=8 deno test -A tests/sync_kill_test.ts`. */
const SEED = Number(Deno.env.get("SHEAF_KILL_SEED") ?? 7);

/** What a test does with its stage. */
type Play = (stage: Stage, random: () => number) => Promise<void>;

/** Plays on a stage of its own, and in bounded time. */
async function play(mode: Mode, act: Play): Promise<void> {
  await using stage = new Stage(mode, SEED);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(async () => {
      reject(new Error(`It takes too long: ${await stage.describe()}`));
    }, DEADLINE_MS);
  });
  try {
    await Promise.race([act(stage, seededRandom(SEED)), late]);
  } catch (error) {
    console.error(`Once more with SHEAF_KILL_SEED=${SEED}`);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A server with two clients that write from now on. */
async function twoClients(stage: Stage): Promise<Map<string, Child>> {
  await stage.set();
  const ann = await stage.startClient("ann", "lone");
  const bob = await stage.startClient("bob", "shared");
  return new Map([["ann", ann], ["bob", bob]]);
}

/** How servers are killed. */
interface Killing {
  readonly kills: number;
  /** Look into the folder of every so manieth before its successor does. */
  readonly looks: number;
}

/** Kills the server so often, also while it starts; says in how many lives it kept a promise. */
async function killServers(
  stage: Stage,
  random: () => number,
  { kills, looks }: Killing,
): Promise<number> {
  let busy = 0;
  let promised = 0;
  for (let kill = 0; kill < kills; kill++) {
    if (random() < 0.6) await hasPromised(stage, promised);
    await pause(random() * 300);
    await stage.killServer();
    const now = await stage.promised();
    if (now > promised) busy++;
    promised = now;
    if (kill % looks === looks - 1) await stage.checkLeft();
    if (random() < 0.2 && ++kill < kills) {
      await stage.orderServer();
      await pause(random() * 80);
      await stage.killServer();
    }
    await stage.startServer();
  }
  return busy;
}

/** Resolves when there are more promises. */
async function hasPromised(stage: Stage, before: number): Promise<void> {
  const has = async () => await stage.promised() > before;
  await until(has, `more than ${before} promises`, DEADLINE_MS);
}

/** Resolves when there are so many: how fast they come is the machine's affair. */
async function promises(stage: Stage, count: number): Promise<void> {
  const has = async () => (await stage.synced()).length >= count;
  await until(has, `${count} promises`, DEADLINE_MS);
}

Deno.test("kill -9 of the server under load, 50 times: nothing synced is lost", () =>
  play("default", async (stage, random) => {
    const clients = await twoClients(stage);
    const busy = await killServers(stage, random, { kills: 50, looks: 3 });
    await promises(stage, 1_000);
    await stage.checkAll(clients);
    deepEqual(stage.trouble, []);
    ok(busy >= 15, `${busy} lives of the server saw load`);
  }));

/** Kills clients so often, in turn; each that comes back says what it lost. */
async function killClients(
  stage: Stage,
  random: () => number,
  clients: Map<string, Child>,
  kills: number,
): Promise<void> {
  for (let kill = 0; kill < kills; kill++) {
    await pause(20 + random() * 400);
    const name = random() < 0.5 ? "ann" : "bob";
    await stage.reap(clients.get(name)!);
    const writes = name === "ann" ? "lone" : "shared";
    const client = await stage.startClient(name, writes);
    clients.set(name, client);
    // Some are killed again before they have opened.
    if (random() < 0.2) continue;
    const { lost } = await client.next("opened");
    deepEqual(lost, [], `${name} lost what was durable`);
  }
}

Deno.test("kill -9 of clients under load, 50 times: nothing durable or synced is lost, no chain forks", () =>
  play("default", async (stage, random) => {
    const clients = await twoClients(stage);
    await killClients(stage, random, clients, 50);
    await promises(stage, 500);
    await stage.checkAll(clients);
    deepEqual(stage.trouble, []);
  }));

for (const mode of ["trusted", "fast"] as const) {
  Deno.test(`kill -9 of server and clients in ${mode} mode: nothing synced is lost, and all converge`, () =>
    play(mode, async (stage, random) => {
      const clients = await twoClients(stage);
      for (let round = 0; round < 5; round++) {
        await killServers(stage, random, { kills: 2, looks: 2 });
        await killClients(stage, random, clients, 2);
      }
      await promises(stage, 200);
      await stage.checkAll(clients);
      deepEqual(stage.trouble, []);
    }));
}

/** While a server does not have back what is judged by, writes wait, with what stands behind them. */
function isPutOff(text: string): boolean {
  return text.includes('"event":"batch-refused"') &&
    /"kind":"(restoring|missing-parent|gap)"/.test(text);
}

Deno.test("a server that loses its disk under load, twice, is whole again through its clients", () =>
  play("default", async (stage, random) => {
    const clients = await twoClients(stage);
    for (let wipe = 0; wipe < 2; wipe++) {
      await killServers(stage, random, { kills: 3, looks: Infinity });
      await stage.rest(clients); // Now they can prove what there was.
      for (const client of clients.values()) await client.say("go");
      await pause(random() * 500);
      await stage.killServer();
      await Deno.remove(stage.data, { recursive: true });
      await stage.startServer();
      await killServers(stage, random, { kills: 3, looks: Infinity }); // It is killed while it is restored, too.
    }
    await promises(stage, 250);
    await stage.rest(clients);
    equal(await stage.missing(), 0);
    await stage.checkAll(clients);
    const isLoss = (text: string) => text.includes('"restore-incomplete"');
    const others = stage.trouble.filter((text) =>
      !isLoss(text) && !isPutOff(text)
    );
    deepEqual(others, []);
    ok(stage.trouble.filter(isLoss).length >= 2, "each loss is told of");
  }));

Deno.test("kill -9 of a server while it makes its database: it comes up with one root key", () =>
  play("default", async (stage, random) => {
    for (let kill = 0; kill < 12; kill++) {
      await stage.orderServer();
      await pause(random() * 60);
      await stage.killServer();
    }
    await stage.set();
    const { rootKey } = stage;
    await stage.killServer();
    await Deno.remove(stage.data, { recursive: true });
    await stage.startServer();
    equal(stage.rootKey, rootKey, "the root key file is of the first life");
    await stage.endServer();
    deepEqual(stage.trouble, []);
  }));
