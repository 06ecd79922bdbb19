/**
 * The log cut at every byte, and with every bit flipped once.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { DatabaseError } from "../src/base/errors.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import type { Storage } from "../src/storage/storage.ts";
import {
  bytesOfFile,
  createTexts,
  FIRST_SEGMENT,
  FOLDER,
  longText,
  openTexts,
  putText,
} from "./kit/log.ts";
import { isTried, sized } from "./kit/tier.ts";

const small = { extentBytesFirst: 64 };

/** A log in one segment, and where each of its records ends. */
interface Sample {
  readonly bytes: Uint8Array;
  readonly texts: readonly string[];
  readonly ends: readonly number[];
}

async function sample(lengths: readonly number[]): Promise<Sample> {
  const storage = memoryStorage();
  const log = createTexts(storage, "genesis", small);
  const texts = ["genesis"];
  const ends = [log.end];
  for (const [i, length] of lengths.entries()) {
    if (i % 3 !== 2) await log.sync();
    texts.push(longText(i, length));
    putText(log, texts.at(-1)!);
    ends.push(log.end);
  }
  await log.close();
  return { bytes: bytesOfFile(storage, FIRST_SEGMENT), texts, ends };
}

/** Opens five times, writing in between, closing every other time; says what is wrong. */
async function liveOn(storage: Storage, kept: string[]): Promise<void> {
  for (let round = 0; round < 5; round++) {
    const opened = await openTexts(storage, small);
    if (opened === undefined) {
      // Nothing of the creation was durable: it is repeated.
      equal(kept.length, 0);
      kept.push("created");
      await createTexts(storage, "created", small).sync();
      continue;
    }
    deepEqual(opened.texts, kept);
    if (round > 0) equal(opened.recovery.droppedBytes, 0);
    const text = `round ${round}`;
    putText(opened.log, text);
    kept.push(text);
    await opened.log.sync();
    if (round % 2 === 0) await opened.log.close();
  }
}

Deno.test("a log of 64 KB cut at any byte keeps every record before the cut, and no half one", async () => {
  const lengths = Array.from({ length: 32 }, (_, i) => 100 + i * 120);
  const { bytes, texts, ends } = await sample(lengths);
  ok(bytes.length > 60_000 && bytes.length < 70_000);
  for (let cut = 0; cut <= bytes.length; cut += sized(251, 1)) {
    const image = memoryStorage([[FIRST_SEGMENT, bytes.subarray(0, cut)]]);
    const kept = texts.filter((_, i) => ends[i]! <= cut);
    await liveOn(image, kept);
  }
});

Deno.test("a log with zeros from any byte of its records on keeps every record before it", async () => {
  const { bytes, texts, ends } = await sample([30, 0, 90, 1, 200, 60, 8, 400]);
  for (let cut = 64; cut <= bytes.length; cut++) {
    if (!isTried(cut, 7)) continue;
    const zeroed = bytes.slice().fill(0, cut);
    const image = memoryStorage([[FIRST_SEGMENT, zeroed]]);
    await liveOn(image, texts.filter((_, i) => ends[i]! <= cut));
  }
});

/** What opening says of an image: its texts, or that something is wrong with it. */
async function verdict(
  image: Storage,
): Promise<{ texts: string[]; isDetected: boolean }> {
  try {
    const opened = await openTexts(image);
    if (opened === undefined) return { texts: [], isDetected: true };
    const { texts, recovery } = opened;
    return { texts, isDetected: recovery.droppedBytes > 0 };
  } catch (error) {
    ok(error instanceof DatabaseError);
    return { texts: [], isDetected: true };
  }
}

async function flipAll(
  files: readonly (readonly [string, Uint8Array])[],
  texts: readonly string[],
): Promise<number> {
  let flips = 0;
  for (const [name, bytes] of files) {
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      if (!isTried(bit, 11)) continue;
      flips++;
      const flipped = bytes.slice();
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      const image = memoryStorage([
        ...files.filter(([other]) => other !== name),
        [name, flipped],
      ]);
      const found = await verdict(image);
      ok(found.isDetected, `bit ${bit} of ${name}`);
      deepEqual(found.texts, texts.slice(0, found.texts.length));
    }
  }
  return flips;
}

Deno.test("no flipped bit of a log goes unnoticed", async () => {
  const { bytes, texts } = await sample([10, 40, 0, 3, 100, 17, 60]);
  const flips = await flipAll([[FIRST_SEGMENT, bytes]], texts);
  ok(flips >= sized(Math.floor(bytes.length * 8 / 11), bytes.length * 8));
});

Deno.test("no flipped bit of a log in use goes unnoticed, its zero tail included", async () => {
  const { bytes, texts } = await sample([10, 40, 0, 3]);
  const inUse = new Uint8Array(bytes.length + 100);
  inUse.set(bytes);
  await flipAll([[FIRST_SEGMENT, inUse]], texts);
});

Deno.test("no flipped bit of a log in several segments goes unnoticed", async () => {
  const storage = memoryStorage();
  const sizes = { segmentBytesMax: 200, extentBytesFirst: 16 };
  const log = createTexts(storage, "genesis", sizes);
  const texts = ["genesis"];
  for (let i = 0; i < 10; i++) {
    texts.push(longText(i, 40));
    putText(log, texts.at(-1)!);
    if (i % 2 === 0) await log.sync();
  }
  await log.close();
  const files = storage.list(FOLDER).map((name) =>
    [`${FOLDER}/${name}`, bytesOfFile(storage, `${FOLDER}/${name}`)] as const
  );
  ok(files.length >= 4);
  await flipAll(files, texts);
});
