/**
 * The log with seals that come later, on a storage that fails, stops short or
 * loses its power: nothing unsealed is ever found again, nothing acknowledged
 * is ever lost.
 *
 * @module
 */

import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import type { Log } from "../repo/log/log.ts";
import { RECORD_HEADER_BYTES, SEAL_BYTES } from "../repo/log/format.ts";
import { encodeText } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import type { Storage } from "../src/storage/storage.ts";
import {
  type FaultyStorage,
  faultyStorage,
  type Kept,
} from "./kit/faulty_storage.ts";
import { restored } from "./kit/images.ts";
import {
  bytesOfFile,
  createTexts,
  FIRST_SEGMENT,
  FOLDER,
  longText,
  openTexts,
  putText,
} from "./kit/log.ts";
import { seededRandom } from "./kit/random.ts";
import { isTried } from "./kit/tier.ts";

const sizes = { segmentBytesMax: 2_000, extentBytesFirst: 128 };
const OPERATIONS = 150;
const IMAGES: readonly Kept[] = ["synced", "all", 1, 2, 3, 4];
const SEAL = "s".repeat(SEAL_BYTES);

/** A record that was appended and waits for its seal. */
interface Late {
  readonly text: string;
  readonly address: number;
  give(seal?: string): void;
  refuse(error: Error): void;
}

/** Appends a text whose seal is still to come. */
function putLate(log: Log, text: string): Late {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const address = log.append(4, [encodeText(text)], promise);
  return {
    text: text + SEAL,
    address,
    give: (seal = SEAL) => resolve(encodeText(seal)),
    refuse: reject,
  };
}

function readText(log: Log, address: number): string[] {
  const found: string[] = [];
  log.records(address - RECORD_HEADER_BYTES, log.end, (kind, body) => {
    found.push(`${kind} ${String.fromCharCode(...body)}`);
  });
  return found;
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve));

/** Has it settled after the turns that are due? */
async function isSettled(promise: Promise<unknown> | undefined) {
  let settled = false;
  const end = () => void (settled = true);
  promise?.then(end, end);
  await turn();
  return settled || promise === undefined;
}

/** What a run wrote, how much of it was acknowledged, and what waits for a seal. */
interface Run {
  readonly storage: FaultyStorage;
  readonly written: string[];
  acknowledged: number;
  log: Log;
  late: Late[];
}

/** Appends, seals in any order, syncs, closes and opens until the storage fails or has done enough. */
async function run(storage: FaultyStorage, seed: number): Promise<Run> {
  const random = seededRandom(seed);
  const begun: Partial<Run> = { storage, late: [], acknowledged: 0 };
  const run = Object.assign(begun, { written: ["genesis"] }) as Run;
  try {
    run.log = createTexts(storage, "genesis", sizes);
    while (storage.operations < OPERATIONS + 20) await act(run, random);
  } catch (error) {
    ok(error instanceof DatabaseError, String(error));
  }
  return run;
}

async function act(run: Run, random: () => number): Promise<void> {
  const dice = random();
  if (dice < 0.2) {
    const text = longText(run.written.length, Math.floor(random() * 900));
    run.written.push(text);
    putText(run.log, text);
  } else if (dice < 0.6) {
    writeLate(run, random);
  } else if (dice < 0.85) {
    giveOne(run, random);
    await Promise.resolve();
  } else {
    await settle(run, random, dice > 0.97);
  }
}

function writeLate(run: Run, random: () => number): void {
  const text = longText(run.written.length, Math.floor(random() * 900));
  run.written.push(text + SEAL);
  run.late.push(putLate(run.log, text));
}

function giveOne(run: Run, random: () => number): void {
  const [late] = run.late.splice(Math.floor(random() * run.late.length), 1);
  late?.give();
}

/** Syncs or closes; the seals come while it waits, and other records meanwhile. */
async function settle(
  run: Run,
  random: () => number,
  closes: boolean,
): Promise<void> {
  const { log, storage } = run;
  const count = run.written.length;
  const due = run.late.length;
  const done = closes ? log.close() : log.sync();
  done?.catch(() => {});
  if (!closes && random() < 0.5) writeLate(run, random);
  for (let given = 0; given < due; given++) {
    const [late] = run.late.splice(Math.floor(random() * (due - given)), 1);
    late!.give();
    if (random() < 0.3) await Promise.resolve();
  }
  await done;
  run.acknowledged = count;
  if (closes) run.log = (await openTexts(storage, sizes))!.log;
}

