/** Commits that are dated ahead or back, by hand, at a real server; and devices with wrong clocks. */

import { deepEqual, equal, ok } from "node:assert/strict";
import {
  type Database,
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  rulesFor,
} from "../mod.ts";
import { system } from "../src/base/system.ts";
import type { World } from "../src/base/world.ts";
import { until, within } from "./kit/patience.ts";
import { forge } from "./kit/forge.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";
import { ANN, BOB, type Place, withServer } from "./server_place.ts";

const REPOSITORY = "team/a";
const Task = defineSchema("task", {
  title: field.string(),
  locked: field.boolean(),
});
const deadline = Date.now() + 3_600_000;
const rules = defineRules({
  "team/{team}": {
    read: () => true,
    others: true,
    collections: [
      rulesFor(Task, {
        create: () => true,
        update: ({ session, before, at }) =>
          (!before.locked || session.user === "ann") && at.getTime() < deadline,
      }),
    ],
  },
});

/** This device, with another wall clock. */
function wrong(aheadMs: number): World {
  return {
    now: () => system.now() + aheadMs,
    monotonic: () => system.monotonic(),
    random: (target) => system.random(target),
    after: (delayMs, task) => system.after(delayMs, task),
  };
}

function deviceOf({ server }: Place, aheadMs: number): Promise<Database> {
  return openDatabase({
    storage: memoryStorage(),
    rootKey: server.rootKey,
    schemas: [Task],
    world: wrong(aheadMs),
  });
}

async function tasksOf(db: Database) {
  const repo = await db.repository(REPOSITORY);
  return { repo, tasks: repo.collection(Task) };
}

Deno.test("attack: nothing is accepted before its time, so who dates ahead wins over nothing that is accepted later", () =>
  withServer({ rootSecret: ROOT_SECRET }, async (place) => {
    const { server } = place;
    const session = rawSession();
    await using peer = await RawPeer.opened(server, REPOSITORY, session);
    const genesisId = genesisOf(server, REPOSITORY);
    const ahead: [ms: number, reason: string][] = [
      [2_000, "early"],
      [59_000, "early"],
      [61_000, "bad-clock"],
    ];
    for (const [i, [ms, reason]] of ahead.entries()) {
      const wall = Date.now() + ms;
      const one = { session, genesisId, wall, incarnation: i + 1 };
      peer.records(forge({ ...one, commits: 3 }));
      const refused = await peer.hear("refuse");
      equal(refused.reason, reason);
      equal(refused.count, 3, "what follows is later still");
      ok(Math.abs(Date.parse(refused.detail.slice(-24)) - Date.now()) < 5_000);
    }
    // A batch of which only the end is ahead is no better.
    const half = { session, genesisId, wall: Date.now() - 1, incarnation: 9 };
    peer.records(forge({ ...half, commits: 3_000 }));
    equal((await peer.hear("refuse")).reason, "early");
    peer.records(forge({ ...half, incarnation: 10 }));
    await peer.hear("ack");
  }));

Deno.test("attack: a deadline is asked of the moment of acceptance, a lock holds against dates ahead and back", () =>
  withServer({ rules }, async (place) => {
    await using ann = await deviceOf(place, 0);
    await using ahead = await deviceOf(place, 58_000);
    await using back = await deviceOf(place, -3 * 3_600_000);
    const mine = await tasksOf(ann);
    ann.connect(place.server.url, { session: { token: ANN } });
    await mine.tasks.create({ id: "t", title: "a", locked: false }).synced;
    // Both have seen it unlocked, and write while they are offline.
    const theirs = [];
    for (const db of [ahead, back]) {
      const { repo, tasks } = await tasksOf(db);
      const connection = db.connect(place.server.url, {
        session: { token: BOB },
      });
      await within(repo.sync.ready, "ready");
      await connection.close();
      theirs.push({ db, repo, tasks });
    }
    await mine.tasks.update("t", { locked: true }).synced;
    for (const { db, repo, tasks } of theirs) {
      const write = tasks.update("t", { title: "taken", locked: false });
      db.connect(place.server.url, { session: { token: BOB } });
      await within(write.synced.then(() => "synced", () => "refused"), "fate")
        .then((fate) => equal(fate, "refused"));
      deepEqual(repo.sync.status.refusals.map((one) => one.reason), ["denied"]);
      equal(tasks.get("t")?.locked, true);
    }
    equal(mine.tasks.get("t")?.locked, true);
    equal(mine.tasks.get("t")?.title, "a");
  }));

Deno.test("devices 2 s and 10 minutes ahead and two days behind, that wrote offline, converge and lose nothing", () =>
  withServer({ rules }, async (place) => {
    const clocks = [2_000, 600_000, -2 * 86_400_000];
    const devices = await Promise.all(clocks.map(async (aheadMs) => {
      const db = await deviceOf(place, aheadMs);
      return { db, ...await tasksOf(db) };
    }));
    const writes = devices.flatMap(({ tasks }, device) =>
      Array.from(
        { length: 20 },
        (_, i) =>
          tasks.create({ id: `${device}.${i}`, title: `${i}`, locked: false }),
      )
    );
    for (const { db } of devices) {
      db.connect(place.server.url, { session: { token: BOB } });
    }
    await within(Promise.all(writes.map(({ synced }) => synced)), "synced");
    for (const { repo, tasks, db } of devices) {
      const last = tasks.update("0.0", {
        title: db === devices[2]!.db ? "z" : "y",
      });
      await within(last.synced, "synced while connected");
      deepEqual(repo.sync.status.refusals, []);
      deepEqual(repo.sync.status.incidents, []);
    }
    for (const { tasks } of devices) {
      const isWhole = () =>
        tasks.query().run().length === 60 && tasks.get("0.0")?.title === "z";
      await until(isWhole, "all of it is here");
    }
    for (const { db } of devices) await db.close();
    const refused = place.records.filter(({ event }) =>
      event === "batch-refused"
    );
    ok(refused.length <= 2, `${refused.length} refusals`);
  }));
