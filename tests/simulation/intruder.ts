/**
 * Somebody without a session: replays what others sent, sends garbage, or says
 * nothing at all. The server tells such a one its greeting and why it closes,
 * and never anything else.
 *
 * @module
 */

import type { Transport } from "../../sync/transport/transport.ts";
import type { Dice } from "./dice.ts";
import type { Link } from "./network.ts";
import type { Stage } from "./stage.ts";

/** hello, failed, goodbye. */
const HARMLESS = [0x01, 0x60, 0x61];
/** Frames of others that it remembers. */
const REMEMBERED = 50;

/** See the file's header. */
export class Intruder {
  readonly #stage: Stage;
  readonly #dice: Dice;
  readonly link: Link;
  readonly #frames: Uint8Array[] = [];
  #visits = 0;

  constructor(stage: Stage, dice: Dice) {
    this.#stage = stage;
    this.#dice = dice;
    const lane = {
      delayMs: 5,
      jitterMs: 1,
      bytesPerMs: 1_000,
      isStalled: false,
    };
    this.link = stage.network.link("x", { ...lane }, { ...lane });
  }

  /** Overhears a frame that somebody sends to the server. */
  overhear(frame: Uint8Array): void {
    if (this.#frames.length < REMEMBERED) this.#frames.push(frame);
    else this.#frames[this.#dice.between(0, REMEMBERED - 1)] = frame;
  }

  /** Tries its luck on a connection of its own. */
  visit(): void {
    const visit = ++this.#visits;
    this.#stage.trace.note("x", "visit", `${visit}`);
    this.#stage.network.connect(this.link, new AbortController().signal)
      .then((transport) => this.#use(transport), () => {});
  }

  #use(transport: Transport): void {
    const { timeline, fail } = this.#stage;
    transport.listen({
      frame: (bytes) => {
        const isHarmless = HARMLESS.includes(bytes[0]!);
        if (!isHarmless) {
          fail(new Error(`intruder: was sent a frame of kind ${bytes[0]}`));
        }
      },
      ended: () => {},
    });
    const style = this.#dice.pick(["silent", "garbage", "replay", "flood"]);
    const frames = style === "silent"
      ? 0
      : style === "flood"
      ? 200
      : this.#dice.between(1, 10);
    for (let i = 0; i < frames; i++) {
      timeline.after(
        this.#dice.wait(50),
        () => transport.send(this.#frame(style)),
      );
    }
  }

  #frame(style: string): Uint8Array {
    if (style === "replay" && this.#frames.length > 0) {
      return this.#dice.pick(this.#frames).slice();
    }
    const garbage = new Uint8Array(this.#dice.between(0, 300));
    this.#dice.fill(garbage);
    if (garbage.length > 0 && this.#dice.chance(0.7)) {
      garbage[0] = this.#dice.pick([0x02, 0x10, 0x20, 0x21, 0x40]);
    }
    return garbage;
  }
}
