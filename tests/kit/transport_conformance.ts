/**
 * What every transport must do, as plain cases that any test runner and any
 * browser can run.
 *
 * @module
 */

import type {
  Transport,
  TransportEnd,
} from "../../sync/transport/transport.ts";

/** A fresh wire for one case. */
export interface OpenedWire {
  /** The end that connected. */
  readonly near: Transport;
  /** The end that accepted. */
  readonly far: Transport;
  /** Makes the wire go away without a word, where the adapter can hear of that. */
  readonly cut?: (() => void) | undefined;
  /** Makes one end stop reading, without a word. */
  readonly stall?: ((who: "near" | "far") => void) | undefined;
  /** Gives everything back. */
  cleanup(): Promise<void>;
}

/** One sentence that must hold. */
export interface TransportCase {
  /** The sentence. */
  readonly name: string;
  /** Rejects when it does not hold. */
  run(): Promise<void>;
}

/** One side of a wire, with what it heard. */
class Side {
  readonly transport: Transport;
  readonly frames: Uint8Array[] = [];
  readonly ends: TransportEnd[] = [];
  #waiting: (() => void)[] = [];

  constructor(transport: Transport) {
    this.transport = transport;
  }

  listen(): this {
    this.transport.listen({
      frame: (bytes) => {
        expect(this.ends.length === 0, "nothing comes after the end");
        this.frames.push(bytes);
        this.#wake();
      },
      ended: (end) => {
        this.ends.push(end);
        this.#wake();
      },
    });
    return this;
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async until(isThere: () => boolean): Promise<void> {
    while (!isThere()) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async end(): Promise<TransportEnd> {
    await this.until(() => this.ends.length > 0);
    return this.ends[0]!;
  }

  async take(count: number): Promise<Uint8Array[]> {
    await this.until(() => this.frames.length >= count || this.ends.length > 0);
    expect(this.frames.length === count, `${count} frames arrived`);
    return this.frames;
  }
}

type Check = (
  a: Side,
  b: Side,
  wire: OpenedWire,
  role: "near" | "far",
) => Promise<void>;

/**
 * The cases for one adapter, each from either side.
 *
 * @param name of the adapter
 * @param open makes a fresh wire for each case
 */
export function transportConformance(
  name: string,
  open: () => Promise<OpenedWire>,
): TransportCase[] {
  return Object.entries(cases).flatMap(([sentence, check]) =>
    (["near", "far"] as const).map((role) => ({
      name: `${name}: from the ${role} side, ${sentence}`,
      async run() {
        const wire = await open();
        const sides = [new Side(wire.near), new Side(wire.far)] as const;
        const [a, b] = role === "near" ? sides : [sides[1], sides[0]];
        try {
          await check(a, b, wire, role);
        } finally {
          await wire.cleanup();
        }
      },
    }))
  );
}

const MIB = 1024 * 1024;
const SIZES = [0, 1, 125, 126, 1_024, 1_025, 4_096, 65_536, 1_048_576];

const cases: Record<string, Check> = {
  async "frames of every size arrive whole and in order"(a, b) {
    a.listen();
    b.listen();
    const sent = SIZES.map((size) => sample(size));
    for (const frame of sent) a.transport.send(frame);
    expectFrames(await b.take(sent.length), sent);
  },
  async "a thousand frames arrive in order, small between large"(a, b) {
    a.listen();
    b.listen();
    const sent = Array.from({ length: 1_000 }, (_, i) => {
      const frame = sample(i % 17 === 0 ? 5_000 : 9);
      frame[0] = i;
      frame[1] = i >> 8;
      return frame;
    });
    for (const frame of sent) a.transport.send(frame);
    expectFrames(await b.take(sent.length), sent);
  },
  async "both directions work at once"(a, b) {
    a.listen();
    b.listen();
    const sent = [sample(10), sample(20_000), sample(3)];
    for (const frame of sent) {
      a.transport.send(frame);
      b.transport.send(frame);
    }
    expectFrames(await a.take(3), sent);
    expectFrames(await b.take(3), sent);
  },
  async "a frame belongs to who receives it"(a, b) {
    a.listen();
    b.listen();
    const frame = sample(100);
    const kept = frame.slice();
    a.transport.send(frame);
    const [first] = await b.take(1);
    first!.fill(0);
    expectBytes(frame, kept);
  },
  async "frames that came before anybody listened are delivered first"(a, b) {
    a.listen();
    a.transport.send(sample(5));
    a.transport.send(sample(2_000));
    await pause();
    b.listen();
    a.transport.send(sample(7));
    expectFrames(await b.take(3), [sample(5), sample(2_000), sample(7)]);
  },
  async "closing sends what was buffered, then code and detail"(a, b) {
    a.listen();
    b.listen();
    const sent = [sample(300_000), sample(4)];
    for (const frame of sent) a.transport.send(frame);
    a.transport.close("shutting-down", "back in a minute: ä");
    expectFrames(await b.take(2), sent);
    expectEnd(await b.end(), "shutting-down", "back in a minute: ä");
    expectEnd(await a.end(), "shutting-down", "back in a minute: ä");
    await pause();
    expect(a.ends.length === 1 && b.ends.length === 1, "each ends once");
  },
  async "an end is told to who listens later"(a, b) {
    a.listen();
    a.transport.send(sample(3));
    a.transport.close("timeout", "");
    await a.end();
    await pause();
    b.listen();
    expectFrames(await b.take(1), [sample(3)]);
    expectEnd(await b.end(), "timeout", "");
  },
  async "what is sent or closed after the end is dropped"(a, b) {
    a.listen();
    b.listen();
    a.transport.close("timeout", "x");
    a.transport.send(sample(3));
    a.transport.close("internal", "y");
    expectEnd(await b.end(), "timeout", "x");
    expectEnd(await a.end(), "timeout", "x");
    a.transport.send(sample(3));
    b.transport.send(sample(3));
    b.transport.close("internal", "z");
    await pause();
    expect(a.frames.length + b.frames.length === 0, "nothing arrived");
    expect(a.ends.length === 1 && b.ends.length === 1, "each ends once");
  },
  async "both may close at once"(a, b) {
    a.listen();
    b.listen();
    a.transport.close("timeout", "a");
    b.transport.close("timeout", "b");
    await a.end();
    await b.end();
    await pause();
    expect(a.ends.length === 1 && b.ends.length === 1, "each ends once");
  },
  async "a long detail is cut, not lost"(a, b) {
    a.listen();
    b.listen();
    a.transport.close("internal", "ü".repeat(400));
    const { code, detail } = await b.end();
    expect(code === "internal", `the code arrives, not "${code}"`);
    expect(/^ü{30,}$/.test(detail), `whole characters arrive: ${detail}`);
  },
  async "a wire that goes away ends both with 'lost'"(a, b, wire) {
    if (wire.cut === undefined) return;
    a.listen();
    b.listen();
    a.transport.send(sample(3));
    await b.take(1);
    wire.cut();
    expect((await a.end()).code === "lost", "this side hears it");
    expect((await b.end()).code === "lost", "the other side hears it");
  },
  async "a peer that does not read shows in buffered"(a, _b, wire, role) {
    a.listen();
    expect(a.transport.buffered === 0, "nothing waits in the beginning");
    if (wire.stall === undefined) return;
    wire.stall(role === "near" ? "far" : "near");
    // Wires hold some themselves, and some of them megabytes.
    let sent = 0;
    for (let i = 0; i < 32 && a.transport.buffered <= MIB; i++) {
      a.transport.send(noise(MIB / 2, i));
      sent += MIB / 2;
      await pause();
    }
    const { buffered } = a.transport;
    expect(buffered > MIB, `${buffered} bytes wait of ${sent}`);
    expect(buffered <= sent + MIB, "no more than was sent waits");
  },
  async "buffered falls when the peer reads"(a, b) {
    a.listen();
    b.listen();
    for (let i = 0; i < 8; i++) a.transport.send(noise(500_000, i));
    await b.take(8);
    for (let i = 0; i < 50 && a.transport.buffered > 65_536; i++) await pause();
    const { buffered } = a.transport;
    expect(buffered <= 65_536, `${buffered} bytes wait though all arrived`);
  },
};

/** Long enough for what would wrongly come. */
function pause(): Promise<void> {
  // deno-lint-ignore floor-plan/no-sleep-in-tests -- what does not come gives no sign
  return new Promise((resolve) => setTimeout(resolve, 20));
}

/** Bytes that compress. */
function sample(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 7) % 50;
  return bytes;
}

/** Bytes that do not compress. */
function noise(size: number, seed: number): Uint8Array {
  const words = new Uint32Array(size / 4);
  let x = seed + 1;
  for (let i = 0; i < words.length; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    words[i] = x;
  }
  return new Uint8Array(words.buffer);
}

function expectFrames(
  got: readonly Uint8Array[],
  wanted: readonly Uint8Array[],
): void {
  for (const [i, frame] of wanted.entries()) {
    expectBytes(got[i] ?? new Uint8Array(), frame);
  }
}

function expectBytes(got: Uint8Array, wanted: Uint8Array): void {
  const isSame = got.length === wanted.length &&
    got.every((byte, i) => byte === wanted[i]);
  expect(isSame, `${wanted.length} bytes arrive as they were sent`);
}

function expectEnd(end: TransportEnd, code: string, detail: string): void {
  const text = `${end.code}: ${end.detail}`;
  expect(text === `${code}: ${detail}`, `"${code}: ${detail}", not "${text}"`);
}

function expect(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Error(`Does not hold: ${why}`);
}
