import assert from "node:assert/strict";
import { parseRepositoryName } from "../repo/commit/genesis.ts";
import { Place, sessionOf, turns } from "../tests/kit/replica_place.ts";
import { proverOf } from "../tests/kit/sync_place.ts";
import type { HostedRepository } from "./host_hooks.ts";
import { HostShelf } from "./host_shelf.ts";

const name = parseRepositoryName("place");

async function shelfOf() {
  const place = await Place.open();
  const port = place.replica.port();
  const opens: PromiseWithResolvers<HostedRepository | undefined>[] = [];
  const counts = { released: 0, news: 0 };
  const shelf = new HostShelf({
    world: place.world,
    prover: proverOf(sessionOf(1)),
    open() {
      const levers = Promise.withResolvers<HostedRepository | undefined>();
      opens.push(levers);
      return levers.promise;
    },
    news: () => void counts.news++,
  });
  const hosted: HostedRepository = {
    port,
    order: {
      epoch: new Uint8Array(16),
      last: { position: 0, order: new Uint8Array(32) },
      before: () => undefined,
      stands: () => true,
    },
    release: () => void counts.released++,
  };
  return { place, shelf, opens, hosted, counts };
}

Deno.test("a repository is opened once for all its users and released with the last", async () => {
  const { place, shelf, opens, hosted, counts } = await shelfOf();
  const first = shelf.acquire(name);
  const second = shelf.acquire(name);
  assert.equal(opens.length, 1);
  opens[0]!.resolve(hosted);
  assert.equal(await first, await second);
  await place.write("a", "1");
  await turns();
  assert.ok(counts.news > 0);
  shelf.release(name);
  await turns();
  assert.equal(counts.released, 0);
  shelf.release(name);
  await turns();
  assert.equal(counts.released, 1);
  const { news } = counts;
  await place.write("b", "2");
  await turns();
  assert.equal(counts.news, news);
});

Deno.test("who leaves while it is being opened and who comes then share one opening", async () => {
  const { shelf, opens, hosted, counts } = await shelfOf();
  void shelf.acquire(name);
  shelf.release(name);
  const again = shelf.acquire(name);
  assert.equal(opens.length, 1);
  opens[0]!.resolve(hosted);
  assert.equal((await again)?.hosted.port, hosted.port);
  await turns();
  assert.equal(counts.released, 0);
  shelf.release(name);
  await turns();
  assert.equal(counts.released, 1);
});

Deno.test("who left before it was open releases it then; a failed opening is tried anew", async () => {
  const { shelf, opens, hosted, counts } = await shelfOf();
  void shelf.acquire(name);
  shelf.release(name);
  opens[0]!.resolve(hosted);
  await turns();
  assert.equal(counts.released, 1);
  const failing = assert.rejects(shelf.acquire(name), /disk/);
  opens[1]!.reject(new Error("disk"));
  await failing;
  shelf.release(name);
  await turns();
  const none = shelf.acquire(name);
  opens[2]!.resolve(undefined);
  assert.equal(await none, undefined);
  shelf.release(name);
  await turns();
  assert.equal(counts.released, 1);
});
