import { deepEqual, equal, notDeepEqual, ok } from "node:assert/strict";
import { flushed, naiveOrder } from "../../tests/kit/naive_order.ts";
import { faultyStorage } from "../../tests/kit/faulty_storage.ts";
import { Place } from "../../tests/kit/replica_place.ts";
import { logStores } from "./log_stores.ts";

/** The modes in which what is shared was synced. */
const signed = ["default", "trusted"] as const;

async function served(mode: (typeof signed)[number] | "fast" = "default") {
  const place = await Place.open({ mode });
  return { place, order: await place.replica.serve() };
}

/** Its process is gone; everything that it handed to the files is there. */
async function killed(place: Place): Promise<Place> {
  await flushed(place);
  return await place.reopen();
}

Deno.test("the order of a log is what a naive reading of its records says, in every mode", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    const { place, order } = await served(mode);
    for (let i = 0; i < 5; i++) {
      const other = await Place.open({ mode, seed: 2 + i % 2 });
      await other.write(`b${i}`, "1");
      await place.write(`a${i}`, "1");
      place.replica.receive(await other.arrivals());
      await place.replica.durable();
    }
    await flushed(place);
    const naive = naiveOrder(place);
    ok(naive.marks.length > 2);
    deepEqual(order.last.order, naive.order);
    for (const { position, order: said } of naive.marks) {
      ok(order.stands(position, said));
      equal(order.stands(position - 1, said), false);
      equal(order.stands(position, order.epoch), false);
    }
    for (const none of [-1, 0, 0.5, NaN, 2 ** 48, Infinity]) {
      equal(order.stands(none, order.last.order), false);
    }
  }
});

Deno.test("an epoch and its order go on over a close, a crash, checkpoints and their loss", async () => {
  for (const mode of signed) {
    let { place, order } = await served(mode);
    const { epoch } = order;
    const given = [order.last];
    const ways = ["close", "kill", "checkpoint", "lost checkpoint"] as const;
    for (const [i, way] of [...ways, ...ways].entries()) {
      await place.write(`a${i}`, "1");
      await place.replica.durable();
      given.push(order.last);
      if (way === "checkpoint") await place.replica.checkpoint();
      if (way === "lost checkpoint") {
        for (const name of place.storage.list(place.folder)) {
          if (!name.startsWith("checkpoint-")) continue;
          place.storage.remove(`${place.folder}/${name}`);
        }
      }
      if (way === "close") await place.replica.close();
      place = way === "close" ? await place.reopen() : await killed(place);
      order = await place.replica.serve();
      deepEqual(order.epoch, epoch, way);
      for (const one of given) ok(order.stands(one.position, one.order), way);
      deepEqual(order.last.order, naiveOrder(place).order, way);
    }
    await place.replica.close();
  }
});

Deno.test("an epoch ends in a copy of the folder, behind a repair, and where its file is gone or spoilt", async () => {
  const { place, order } = await served();
  await place.write("a", "1");
  await place.replica.close();
  const name = `${place.folder}/sync`;
  const file = place.storage.open(name)!;
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  const put = (content: Uint8Array) => {
    const copy = place.storage.open(name, { create: true })!;
    copy.truncate(0);
    copy.writeAt(content, 0);
  };
  const epochNow = async () => {
    const again = await place.reopen();
    const { epoch } = await again.replica.serve();
    await again.replica.close();
    return epoch;
  };
  deepEqual(await epochNow(), order.epoch);
  for (const length of [0, 10, bytes.length - 1]) {
    put(bytes.subarray(0, length));
    notDeepEqual(await epochNow(), order.epoch, `${length} bytes`);
  }
  put(bytes);
  notDeepEqual(await epochNow(), order.epoch, "of an earlier epoch of the log");
  const epoch = await epochNow();
  logStores.epoch(place.storage, place.folder).end();
  notDeepEqual(await epochNow(), epoch);
});

Deno.test("an epoch ends with the crash of a log that is shared before it is synced", async () => {
  const { place, order } = await served("fast");
  await place.write("a", "1");
  const again = await killed(place);
  await again.replica.close();
  const third = await again.reopen();
  notDeepEqual((await third.replica.serve()).epoch, order.epoch);
});

Deno.test("no power cut takes a place back that was given out", async () => {
  const storage = faultyStorage();
  const place = await Place.open({ storage });
  const order = await place.replica.serve();
  const given = [order.last];
  for (let i = 0; i < 4; i++) {
    await place.write(`a${i}`, "1");
    await place.replica.durable();
    given.push(order.last);
  }
  void place.write("not synced", "1");
  place.replica.flush();
  for (const kept of ["synced", 1, 2, 3] as const) {
    const after = await place.reopen({ storage: storage.powerCut(kept) });
    const now = await after.replica.serve();
    deepEqual(now.epoch, order.epoch);
    for (const one of given) ok(now.stands(one.position, one.order));
  }
});

Deno.test("a log that nobody is served from has no order", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  equal(place.replica.loaded.order, undefined);
  await place.replica.close();
  equal(place.storage.open(`${place.folder}/sync`), undefined);
});
