/**
 * The log on a storage that fails, stops short or loses its power at every one
 * of its first 300 operations.
 *
 * @module
 */

import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { DatabaseError } from "../src/base/errors.ts";
import type { Log } from "../repo/log/log.ts";
import type { Storage } from "../src/storage/storage.ts";
import {
  type FaultyStorage,
  faultyStorage,
  type Kept,
} from "./kit/faulty_storage.ts";
import {
  createTexts,
  FIRST_SEGMENT,
  FOLDER,
  longText,
  openTexts,
  putText,
} from "./kit/log.ts";
import { seededRandom } from "./kit/random.ts";
import { isTried, sized } from "./kit/tier.ts";

const sizes = { segmentBytesMax: 2_000, extentBytesFirst: 128 };
const OPERATIONS = 300;
const IMAGES: readonly Kept[] = ["synced", "all", 1, 2, 3, 4];

/** What a run wrote, and how much of it was acknowledged. */
interface Run {
  readonly written: string[];
  acknowledged: number;
  log: Log | undefined;
}

/** Appends, syncs, closes and opens until the storage fails or has done enough. */
async function run(storage: FaultyStorage, seed: number): Promise<Run> {
  const random = seededRandom(seed);
  const run: Run = { written: [], acknowledged: 0, log: undefined };
  try {
    run.written.push("genesis");
    run.log = createTexts(storage, "genesis", sizes);
    while (storage.operations < OPERATIONS + 20) {
      await act(run, storage, random());
    }
  } catch (error) {
    ok(error instanceof DatabaseError, String(error));
  }
  return run;
}

async function act(
  run: Run,
  storage: FaultyStorage,
  dice: number,
): Promise<void> {
  const log = run.log!;
  if (dice < 0.6) {
    const text = longText(run.written.length, Math.floor(dice * 1_500));
    run.written.push(text);
    putText(log, text);
  } else if (dice < 0.95) {
    const count = run.written.length;
    await log.sync();
    run.acknowledged = count;
  } else {
    run.log = undefined;
    await log.close();
    run.acknowledged = run.written.length;
    run.log = (await openTexts(storage, sizes))!.log;
  }
}

/** Everything acknowledged is in `image`, in order and whole, and it can be used. */
async function check(image: Storage, run: Run, what: string): Promise<void> {
  const opened = await openTexts(image, sizes);
  if (opened === undefined) {
    equal(run.acknowledged, 0, what);
    return;
  }
  const { texts, log } = opened;
  deepEqual(texts, run.written.slice(0, texts.length), what);
  ok(texts.length >= run.acknowledged, `${what}: ${run.acknowledged} wanted`);
  putText(log, "after");
  await log.sync();
  const again = (await openTexts(image, sizes))!;
  deepEqual(again.texts, [...texts, "after"], what);
  equal(again.recovery.droppedBytes, 0, what);
}

async function checkImages(
  storage: FaultyStorage,
  run: Run,
  what: string,
): Promise<void> {
  for (const kept of IMAGES) {
    await check(storage.powerCut(kept), run, `${what}, kept ${kept}`);
  }
}

for (const slow of [false, true]) {
  const how = slow ? "slow" : "quick";
  for (const fault of ["failAt", "shortenAt", "freezeAt"] as const) {
    Deno.test(`every acknowledged record survives ${fault} 1 to ${OPERATIONS} and a power cut, ${how} syncs`, async () => {
      let acknowledged = 0;
      let runs = 0;
      for (let n = 1; n <= OPERATIONS; n++) {
        if (!isTried(n, 19)) continue;
        runs++;
        const storage = faultyStorage({ [fault]: n, slow });
        const result = await run(storage, n);
        acknowledged += result.acknowledged;
        const { log } = result;
        if (log?.failure !== undefined) {
          throws(() => putText(log, "x"), { code: "storage-readonly" });
          throws(() => log.sync(), { code: "storage-readonly" });
          await log.close();
        }
        await checkImages(storage, result, `${fault} ${n}`);
      }
      ok(acknowledged > 20 * runs, "the runs got somewhere");
    });
  }
}

Deno.test("every acknowledged record survives power cuts between any two operations of a recovery", async () => {
  for (let seed = 1; seed <= sized(2, 20); seed++) {
    const first = faultyStorage();
    const before = await run(first, seed);
    for (let n = 1; n <= 12; n++) {
      // The image of one cut is opened on a storage that is cut in the middle of it.
      const second = faultyStorage({ freezeAt: n });
      second.adopt(first.powerCut(seed * 100 + n), FOLDER);
      try {
        const opened = await openTexts(second, sizes);
        if (opened !== undefined) putText(opened.log, "unsynced");
      } catch (error) {
        ok(error instanceof DatabaseError);
      }
      await checkRecovered(second, before);
    }
  }
});

