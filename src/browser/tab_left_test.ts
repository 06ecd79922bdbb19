/**
 * What pages leave for the next one, in texts that a test looks at.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { type KeptTexts, Left } from "./tab_left.ts";
import { recordKind } from "../../repo/mod.ts";

class Texts extends Map<string, string> implements KeptTexts {
  get length(): number {
    return this.size;
  }

  key(index: number): string | null {
    return [...this.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.get(key) ?? null;
  }

  setItem(key: string, text: string): void {
    this.set(key, text);
  }

  removeItem(key: string): void {
    this.delete(key);
  }
}

const records = [
  { kind: recordKind.unsignedBatch, bytes: Uint8Array.of(0, 1, 128, 255) },
] as const;

function start() {
  const texts = new Texts();
  new Left(texts, "db", "gone").keep("board", "genesis", records);
  return { texts, left: new Left(texts, "db", "here") };
}

/** Hands in what is left, and waits until its answer was heard. */
async function handIn(
  left: Left,
  genesis: string,
  answer: () => Promise<boolean>,
): Promise<unknown[]> {
  const given: unknown[] = [];
  left.handIn("board", genesis, (records) => {
    given.push(records);
    return answer();
  });
  for (let i = 0; i < 5; i++) await Promise.resolve();
  return given;
}

Deno.test("Left.handIn() gives what a page has left as it was, and forgets it when it was taken", async () => {
  const { texts, left } = start();
  const given = await handIn(left, "genesis", () => Promise.resolve(true));
  deepEqual(given, [records]);
  equal(texts.size, 0);
});

Deno.test("Left.handIn() keeps what could not be taken, for the next time", async () => {
  const { texts, left } = start();
  await handIn(left, "genesis", () => Promise.resolve(false));
  equal(texts.size, 1, "something before it is missing");
  const gone = new DatabaseError("closed", "The owner is gone");
  await handIn(left, "genesis", () => Promise.reject(gone));
  equal(texts.size, 1, "the owner is gone");
  const damaged = new DatabaseError("log-damaged", "It never fits");
  await handIn(left, "genesis", () => Promise.reject(damaged));
  equal(texts.size, 0, "it would never be taken");
});

Deno.test("Left.handIn() forgets what is of another repository of that name", async () => {
  const { texts, left } = start();
  const given = await handIn(left, "other", () => Promise.resolve(true));
  deepEqual(given, []);
  equal(texts.size, 0);
});
