/** A real server with little memory, and sessions that write what takes most of it: quotas bound bytes, not memory. */

import { equal, match } from "node:assert/strict";
import { Child } from "./kit/child.ts";
import { pause } from "./kit/patience.ts";
import { creating, HostileChain } from "./kit/forge.ts";
import { createSigner } from "../crypto/mod.ts";
import { genesisOf, RawPeer, rawSession, type Target } from "./raw_peer.ts";

const REPOSITORY = "team/a";
const ITEMS = 10_000;
const shape = { collection: "note", version: 1, fields: [] };

/** A server with 128 MiB. */
async function started(folder: string): Promise<Target & AsyncDisposable> {
  const child = new Child([
    ...["run", "--allow-all", "--no-check"],
    "--v8-flags=--max-old-space-size=128",
    new URL("small_server.ts", import.meta.url).pathname,
    folder,
  ]);
  const said = await child.said(/^at .*\n/m);
  const [, url, key] = /^at (\S+) (\S+)/m.exec(said)!;
  const rootKey = Uint8Array.fromHex(key!);
  return {
    url: url!,
    rootKey,
    async [Symbol.asyncDispose]() {
      equal(child.hasEnded, false, "the server ended by itself");
      await child[Symbol.asyncDispose]();
    },
  };
}

/** Hands in empty items until the server will have no more of them; says how many batches it took. */
async function fill(server: Target): Promise<number> {
  const session = rawSession();
  await using peer = await RawPeer.opened(server, REPOSITORY, session);
  const signer = createSigner(session.secretKey);
  const chain = new HostileChain(genesisOf(server, REPOSITORY), signer);
  for (let count = 0;; count++) {
    const operations = Array.from({ length: ITEMS }, (_, i) => {
      const id = (count * ITEMS + i).toString(36);
      return creating({ shape, id }, {});
    });
    const wall = Date.now();
    const refused = await peer.hand(chain.batch({ wall, count, operations }));
    if (refused === undefined) continue;
    equal(refused.reason, "quota");
    match(refused.detail ?? "", /memory is full/);
    return count;
  }
}

/** Opens a repository, however often that is declined; says how many commits it has. */
async function commitsIn(server: Target, name: string): Promise<number> {
  await using peer = await RawPeer.proven(server);
  for (let channel = 1;; channel++) {
    peer.open(channel, name);
    const answer = await peer.hear("opened", "declined");
    if (answer.is === "opened") return answer.commits;
    equal(answer.code, "unavailable");
    await pause(50 * channel);
  }
}

Deno.test("a server takes no more than it has memory for, opens it again, and serves the others", async () => {
  const folder = await Deno.makeTempDir();
  try {
    let commits: number;
    {
      await using server = await started(folder);
      commits = await fill(server);
      equal(await commitsIn(server, "team/b"), 0);
      equal(await commitsIn(server, REPOSITORY), commits);
    }
    await using again = await started(folder);
    equal(await commitsIn(again, REPOSITORY), commits);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
