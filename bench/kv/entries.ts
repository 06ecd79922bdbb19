/**
 * Keys and values of the suite: each a pure function of its number, so that
 * every engine gets the same and no process has to remember them.
 *
 * Keys look random, so that no engine profits from order, and are made anew for
 * each operation: an application's keys come from outside, so an engine that
 * hashes a key has to hash it. Values are JSON objects of about the wished size.
 *
 * @module
 */

import { idOf } from "../harness/items.ts";
import { numbers } from "../harness/scramble.ts";

/** A value as every engine must give it back; a type, because only types are plain objects to others. */
export type Value = {
  readonly index: number;
  /** Which write of the key it is of. */
  readonly version: number;
  readonly isOpen: boolean;
  readonly body: string;
};

/** A key and its value. */
export interface Entry {
  readonly key: string;
  readonly value: Value;
}

/** Long enough that bodies of one size hardly repeat. */
const textLength = 1 << 20;
const alphabet =
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz .";
/** What a value's JSON has beside its body. */
const frameBytes = 50;
let text: string | undefined;

/** The key of entry `index`; a new string each time. */
export function keyOf(index: number): string {
  return idOf(index);
}

/** The value of entry `index` as its write number `version` makes it, of about `bytes` as JSON. */
export function valueOf(index: number, version: number, bytes: number): Value {
  text ??= makeText();
  const length = Math.max(bytes - frameBytes, 8);
  const from = Math.imul(index + 1, 7_919) + Math.imul(version, 104_729);
  const at = (from >>> 0) % (textLength - length);
  return {
    index,
    version,
    isOpen: (index + version) % 2 === 0,
    body: text.slice(at, at + length),
  };
}

/** Is this answer that value, and nothing else? */
export function isSame(answer: unknown, value: Value): boolean {
  if (typeof answer !== "object" || answer === null) return false;
  if (Object.keys(answer).length !== 4) return false;
  const { index, version, isOpen, body } = answer as Partial<Value>;
  return index === value.index && version === value.version &&
    isOpen === value.isOpen && body === value.body;
}

/** Letters that do not compress well. */
function makeText(): string {
  const dice = numbers(1);
  const codes = new Uint8Array(textLength);
  for (let at = 0; at < textLength; at++) {
    codes[at] = alphabet.charCodeAt(dice(alphabet.length));
  }
  return new TextDecoder().decode(codes);
}
