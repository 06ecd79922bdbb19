/**
 * The worker of a page: started, and whether it is one of ours.
 *
 * Architecture invariant: an opening never waits for ever for a worker that
 * nobody can hear: it fails, and says what `worker` must lead to.
 */

import { DatabaseError } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import { isHeld, type Locks, ownerLock } from "./locks.ts";

/** Where nobody else owns the files, a worker of ours does at once; its script may come over a slow wire. */
const STARTED_MS_MAX = 30_000;

export function startWorker(worker: string | URL | (() => Worker)): Worker {
  try {
    const started = typeof worker === "function"
      ? worker()
      : new Worker(worker, { type: "module" });
    if (started instanceof Worker) return started;
    throw new TypeError("`worker` gave no Worker");
  } catch (cause) {
    throw notStarted(cause);
  }
}

export interface WorkerPlace {
  readonly name: string;
  readonly locks: Locks;
  readonly world: World;
}

/** Rejects when a worker's script is not there, throws, or is another one; never resolves. */
export function workerFailed(
  worker: Pick<Worker, "addEventListener">,
  { name, locks, world }: WorkerPlace,
): Promise<never> {
  return new Promise((_, reject) => {
    worker.addEventListener(
      "error",
      (event) => reject(notStarted((event as ErrorEvent).message)),
      { once: true },
    );
    world.after(STARTED_MS_MAX, () => {
      isHeld(locks, ownerLock(name)).then((isOwned) => {
        if (!isOwned) reject(notStarted("It runs, and does nothing"));
      }, reject);
    });
  });
}

function notStarted(cause: unknown): DatabaseError {
  return new DatabaseError(
    "invalid-option",
    'The worker did not start: `worker` must lead to a bundle of `import "@sheaf/sheaf/worker"` of this origin',
    { cause },
  );
}
