/**
 * What everybody gets who stands at the same place of a log: one frame, encoded
 * once. Without it a push costs each follower its reading, its encoding and its
 * bytes anew.
 *
 * Architecture invariant: it holds what the channel that came first was sent on
 * the common way; who may have less, or has more, takes his own.
 */

import { concatBytes, varintLength } from "../src/base/bytes.ts";
import { encodeMessage } from "./message_codec.ts";
import type { SentRecord } from "./outbox.ts";
import type { Place } from "./frame_fields.ts";

/** Whoever has many repositories open has this one under another number: copies that are kept. */
const CHANNELS_MAX = 16;
/** Of a larger frame the bytes cost more than making it. */
const FRAME_BYTES_MAX = 256 * 1024;

/** From one place of a log to the next. */
export class Step {
  /** Log address at which it begins. */
  readonly from: number;
  /** The place where it ends. */
  readonly to: Place;
  /** The batches in it: who has something of them gets less. */
  readonly batches: readonly SentRecord[];
  readonly #frames = new Map<number, Uint8Array>();

  constructor(from: number, to: Place, batches: readonly SentRecord[]) {
    this.from = from;
    this.to = to;
    this.batches = batches;
  }

  /** Keeps its frame on a channel. */
  keep(channel: number, frame: Uint8Array): void {
    if (this.#frames.size < CHANNELS_MAX) this.#frames.set(channel, frame);
  }

  /** Its frame on a channel. */
  frame(channel: number): Uint8Array {
    const known = this.#frames.get(channel);
    if (known !== undefined) return known;
    const [[other, bytes]] = [...this.#frames] as [[number, Uint8Array]];
    // kind u8 | channel varint | what all have in common.
    const rest = bytes.subarray(1 + varintLength(other));
    const head = encodeMessage({ is: "close", channel }).subarray(1);
    const frame = concatBytes(bytes.subarray(0, 1), head, rest);
    this.keep(channel, frame);
    return frame;
  }
}

/** The last step of one repository, for all its channels. */
export class Broadcast {
  #last: Step | undefined;

  /** The step from an address to another one. */
  step(from: number, to: number): Step | undefined {
    const last = this.#last;
    return last?.from === from && last.to.position === to ? last : undefined;
  }

  /** Keeps what a channel was sent. */
  keep(step: Step, channel: number, frame: Uint8Array): void {
    if (frame.length > FRAME_BYTES_MAX) return;
    step.keep(channel, frame);
    this.#last = step;
  }
}
