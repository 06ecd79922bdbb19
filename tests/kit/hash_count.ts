/**
 * How often SHA-256 is asked for.
 *
 * @module
 */

import crypto from "node:crypto";
import { sha256 } from "../../crypto/mod.ts";

/** How many hashes some work takes, and what comes of it. */
export function hashesOf<T>(work: () => T): readonly [hashes: number, T] {
  sha256(new Uint8Array(1 << 20)); // The platform's hash is loaded behind so many bytes.
  const { hash } = crypto;
  let count = 0;
  const counted = (...args: Parameters<typeof hash>) => {
    count++;
    return hash(...args);
  };
  Object.assign(crypto, { hash: counted });
  try {
    const made = work();
    return [count, made];
  } finally {
    Object.assign(crypto, { hash });
  }
}
