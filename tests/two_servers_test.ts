/** Two servers under one root key and one address, each with a store of its own. */

import { deepEqual, equal } from "node:assert/strict";
import { memoryStorage, type Storage } from "../mod.ts";
import { createServer, type Server } from "../server/mod.ts";
import { sized } from "./kit/tier.ts";
import { type Client, clientOf, syncFits } from "./server_clients.ts";
import { ANN, BOB, serverOptions } from "./server_place.ts";

const WRITES = sized(60, 7_168);
const rootSecret = new Uint8Array(32).fill(11);

function serve(storage: Storage, port = 0): Promise<Server> {
  return createServer(serverOptions({ rootSecret, storage, port }, []));
}

/** Every state that a client's incidents were in, as kinds. */
function watched({ repo: { sync } }: Client): Set<string> {
  const seen = new Set<string>();
  const look = () =>
    seen.add(sync.status.incidents.map(({ kind }) => kind).join());
  sync.subscribe(look);
  look();
  return seen;
}

/** Resolves when a client and its server have had the same since a moment. */
async function isEqual(client: Client, since: Date): Promise<void> {
  await syncFits(
    client,
    ({ equalAt = new Date(0) }) => equalAt >= since,
    "it is equal",
  );
}

Deno.test("two servers under one root key: who comes from the other one tells what is missing, brings it, and notices that there are two", async () => {
  const [one, two] = [memoryStorage(), memoryStorage()];
  const first = await serve(one);
  const port = Number(new URL(first.url).port);
  await using ann = await clientOf(first, { token: ANN });
  const seen = watched(ann);
  let since = new Date();
  await Promise.all(
    Array.from(
      { length: WRITES },
      (_, i) => ann.notes.create({ text: `${i}` }).synced,
    ),
  );
  await isEqual(ann, since);
  await first.close();
  since = new Date();
  deepEqual([...seen], [""]);
  {
    await using second = await serve(two, port);
    ann.db.connection!.retry();
    await isEqual(ann, since);
    deepEqual([...seen], ["", "restore-incomplete"]);
    deepEqual(ann.repo.sync.status.incidents, [], "all is back");
    await using bob = await clientOf(second, { token: BOB });
    await bob.repo.sync.ready;
    equal(bob.notes.count(), WRITES);
    since = new Date();
    await bob.notes.create({ text: "only here" }).synced;
    await syncFits(ann, () => ann.notes.count() > WRITES, "it comes to Ann");
    await isEqual(ann, since);
  }
  since = new Date();
  await using _third = await serve(one, port);
  ann.db.connection!.retry();
  await isEqual(ann, since);
  const kinds = ann.repo.sync.status.incidents.map(({ kind }) => kind);
  deepEqual(kinds, ["server-forked"]);
});

Deno.test("two servers under one root key: a client that is started anew each time notices that there are two", async () => {
  const [one, two, device] = [
    memoryStorage(),
    memoryStorage(),
    memoryStorage(),
  ];
  const kinds: string[] = [];
  let port = 0;
  for (const storage of [one, two, one]) {
    await using server = await serve(storage, port);
    port = Number(new URL(server.url).port);
    await using ann = await clientOf(server, { token: ANN, storage: device });
    const since = new Date();
    await ann.notes.create({ text: "a" }).synced;
    await isEqual(ann, since);
    kinds.push(
      ann.repo.sync.status.incidents.map(({ kind }) => kind).join(),
    );
  }
  deepEqual(kinds, ["", "", "server-forked"]);
});
