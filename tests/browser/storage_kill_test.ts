/**
 * The browser is killed with SIGKILL while it writes, again and again: nothing
 * that was acknowledged is lost. `proof_kill_test.ts` does so through the whole
 * database, more often.
 *
 * @module
 */

import { equal, ok } from "node:assert/strict";
import { type BrowserPlace, browserTest, until } from "./kit/mod.ts";
import { ask, entries, type StorageTab } from "./storage_ask.ts";

type Page = typeof import("./storage_page.ts");

const RECORD_BYTES = 100;

/** Checks what the last browser left; `durable` records had been acknowledged. */
async function check(tab: StorageTab, durable: number): Promise<void> {
  const log = await ask(tab, "a", "read", "load") ?? new Uint8Array(0);
  ok(
    log.length >= durable * RECORD_BYTES,
    `${log.length} bytes, not ${durable} records`,
  );
  for (let n = 0; n < durable; n++) {
    const record = log.subarray(n * RECORD_BYTES, (n + 1) * RECORD_BYTES);
    ok(record.every((byte) => byte === n % 251), `record ${n} is spoilt`);
  }
  const mark = await ask(tab, "a", "read", "mark");
  const text = new TextDecoder().decode(mark);
  // Every third record is followed by a mark, which the next record's sync covers.
  const acked = Math.floor((durable - 2) / 3) * 3;
  if (durable > 1) ok(Number(text) >= acked, `mark "${text}", not ${acked}`);
  equal(Number(text) % 3, 0);
}

/**
 * Opens and checks. Chromium, killed under heavy load, now and then loses the whole
 * folder `IndexedDB` of its profile (LevelDB then says "Creating DB since it was
 * missing"): that is an eviction, told by another identity, and no record of ours.
 */
async function openAndCheck(
  place: BrowserPlace,
  backend: Backend,
  state: State,
): Promise<StorageTab> {
  const tab = await place.open<Page>("page");
  const { identity } = await ask(tab, "a", "open", "kill", backend);
  const isNew = identity !== state.identity;
  if (isNew && state.identity !== undefined) state.evictions++;
  await check(tab, isNew ? 0 : state.durable);
  state.identity = identity;
  return tab;
}

type Backend = "opfs" | "indexeddb";

interface State {
  identity: string | undefined;
  durable: number;
  evictions: number;
}

/** One life: opens, checks, writes until `wanted` records are acknowledged. */
async function live(
  place: BrowserPlace,
  backend: Backend,
  state: State,
  wanted: number,
): Promise<void> {
  const tab = await openAndCheck(place, backend, state);
  await tab.call("startLoad", "a");
  state.durable = 0;
  await until(async () => {
    state.durable = await tab.call("durableCount");
    return state.durable >= wanted;
  }, `${wanted} durable records`);
}

for (const [backend, lives] of [["opfs", 10], ["indexeddb", 5]] as const) {
  browserTest(
    `${backend} keeps what it acknowledged when its browser is killed ${lives} times`,
    { entries, secondsMax: 300, mayThrow: true },
    async (place) => {
      const state: State = { identity: undefined, durable: 0, evictions: 0 };
      for (let life = 0; life < lives; life++) {
        await live(place, backend, state, 1 + life % 7);
        await place.killAndRestart();
      }
      await openAndCheck(place, backend, state);
      ok(state.evictions <= (backend === "opfs" ? 0 : 2), "the same files");
    },
  );
}
