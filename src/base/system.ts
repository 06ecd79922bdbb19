/**
 * The real world: clock, dice, timers, and the platform's fast paths.
 *
 * One of the few files that may touch the platform. It runs everywhere: what a
 * platform lacks is `undefined`, and the caller falls back to plain code.
 *
 * @module
 */

import type { World } from "./world.ts";

/** Fast paths of the platform, each with a slower portable twin. */
export interface Native {
  /** CRC-32 (ISO-HDLC, as in zlib) of bytes, continuing from `seed`. */
  readonly crc32?: (bytes: Uint8Array, seed: number) => number;
  /** One character per byte of `bytes[start, end)`. */
  readonly latin1?: (bytes: Uint8Array, start: number, end: number) => string;
  /** The platform's cryptography, where it is synchronous. */
  readonly crypto?: typeof import("node:crypto");
  /** The platform's compression, where it is synchronous. */
  readonly zlib?: typeof import("node:zlib");
}

interface Platform {
  process?: {
    getBuiltinModule?: (name: string) => unknown;
    platform?: string;
  };
}

/** A module of Node, where the platform has them; bundlers for browsers see none. */
export function builtin<T>(name: string): T | undefined {
  const { process } = globalThis as unknown as Platform;
  return process?.getBuiltinModule?.(name) as T | undefined;
}

/** The operating system as Node names it; empty in browsers. */
export const operatingSystem: string =
  (globalThis as unknown as Platform).process?.platform ?? "";

function detect(): Native {
  const crypto = builtin<typeof import("node:crypto")>("node:crypto");
  const zlib = builtin<typeof import("node:zlib")>("node:zlib");
  const buffer = builtin<typeof import("node:buffer")>("node:buffer");
  return {
    ...(crypto && { crypto }),
    ...(zlib && { zlib, crc32: (bytes, seed) => zlib.crc32(bytes, seed) }),
    ...(buffer && { latin1: latin1From(buffer.Buffer) }),
  };
}

type BufferClass = typeof import("node:buffer").Buffer;

/** `Buffer.prototype.latin1Slice` works on any `Uint8Array`, without a copy. */
function latin1From(Buffer: BufferClass): NonNullable<Native["latin1"]> {
  const slice = (Buffer.prototype as unknown as {
    latin1Slice(this: Uint8Array, start: number, end: number): string;
  }).latin1Slice;
  return (bytes, start, end) => slice.call(bytes, start, end);
}

/** What this platform does faster than plain code. */
export const native: Native = detect();

/** The real clock, dice and timers. */
export const system: World = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: (target) =>
    void crypto.getRandomValues(target as Uint8Array<ArrayBuffer>),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};