/** Everything acknowledged is in `image`, in order, whole and sealed, and it can be used. */
async function check(image: Storage, run: Run, what: string): Promise<void> {
  const opened = await openTexts(image, sizes);
  if (opened === undefined) {
    equal(run.acknowledged, 0, what);
    return;
  }
  const { texts, log } = opened;
  deepEqual(texts, run.written.slice(0, texts.length), what);
  ok(texts.length >= run.acknowledged, `${what}: ${run.acknowledged} wanted`);
  equal(log.sealed, log.end, what);
  const after = putLate(log, "after");
  after.give();
  await log.sync();
  const again = (await openTexts(image, sizes))!;
  deepEqual(again.texts, [...texts, after.text], what);
  equal(again.recovery.droppedBytes, 0, what);
}

for (const slow of [false, true]) {
  const how = slow ? "slow" : "quick";
  for (const fault of ["failAt", "shortenAt", "freezeAt"] as const) {
    Deno.test(`late seals: every acknowledged record survives ${fault} 1 to ${OPERATIONS} and a power cut, ${how} syncs`, async () => {
      let tried = 0;
      let acknowledged = 0;
      let unsealed = 0;
      for (let n = 1; n <= OPERATIONS; n++) {
        if (!isTried(n, 7)) continue;
        tried++;
        const storage = faultyStorage({ [fault]: n, slow });
        const result = await run(storage, n);
        acknowledged += result.acknowledged;
        unsealed += result.late.length;
        for (const kept of IMAGES) {
          const what = `${fault} ${n}, kept ${kept}`;
          await check(storage.powerCut(kept), result, what);
        }
      }
      ok(acknowledged > 5 * tried, `the runs got to ${acknowledged}`);
      ok(unsealed > tried, `${unsealed} seals never came`);
    });
  }
}

/** A log with one acknowledged record, one that lacks its seal, and one behind it. */
async function unsealed(storage: Storage) {
  const log = createTexts(storage, "genesis", sizes);
  putText(log, "acknowledged");
  await log.sync();
  const late = putLate(log, "late");
  putText(log, "behind");
  return { log, late };
}

Deno.test("late seals: a record whose seal is cut at any byte, in any order of its writes, is none", async () => {
  const storage = memoryStorage();
  const { log, late } = await unsealed(storage);
  const before = bytesOfFile(storage, FIRST_SEGMENT);
  late.give();
  await turn();
  const after = bytesOfFile(storage, FIRST_SEGMENT);
  const changed = [...after.keys()].filter((at) => before[at] !== after[at]);
  ok(changed.length > SEAL_BYTES, "seal, checksum and mark");
  for (const order of [changed, changed.toReversed()]) {
    const bytes = before.slice();
    for (const [done, at] of [...order.entries(), [order.length, -1]]) {
      const { texts, recovery } = await openImage(bytes);
      const isWhole = done === order.length;
      const whole = ["genesis", "acknowledged", late.text, "behind"];
      deepEqual(texts, isWhole ? whole : whole.slice(0, 2), `${done} bytes`);
      equal(recovery.droppedBytes > 0, !isWhole);
      bytes[at!] = after[at!]!;
    }
  }
  equal(log.failure, undefined);
});

async function openImage(bytes: Uint8Array) {
  return (await openTexts(restored([[FIRST_SEGMENT, bytes]]), sizes))!;
}

Deno.test("late seals: their own process reads such a record, nobody else does", async () => {
  const storage = memoryStorage();
  const { log, late } = await unsealed(storage);
  const none = "late" + "\0".repeat(SEAL_BYTES);
  deepEqual(readText(log, late.address), [`4 ${none}`, "4 behind"]);
  const other = () => openImage(bytesOfFile(storage, FIRST_SEGMENT));
  equal((await other()).texts.length, 2);
  late.give();
  await turn();
  deepEqual(readText(log, late.address), [`4 ${late.text}`, "4 behind"]);
  equal((await other()).texts.length, 4);
});

