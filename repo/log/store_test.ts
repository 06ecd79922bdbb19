import { deepEqual, equal, ok, throws } from "node:assert/strict";
import type { Door } from "../admission/door.ts";
import { servedFrom, servingDoor } from "../admission/serving_door.ts";
import { diskStorage } from "../../src/storage/disk_storage.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import {
  faultyStores,
  type StoreFaults,
} from "../../tests/kit/faulty_stores.ts";
import { Place, turns } from "../../tests/kit/replica_place.ts";
import {
  type OpenedStores,
  storeConformance,
} from "../../tests/kit/store_conformance.ts";
import { logStores } from "./log_stores.ts";
import type { Stores } from "./store.ts";

const inMemory = (stores: Stores) => (): OpenedStores => ({
  stores,
  storage: memoryStorage(),
  cleanup: () => Promise.resolve(),
});

function inFiles(): OpenedStores {
  const path = Deno.makeTempDirSync();
  const cleanup = () => Deno.remove(path, { recursive: true });
  return { stores: logStores, storage: diskStorage(path), cleanup };
}

const slow = (done: () => void) => void setTimeout(done, 1);

for (
  const { name, run } of [
    ...storeConformance("a log in memory", inMemory(logStores)),
    ...storeConformance("a log in files", inFiles),
    ...storeConformance("faultyStores()", inMemory(faultyStores())),
    ...storeConformance("slow stores", inMemory(faultyStores({ slow }))),
  ]
) Deno.test(name, run);

const doorTo = (faults: StoreFaults): Door => ({
  ...servingDoor,
  ...servedFrom(faultyStores(faults)),
});

/** A server over stores that begin to fail when it serves, and a client's chain that it takes. */
async function taking(faults: StoreFaults) {
  const client = await Place.open({ seed: 2 });
  await client.write("a", "1");
  await client.write("b", "2");
  const arrivals = await client.arrivals();
  const chain = client.replica.device.chain;
  const first = await Place.open({ isUnasked: true });
  await first.replica.close();
  const server = await first.reopen({ isUnasked: true, door: doorTo(faults) });
  const port = server.replica.port();
  let told = 0;
  port.onShareable(() => told++);
  return { server, port, arrivals, chain, told: () => told };
}

/** The server comes up again, on sound stores, and its client hands everything in once more. */
async function again(
  { server, arrivals, chain }: Awaited<ReturnType<typeof taking>>,
  kept: number,
): Promise<void> {
  await server.replica.close();
  const next = await server.reopen();
  equal(next.replica.port().lengthOf(chain), kept);
  next.replica.receive(arrivals);
  next.replica.port().settle();
  await next.replica.durable();
  equal(next.replica.port().lengthOf(chain), 2);
  equal(next.replica.graph.commits, 2);
  deepEqual([next.text("a"), next.text("b")], ["1", "2"]);
  await next.replica.close();
}

Deno.test("what was kept although the store answered with an error is acknowledged by the next opening alone", async () => {
  const met = await taking({ unheardAt: 1 });
  met.port.receive(met.arrivals);
  met.port.settle();
  await turns(200);
  equal(met.server.replica.loaded.log.failure?.code, "storage-readonly");
  deepEqual([met.port.lengthOf(met.chain), met.told()], [0, 0]);
  throws(() => met.port.receive(met.arrivals), { code: "storage-readonly" });
  await again(met, 2);
});

Deno.test("what a store failed to append is nowhere, and comes again", async () => {
  const met = await taking({ failAppendAt: 1 });
  throws(() => met.port.receive(met.arrivals), { code: "storage-failed" });
  await turns(200);
  deepEqual([met.port.lengthOf(met.chain), met.told()], [0, 0]);
  await again(met, 0);
});

Deno.test("nothing leaves a slow store before it is durable there", async () => {
  const waiting: (() => void)[] = [];
  const met = await taking({ slow: (done) => waiting.push(done) });
  met.port.receive(met.arrivals);
  met.port.settle();
  await turns(200);
  equal(waiting.length, 1);
  deepEqual([met.port.lengthOf(met.chain), met.told()], [0, 0]);
  waiting.pop()!();
  await turns(200);
  deepEqual([met.port.lengthOf(met.chain), met.told()], [2, 1]);
  ok(met.port.isComplete);
  await met.server.replica.close();
});
