import assert from "node:assert/strict";
import { turns } from "../tests/kit/replica_place.ts";
import { Notifier, settled } from "./status.ts";

Deno.test("listeners hear once a turn, however often something changed", async () => {
  const notifier = new Notifier();
  let heard = 0;
  const end = notifier.subscribe(() => heard++);
  notifier.tell();
  notifier.tell();
  assert.equal(heard, 0);
  await turns();
  assert.equal(heard, 1);
  notifier.tell();
  await turns();
  assert.equal(heard, 2);
  end();
  notifier.tell();
  await turns();
  assert.equal(heard, 2);
});

Deno.test("a listener may end another one while they are told", async () => {
  const notifier = new Notifier();
  const heard: string[] = [];
  notifier.subscribe(() => {
    heard.push("first");
    endSecond();
  });
  const endSecond = notifier.subscribe(() => heard.push("second"));
  notifier.tell();
  await turns();
  assert.deepEqual(heard, ["first"]);
});

Deno.test("a status that says the same is the same object", () => {
  const reason = { code: "a", message: "b" };
  const first = settled(undefined, { state: "live", reason });
  assert.equal(settled(first, { state: "live", reason }), first);
  const other = settled(first, { state: "offline", reason });
  assert.notEqual(other, first);
  assert.ok(Object.isFrozen(other));
});
