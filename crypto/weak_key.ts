/**
 * Ed25519 public keys that are none: points of small order, for which anybody can
 * sign, and bytes that are no point. Where signatures are the platform's, nobody
 * else says so; the arithmetic is that of RFC 8032, and its twin in the tests noble's.
 */

const P = 2n ** 255n - 19n;
const D = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;
/** The y of the points of order 8: one up, one down. */
const Y8 = 0x5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
const SMALL: readonly bigint[] = [0n, 1n, P - 1n, Y8, P - Y8];

/** Euler's criterion: the square of some number, zero included? */
function isSquare(value: bigint): boolean {
  let power = 1n;
  let base = value % P;
  for (let left = (P - 1n) / 2n; left > 0n; left >>= 1n) {
    if (left & 1n) power = power * base % P;
    base = base * base % P;
  }
  return power < 2n;
}

/**
 * Is the key one that anybody can sign for (a point of small order), or no
 * point at all? Such keys are refused once, when a certificate names them.
 */
export function isWeakKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== 32) return true;
  let y = 0n;
  for (let i = 31; i >= 0; i--) {
    y = y << 8n | BigInt(i === 31 ? publicKey[i]! & 0x7f : publicKey[i]!);
  }
  y %= P; // ZIP-215 takes encodings that are not the shortest.
  const square = y * y % P;
  // x² = (y² - 1) / (d y² + 1); a quotient is a square where the product is one.
  return SMALL.includes(y) ||
    !isSquare((square + P - 1n) * (D * square + 1n));
}