async function checkRecovered(storage: FaultyStorage, run: Run): Promise<void> {
  for (const kept of IMAGES) {
    const opened = await openTexts(storage.powerCut(kept), sizes);
    const texts = opened?.texts ?? [];
    if (texts.at(-1) === "unsynced") texts.pop();
    deepEqual(texts, run.written.slice(0, texts.length));
    ok(texts.length >= run.acknowledged);
  }
}

Deno.test("openLog() makes durable what a dead process had only written", async () => {
  for (const count of [0, 2, 40]) {
    const storage = faultyStorage({ slow: true });
    const log = createTexts(storage, "genesis", sizes);
    const texts = ["genesis"];
    for (let i = 0; i < count; i++) {
      texts.push(longText(i, 200));
      putText(log, texts.at(-1)!);
    }
    // Nothing was synced by choice; the next process finds it all.
    deepEqual((await openTexts(storage, sizes))!.texts, texts);
    const image = storage.powerCut("synced");
    deepEqual((await openTexts(image, sizes))!.texts, texts);
  }
});

Deno.test("openLog() never takes a log in use for one that was closed", async () => {
  for (let length = 0; length < 80; length++) {
    const storage = faultyStorage();
    const log = createTexts(storage, "genesis", { extentBytesFirst: 40 });
    log.sync();
    putText(log, longText(1, length));
    const opened = (await openTexts(storage))!;
    equal(opened.texts.length, 2);
    equal(opened.recovery.clean, false, `${length} bytes`);
  }
});

Deno.test("openLog() may be cut off while it removes torn segments", async () => {
  const first = faultyStorage({ slow: true });
  const log = createTexts(first, "genesis", sizes);
  await log.sync();
  for (let i = 0; i < 40; i++) putText(log, longText(i, 200));
  first.syncFolder(FOLDER); // Their names are on the medium, and not what is in them.
  const torn = first.powerCut("synced");
  ok(torn.list(FOLDER).length >= 4);
  let done = false;
  for (let n = 1; !done; n++) {
    const second = faultyStorage({ freezeAt: n });
    second.adopt(torn, FOLDER);
    done = await openTexts(second, sizes).then(() => true, () => false);
    for (const kept of IMAGES) {
      const opened = await openTexts(second.powerCut(kept), sizes);
      deepEqual(opened!.texts, ["genesis"]);
    }
  }
});

Deno.test("what a recovery cut never comes back behind what is appended after it", async () => {
  // Records of a sector each, so that one can be lost without its neighbours.
  const long = (number: number) => longText(number, 503);
  const first = faultyStorage();
  const log = createTexts(first, "genesis", sizes);
  await log.sync();
  for (const number of [1, 2, 3]) putText(log, long(number));
  const whole = first.powerCut("all");
  const file = whole.open(FIRST_SEGMENT)!;
  // The middle of the first of them never reached the medium.
  file.writeAt(new Uint8Array(100), 300);
  file.close();
  let stale = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const second = faultyStorage();
    second.adopt(whole, FOLDER);
    const opened = (await openTexts(second, sizes))!;
    deepEqual(opened.texts, ["genesis"]);
    ok(opened.recovery.droppedBytes > 1_000);
    putText(opened.log, long(4));
    const { texts } = (await openTexts(second.powerCut(seed), sizes))!;
    if (texts.length > 1) stale++;
    deepEqual(texts, ["genesis", long(4)].slice(0, texts.length));
  }
  ok(stale > 20, `the new record survived ${stale} times`);
});

Deno.test("a header that a repair has mended stays mended", async () => {
  const first = faultyStorage();
  const log = createTexts(first, "genesis", sizes);
  putText(log, "text");
  await log.close();
  const spoilt = first.powerCut("all");
  const file = spoilt.open(FIRST_SEGMENT)!;
  file.writeAt(Uint8Array.of(1), 40);
  file.close();
  const second = faultyStorage();
  second.adopt(spoilt, FOLDER);
  const opened = (await openTexts(second, { ...sizes, repair: true }))!;
  deepEqual(opened.texts, ["genesis", "text"]);
  const after = (await openTexts(second.powerCut("synced"), sizes))!;
  deepEqual(after.texts, ["genesis", "text"]);
});
