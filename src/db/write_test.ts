import { deepEqual, equal, rejects } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { type Arrivals, ItemWrite, Write, type Written } from "./write.ts";

const failure = new DatabaseError("storage-full", "There is no room");

/** What a handle is made of; notes how often its durability is asked for. */
function written(promise: () => Promise<void>) {
  const durability = {
    asked: 0,
    get promise() {
      this.asked++;
      return promise();
    },
  };
  return { durability };
}

/** Notes who asks whether the server has it. */
class Asked implements Arrivals {
  readonly written: Written[] = [];

  synced(written: Written): Promise<void> {
    this.written.push(written);
    return Promise.resolve();
  }
}

const nobody = new Asked();

Deno.test("a handle asks whether the server has it only when it is asked itself", async () => {
  const [kept, arrivals] = [written(() => Promise.resolve()), new Asked()];
  const write = new Write("x", kept, arrivals);
  await write;
  deepEqual(arrivals.written, []);
  await write.synced;
  deepEqual(arrivals.written, [kept]);
});

Deno.test("a handle has its result before anybody waits, and asks for durability only then", async () => {
  const kept = written(() => Promise.resolve());
  const write = new Write([1, 2], kept, nobody);
  deepEqual(write.result, [1, 2]);
  equal(kept.durability.asked, 0);
  deepEqual(await write, [1, 2]);
  equal(kept.durability.asked, 1);
  equal(await write.durable, undefined);
});

Deno.test("await gives the result only after durability", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let got: string | undefined;
  const waiting = new Write("item", { durability: { promise } }, nobody).then((
    result,
  ) => got = result);
  await Promise.resolve();
  equal(got, undefined);
  resolve();
  await waiting;
  equal(got, "item");
});

Deno.test("a failed handle rejects who waits, through every way of waiting", async () => {
  const write = new Write("x", written(() => Promise.reject(failure)), nobody);
  await rejects(async () => await write, failure);
  await rejects(write.durable, failure);
  await rejects(write.then(null), failure);
  equal(await write.then(() => "well", () => "badly"), "badly");
  equal(await write.then(undefined, (reason) => reason), failure);
});

Deno.test("a failed handle that nobody waits for is no unhandled rejection", async () => {
  const heard: unknown[] = [];
  const listen = (event: PromiseRejectionEvent) => {
    heard.push(event.reason);
    event.preventDefault();
  };
  addEventListener("unhandledrejection", listen);
  void new Write("x", written(() => Promise.reject(failure)), nobody).result;
  await new Promise((resolve) => setTimeout(resolve, 0));
  removeEventListener("unhandledrejection", listen);
  deepEqual(heard, []);
});

Deno.test("an item's handle tells its id", () => {
  const write = new ItemWrite(
    { id: "a", n: 1 },
    written(() => Promise.resolve()),
    nobody,
  );
  equal(write.id, "a");
  equal(write.item, write.result);
});
