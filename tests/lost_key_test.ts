/**
 * A device whose keys are in a vault that loses them: it signs with a new key,
 * and what the old one wrote reaches a server all the same.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { openFiles } from "../src/db/open_files.ts";
import { internalsOf } from "../src/db/internals.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import type { Storage } from "../src/storage/storage.ts";
import { Vault } from "./kit/vault.ts";
import {
  type Client,
  clientOf,
  connect,
  hasNote,
  Note,
  syncFits,
} from "./server_clients.ts";
import { ANN, BOB, withServer } from "./server_place.ts";

/** A device of a server whose keys are in a vault. */
async function deviceOf(
  rootKey: Uint8Array,
  storage: Storage,
  vault: Vault,
): Promise<Client> {
  const options = { storage, rootKey, schemas: [Note], vault, user: "ann" };
  const db = await openFiles(options);
  const repo = await db.repository("team/a");
  return {
    db,
    repo,
    notes: repo.collection(Note),
    [Symbol.asyncDispose]: () => db.close(),
  };
}

const textsOf = ({ notes }: Client) =>
  notes.orderBy("text").run().map(({ text }) => text);

function signs({ db }: Client): boolean {
  const { keyring } = internalsOf(db);
  return !(keyring.key.secret instanceof Uint8Array);
}

for (const losses of [1, 2]) {
  Deno.test(`a device that lost its key ${losses} times before its first login sends what it wrote before`, async () => {
    await withServer({}, async ({ server }) => {
      const storage = memoryStorage();
      const vault = new Vault();
      const texts: string[] = [];
      for (let i = 0; i < losses; i++) {
        const device = await deviceOf(server.rootKey, storage, vault);
        ok(signs(device));
        for (const text of [`a${i}`, `b${i}`]) {
          texts.push(text);
          texts.sort();
          await device.notes.create({ text });
        }
        await device.db.close();
        vault.keys.clear();
      }
      await using device = await deviceOf(server.rootKey, storage, vault);
      equal(internalsOf(device.db).keyring.isKeyLost, true);
      deepEqual(textsOf(device), texts, "nothing is lost");
      deepEqual(device.repo.sync.status.refusals, []);
      connect(device.db, server, ANN);
      await syncFits(
        device,
        ({ state, unsent }) => state === "live" && unsent.commits === 0,
        "it is live and has sent all",
      );
      await using bob = await clientOf(server, { token: BOB });
      await hasNote(bob, texts.at(-1)!);
      deepEqual(textsOf(bob), texts);
      for (const repo of [device.repo, bob.repo]) {
        equal((await repo.verify()).ok, true);
      }
      await device.notes.create({ text: "c" }).synced;
    });
  });
}

Deno.test("a device that lost a certified key sends what it had signed, and goes on with a new one", async () => {
  await withServer({}, async ({ server }) => {
    const storage = memoryStorage();
    const vault = new Vault();
    const first = await deviceOf(server.rootKey, storage, vault);
    const session = { token: ANN };
    const connection = first.db.connect(server.url, { session });
    await first.notes.create({ text: "a" }).synced;
    await connection.close();
    await first.notes.create({ text: "b" });
    await first.db.close();
    vault.keys.clear();
    await using device = await deviceOf(server.rootKey, storage, vault);
    deepEqual(textsOf(device), ["a", "b"]);
    await device.notes.create({ text: "c" });
    connect(device.db, server, ANN);
    await syncFits(
      device,
      ({ state, unsent }) => state === "live" && unsent.commits === 0,
      "it is live and has sent all",
    );
    await using bob = await clientOf(server, { token: BOB });
    await hasNote(bob, "c");
    deepEqual(textsOf(bob), ["a", "b", "c"]);
    equal((await bob.repo.verify()).ok, true);
  });
});
