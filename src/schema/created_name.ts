/**
 * Names of list elements that a create wrote whole: they follow from its commit,
 * so that the log need not hold them.
 *
 * @module
 */

import { fromHex, toHex } from "../base/bytes.ts";
import type { Hlc, Stamp } from "../base/hlc.ts";

const ELEMENT = /^(\d{1,15})\.(\d{1,5})\.([0-9a-f]{32})\.(\d{1,5})$/;

/** A commit's name: enough of its chain (64 bits of the key, and the incarnation) to tell it apart. */
export function nameOf({ wall, count, chain }: Stamp): string {
  const part = partOf(chain);
  const bytes = Uint8Array.from(part, (character) => character.charCodeAt(0));
  return `${wall}.${count}.${toHex(bytes)}`;
}

/** A commit as the names of elements have it that its create wrote. */
export interface CreatedName extends Hlc {
  /** 8 characters of its session's key and its incarnation, a byte each. */
  readonly part: string;
  readonly index: string;
}

/** Which commit's create an element is named after; `undefined` for any other name. */
export function parseCreatedName(element: string): CreatedName | undefined {
  const match = ELEMENT.exec(element);
  if (match === null) return undefined;
  const [, wall, count, hex, index] = match;
  const part = String.fromCharCode(...fromHex(hex!));
  return { wall: Number(wall), count: Number(count), part, index: index! };
}

/** As much of a chain as an element's name has of it. */
export function partOf(chain: string): string {
  return chain.slice(0, 8) + chain.slice(32);
}
