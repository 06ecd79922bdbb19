import { equal, match, rejects, throws } from "node:assert/strict";
import { trips } from "../../tests/kit/patience.ts";
import { assert, DatabaseError } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import { holdLock, ownerLock, webLocks } from "./locks.ts";
import { startWorker, workerFailed } from "./start_worker.ts";

const platform = webLocks();
assert(platform !== undefined, "Deno has Web Locks");
const locks = platform;

/** A worker that says nothing, and the moment after which it should have. */
function silent(name: string) {
  let late = () => {};
  const world: Pick<World, "after"> = {
    after(_delayMs, task) {
      late = task;
      return () => {};
    },
  };
  const worker = new EventTarget() as unknown as Worker; // No more is asked of it.
  const failed = workerFailed(worker, { name, locks, world: world as World });
  return { worker, failed, late: () => late() };
}

/** What became of a promise within some turns. */
function soon(failed: Promise<never>): Promise<unknown> {
  const isOpen = trips().then(() => "still waits");
  return Promise.race([failed, isOpen]).catch((error) => error);
}

Deno.test("workerFailed() rejects for a worker that does not own the files where nobody does", async () => {
  const { failed, late } = silent("start-nobody");
  equal(await soon(failed), "still waits");
  late();
  const error = await soon(failed);
  assert(error instanceof DatabaseError, "it says what is wrong");
  equal(error.code, "invalid-option");
  match(error.message, /import "@sheaf\/sheaf\/worker"/);
});

Deno.test("workerFailed() leaves a database in peace that somebody owns", async () => {
  const name = ownerLock("start-owned");
  const release = await holdLock(locks, name);
  const owned = silent("start-owned");
  owned.late();
  equal(await soon(owned.failed), "still waits");
  release();
});

Deno.test("workerFailed() rejects with what a worker's script throws", async () => {
  const { worker, failed } = silent("start-throws");
  worker.dispatchEvent(new ErrorEvent("error", { message: "oops" }));
  await rejects(failed, { code: "invalid-option", cause: "oops" });
});

Deno.test("startWorker() refuses what is no worker", () => {
  const nothing = () => undefined as unknown as Worker;
  throws(() => startWorker(nothing), { code: "invalid-option" });
});
