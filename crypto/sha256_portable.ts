/**
 * SHA-256 (FIPS 180-4) in plain code, for platforms that have none which answers
 * at once.
 *
 * @module
 */

/** The first 32 bits of the fractional parts of the first primes' roots (4.2.2, 5.3.3). */
function fractions(count: number, root: (prime: number) => number): Int32Array {
  const words = new Int32Array(count);
  for (let number = 2, found = 0; found < count; number++) {
    let divisor = 2;
    while (number % divisor !== 0) divisor++;
    // An array of words keeps the lowest 32 bits of what is whole.
    if (divisor === number) words[found++] = root(number) * 2 ** 32;
  }
  return words;
}

const START = /* @__PURE__ */ fractions(8, Math.sqrt);
const ROUNDS = /* @__PURE__ */ fractions(64, Math.cbrt);
const BLOCK = 64;

/** Where the message schedule stands, for all: no function here calls out. */
const schedule = /* @__PURE__ */ new Int32Array(BLOCK);

/** 6.2.2: takes one block into the state. */
function compress(state: Int32Array, bytes: Uint8Array, at: number): void {
  const w = schedule;
  for (let i = 0; i < 16; i++, at += 4) {
    w[i] = bytes[at]! << 24 | bytes[at + 1]! << 16 | bytes[at + 2]! << 8 |
      bytes[at + 3]!;
  }
  for (let i = 16; i < BLOCK; i++) {
    const x = w[i - 15]!;
    const y = w[i - 2]!;
    const s0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
    const s1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
    w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
  }
  let a = state[0]!, b = state[1]!, c = state[2]!, d = state[3]!;
  let e = state[4]!, f = state[5]!, g = state[6]!, h = state[7]!;
  for (let i = 0; i < BLOCK; i++) {
    const s1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
    const t1 = h + s1 + (e & f ^ ~e & g) + ROUNDS[i]! + w[i]! | 0;
    const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^
      (a >>> 22 | a << 10);
    const t2 = s0 + (a & b ^ a & c ^ b & c) | 0;
    h = g;
    g = f;
    f = e;
    e = d + t1 | 0;
    d = c;
    c = b;
    b = a;
    a = t1 + t2 | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

/** A hash of bytes that come piece by piece. */
export class PortableSha256 {
  readonly #state = START.slice();
  readonly #block = new Uint8Array(BLOCK);
  #length = 0;

  update(bytes: Uint8Array): this {
    const filled = this.#length % BLOCK;
    this.#length += bytes.length;
    let at = 0;
    if (filled > 0) {
      at = Math.min(BLOCK - filled, bytes.length);
      this.#block.set(bytes.subarray(0, at), filled);
      if (filled + at < BLOCK) return this;
      compress(this.#state, this.#block, 0);
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) {
      compress(this.#state, bytes, at);
    }
    this.#block.set(bytes.subarray(at));
    return this;
  }

  /** 5.1.1: one bit, zeros, and the length in bits; 32 bytes. */
  digest(): Uint8Array<ArrayBuffer> {
    const length = this.#length;
    const end = (length % BLOCK < 56 ? 64 : 128) - length % BLOCK;
    const padding = new DataView(new ArrayBuffer(end));
    padding.setUint8(0, 0x80);
    padding.setBigUint64(end - 8, BigInt(length) * 8n);
    this.update(new Uint8Array(padding.buffer));
    const digest = new DataView(new ArrayBuffer(32));
    this.#state.forEach((word, i) => digest.setInt32(4 * i, word));
    return new Uint8Array(digest.buffer);
  }
}
