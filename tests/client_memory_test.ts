/** A client with little memory, and somebody who writes into a repository of it what takes most of that. */

import { equal } from "node:assert/strict";
import { createSigner } from "../crypto/mod.ts";
import { Child } from "./kit/child.ts";
import { creating, HostileChain } from "./kit/forge.ts";
import {
  genesisOf,
  RawPeer,
  rawSession,
  ROOT_SECRET,
  type Target,
} from "./raw_peer.ts";
import { withServer } from "./server_place.ts";

const REPOSITORY = "team/a";
const BATCHES = 32;
const ITEMS = 10_000;
const shape = { collection: "note", version: 1, fields: [] };

/** Hands in empty items that take more than a client of 128 MiB has. */
async function fill(server: Target): Promise<void> {
  const session = rawSession();
  await using peer = await RawPeer.opened(server, REPOSITORY, session);
  const signer = createSigner(session.secretKey);
  const chain = new HostileChain(genesisOf(server, REPOSITORY), signer);
  for (let count = 0; count < BATCHES; count++) {
    const operations = Array.from({ length: ITEMS }, (_, i) => {
      const id = (count * ITEMS + i).toString(36);
      return creating({ shape, id }, {});
    });
    const wall = Date.now();
    equal(await peer.hand(chain.batch({ wall, count, operations })), undefined);
  }
}

Deno.test("a client takes no more than it has memory for, says so, works on, and opens again", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await withServer({ rootSecret: ROOT_SECRET }, async ({ server }) => {
      await fill(server);
      for (const life of ["first", "second"]) {
        await using client = new Child([
          ...["run", "--allow-all", "--no-check"],
          "--v8-flags=--max-old-space-size=128",
          new URL("small_client.ts", import.meta.url).pathname,
          ...[folder, server.url, server.rootKey.toHex(), life],
        ]);
        await client.said(/^refused memory-full\n/m);
        await client.said(new RegExp(`^${life} written\n`, "m"));
        client.kill();
        const { signal } = await client.ended;
        equal(signal, "SIGKILL", life);
      }
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
