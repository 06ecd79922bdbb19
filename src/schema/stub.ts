/**
 * Stubs: a payload that stands in the place of another one and says nothing.
 *
 * `stub = 2 | 0 | 0 | SHA-256(the other payload) {32}`: a patch without shapes
 * and operations, and what its commit's id is made of. So a commit that was
 * given up keeps its number and its id, and nobody is told what it said.
 */

const FORMAT = 2;
/** Format of a payload of which values were erased: see `erasure.ts`. */
export const ERASED = 3;
/** Format of a payload that ends with a salt, so that its hash cannot be guessed back. */
export const SALTED = 4;
/** What a server that takes no other payloads says that it asks for. */
export const SALT = "salt";
const HEAD_BYTES = 3;
const HASH_BYTES = 32;

export const stubLength: number = HEAD_BYTES + HASH_BYTES;

/** Is the payload from `at` to `end` a stub? */
export function isStub(
  bytes: Uint8Array,
  at = 0,
  end: number = bytes.length,
): boolean {
  return bytes[at] === FORMAT && end - at === stubLength &&
    bytes[at + 1] === 0 && bytes[at + 2] === 0;
}

/** Were values of the payload from `at` to `end` erased? */
export function isErased(
  bytes: Uint8Array,
  at = 0,
  end: number = bytes.length,
): boolean {
  return at < end && bytes[at] === ERASED;
}

/** Does the payload from `at` on end with a salt? */
export function isSalted(bytes: Uint8Array, at = 0): boolean {
  return bytes[at] === SALTED;
}

/** The hash in a stub: a view. */
export function hashInStub(stub: Uint8Array): Uint8Array {
  return stub.subarray(HEAD_BYTES);
}

/** The stub of a payload with this hash. */
export function encodeStub(hash: Uint8Array): Uint8Array<ArrayBuffer> {
  const stub = new Uint8Array(stubLength);
  stub[0] = FORMAT;
  stub.set(hash, HEAD_BYTES);
  return stub;
}
