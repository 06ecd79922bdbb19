/**
 * The real world: clock, dice, timers, and the platform's fast paths.
 *
 * One of the few files that may touch the platform. It runs everywhere: what a
 * platform lacks is `undefined`, and the caller falls back to plain code.
 */

import type { World } from "./world.ts";

/** Fast paths of the platform, each with a slower portable twin. */
export interface Native {
  /** One character per byte of `bytes[start, end)`; there only for who asks often. */
  readonly latin1:
    | ((bytes: Uint8Array, start: number, end: number) => string)
    | undefined;
  /** The platform's cryptography, where it is synchronous. */
  readonly crypto: typeof import("node:crypto") | undefined;
  /** The platform's compression and CRC-32 (ISO-HDLC), where they are synchronous. */
  readonly zlib: typeof import("node:zlib") | undefined;
}

/** In Deno `process` is the dearest: to touch it takes 15 ms of CPU, `Buffer` 4. */
interface Platform {
  process?: {
    getBuiltinModule?: (name: string) => unknown;
    platform?: string;
  };
  Buffer?: { prototype: { latin1Slice?: Latin1Slice } };
  Deno?: { build?: { os: string } };
}

type Latin1Slice = (this: Uint8Array, start: number, end: number) => string;

const platform = globalThis as Platform;

/** A module of Node, where the platform has them; bundlers for browsers see none. */
export function builtin<T>(name: string): T | undefined {
  return platform.process?.getBuiltinModule?.(name) as T | undefined;
}

/** The operating system as Node names it; empty in browsers. */
export function operatingSystem(): string {
  const os = platform.Deno?.build?.os;
  if (os !== undefined) return os === "windows" ? "win32" : os;
  return platform.process?.platform ?? "";
}

/** `Buffer.prototype.latin1Slice` works on any `Uint8Array`, without a copy. */
function latin1Here(): Native["latin1"] {
  const slice = platform.Buffer?.prototype.latin1Slice;
  return slice && ((bytes, start, end) => slice.call(bytes, start, end));
}

/** A value that is made when it is first asked for, also where it is `undefined`. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const modules = {
  crypto: once(() => builtin<typeof import("node:crypto")>("node:crypto")),
  zlib: once(() => builtin<typeof import("node:zlib")>("node:zlib")),
  latin1: once(latin1Here),
};

/** Texts that are read before Node's `Buffer` is loaded. */
const isFew = /* @__PURE__ */ allowance(1_000);

/**
 * What this platform does faster than plain code. Each module is loaded when it
 * is first asked for, which takes 5 to 25 ms: see {@linkcode allowance}.
 */
export const native: Native = {
  get crypto() {
    return modules.crypto();
  },
  get zlib() {
    return modules.zlib();
  },
  get latin1() {
    return isFew(1) ? undefined : modules.latin1();
  },
};

/**
 * The work that a portable twin may do before the platform's module is worth its
 * loading: opening a database and reading a little never get there. Says of each
 * piece of work whether it is still the twin's.
 */
export function allowance(total: number): (work: number) => boolean {
  let left = total;
  return (work) => left > 0 && (left -= work) >= 0;
}

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
