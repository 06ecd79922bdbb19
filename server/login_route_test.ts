import { deepEqual, equal } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import {
  loginBody,
  newSessionKey,
  type Place,
  post,
  withServer,
} from "../tests/server_place.ts";
import type { ServerOptions } from "./options.ts";

type Timer = Parameters<typeof clearTimeout>[0];

/** The timers that end what takes too long: those that were set and not cleared since. */
class Deadlines implements Disposable {
  readonly open = new Map<Timer, () => void>();
  /** How many were ever set. */
  set = 0;
  readonly #platform = { setTimeout, clearTimeout };

  constructor() {
    const { setTimeout, clearTimeout } = this.#platform;
    Object.assign(globalThis, {
      setTimeout: (task: () => void, ms: number): Timer => {
        const timer = setTimeout(task, ms);
        if (ms !== limits.httpBodyMsMax) return timer;
        this.set++;
        this.open.set(timer, task);
        return timer;
      },
      clearTimeout: (timer: Timer) => {
        this.open.delete(timer);
        clearTimeout(timer);
      },
    });
  }

  [Symbol.dispose](): void {
    Object.assign(globalThis, this.#platform);
  }
}

/** Logs in as the app's own function says; the status of the answer. */
async function login({ ask, server }: Place): Promise<number> {
  const who = { sessionKey: newSessionKey(), credentials: { app: 1 } };
  const response = await ask("/login", post(loginBody(server.rootKey, who)));
  await response.body?.cancel();
  return response.status;
}

Deno.test("POST /login leaves no timer behind, however it ends", async () => {
  const answers: ServerOptions["login"][] = [
    { app: () => Promise.resolve({ user: "ann" }) },
    { app: () => Promise.reject(new Error("directory is down")) },
  ];
  const found: number[][] = [];
  for (const options of answers) {
    using deadlines = new Deadlines();
    await withServer({ login: options! }, async (place) => {
      const status = await login(place);
      found.push([status, deadlines.set, deadlines.open.size]);
    });
  }
  // One of them waits for the body, the other one for the app.
  deepEqual(found, [[200, 2, 0], [503, 2, 0]]);
});

Deno.test("POST /login is a 503 when the app's own function hangs for as long as it may", async () => {
  using deadlines = new Deadlines();
  const asked = Promise.withResolvers<void>();
  const app = () => {
    asked.resolve();
    return new Promise<never>(() => {});
  };
  await withServer({ login: { app } }, async (place) => {
    const status = login(place);
    await asked.promise;
    equal(deadlines.open.size, 1);
    for (const end of deadlines.open.values()) end();
    equal(await status, 503);
    const told = place.records.map(({ message }) => message);
    equal(told.includes("The login took too long"), true);
    equal(deadlines.open.size, 0);
  });
});