Deno.test("late seals: sync() waits for those before it, in whatever order they come, and for no other", async () => {
  const log = createTexts(memoryStorage(), "genesis", sizes);
  await log.sync();
  const { end } = log;
  const late = ["a", "b", "c"].map((text) => putLate(log, text));
  const wanted = log.end;
  let told = 0;
  log.onSealed = () => void told++;
  const done = log.sync();
  const other = putLate(log, "d");
  late[2]!.give();
  late[1]!.give();
  equal(await isSettled(done), false);
  deepEqual([log.synced, log.sealed, told], [end, end, 0]);
  late[0]!.give();
  equal(await isSettled(done), true);
  deepEqual([log.synced, log.sealed, told], [wanted, wanted, 1]);
  const all = log.sync();
  equal(await isSettled(all), false);
  other.give();
  await all;
  deepEqual([log.synced, log.sealed, told], [log.end, log.end, 2]);
});

Deno.test("late seals: close() waits for them and closes in good order", async () => {
  const storage = memoryStorage();
  const { log, late } = await unsealed(storage);
  const done = log.close();
  equal(await isSettled(done), false);
  late.give();
  await done;
  const { texts, recovery } = (await openTexts(storage, sizes))!;
  deepEqual(texts, ["genesis", "acknowledged", late.text, "behind"]);
  equal(recovery.clean, true);
});

Deno.test("late seals: one that fails, or is none, is as final as a failed sync", async () => {
  for (const how of ["fails", "is short"]) {
    const storage = memoryStorage();
    const { log, late } = await unsealed(storage);
    const done = log.sync();
    const second = putLate(log, "second");
    if (how === "fails") late.refuse(new Error("The key is gone"));
    else late.give("short");
    await rejects(Promise.resolve(done), { code: "storage-readonly" });
    second.give(); // Comes in vain.
    await turn();
    equal(log.failure?.code, "storage-readonly");
    throws(() => putText(log, "x"), { code: "storage-readonly" });
    throws(() => log.sync(), { code: "storage-readonly" });
    await log.close();
    const { texts } = (await openTexts(storage, sizes))!;
    deepEqual(texts, ["genesis", "acknowledged"]);
  }
});

Deno.test("late seals: one that comes after close() of a failed log touches no file", async () => {
  const storage = faultyStorage();
  const { log, late } = await unsealed(storage);
  storage.failNext();
  throws(() => putText(log, "fails"));
  await log.close();
  const { operations } = storage;
  late.give();
  await turn();
  equal(storage.operations, operations);
});

Deno.test("late seals: a segment that is left waits for them, and is synced again", async () => {
  const storage = faultyStorage();
  const log = createTexts(storage, "genesis", sizes);
  await log.sync();
  const late = putLate(log, "late");
  const texts = ["genesis", late.text];
  while (storage.list(FOLDER).length === 1) {
    texts.push(longText(texts.length, 300));
    putText(log, texts.at(-1)!);
  }
  ok(log.synced < late.address, "leaving a segment acknowledges nothing");
  const cut = (await openTexts(storage.powerCut("all"), sizes))!;
  deepEqual(cut.texts, ["genesis"], "not even in the segments behind it");
  const done = log.sync();
  late.give();
  await done;
  const whole = (await openTexts(storage.powerCut("synced"), sizes))!;
  deepEqual(whole.texts, texts);
});

Deno.test("late seals: a segment that is left is synced once, when the last of its records has its seal", async () => {
  const storage = faultyStorage();
  const log = createTexts(storage, "genesis", sizes);
  await log.sync();
  const [first, last] = [putLate(log, "first"), putLate(log, "last")];
  while (storage.list(FOLDER).length === 1) putText(log, longText(1, 300));
  await turn();
  first.give();
  await turn();
  const cut = (await openTexts(storage.powerCut("synced"), sizes))!;
  deepEqual(cut.texts, ["genesis"]);
  last.give();
  await turn();
  const left = (await openTexts(storage.powerCut("synced"), sizes))!;
  deepEqual(left.texts.slice(0, 3), ["genesis", first.text, last.text]);
  await log.close();
});
