import { deepEqual, equal, rejects } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { ItemWrite, Write } from "./write.ts";

const failure = new DatabaseError("storage-full", "There is no room");

/** A durability that notes how often it is asked. */
function durability(
  promise: () => Promise<void>,
): { asked: number; promise: Promise<void> } {
  return {
    asked: 0,
    get promise() {
      this.asked++;
      return promise();
    },
  };
}

Deno.test("a handle has its result before anybody waits, and asks for durability only then", async () => {
  const kept = durability(() => Promise.resolve());
  const write = new Write([1, 2], kept);
  deepEqual(write.result, [1, 2]);
  equal(kept.asked, 0);
  deepEqual(await write, [1, 2]);
  equal(kept.asked, 1);
  equal(await write.durable, undefined);
});

Deno.test("await gives the result only after durability", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let got: string | undefined;
  const waiting = new Write("item", { promise }).then((result) => got = result);
  await Promise.resolve();
  equal(got, undefined);
  resolve();
  await waiting;
  equal(got, "item");
});

Deno.test("a failed handle rejects who waits, through every way of waiting", async () => {
  const write = new Write("x", durability(() => Promise.reject(failure)));
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
  void new Write("x", durability(() => Promise.reject(failure))).result;
  await new Promise((resolve) => setTimeout(resolve, 0));
  removeEventListener("unhandledrejection", listen);
  deepEqual(heard, []);
});

Deno.test("an item's handle tells its id", () => {
  const write = new ItemWrite(
    { id: "a", n: 1 },
    durability(() => Promise.resolve()),
  );
  equal(write.id, "a");
  equal(write.item, write.result);
});
