/**
 * What a hostile network does to frames: it drops, repeats, exchanges and
 * spoils them. No transport may do that; a conversation that meets it must end
 * with a code, or nothing bad may come of it.
 *
 * @module
 */

import type { Dice } from "./dice.ts";

/** See the file's header. */
export class Mangler {
  readonly #dice: Dice;
  readonly #share: number;
  readonly #kept: { client?: Uint8Array; server?: Uint8Array } = {};
  readonly #hear: (what: string) => void;

  /**
   * @param dice what happens to which frame
   * @param share how many of all frames something happens to
   * @param hear is told what was done
   */
  constructor(dice: Dice, share: number, hear: (what: string) => void) {
    this.#dice = dice;
    this.#share = share;
    this.#hear = hear;
  }

  /** What arrives in the place of a frame. */
  mangle(to: "client" | "server", frame: Uint8Array): Uint8Array[] {
    const late = this.#kept[to];
    delete this.#kept[to];
    const rest = late === undefined ? [] : [late];
    if (!this.#dice.chance(this.#share)) return [frame, ...rest];
    const what = this.#dice.pick([
      "drop",
      "repeat",
      "exchange",
      "spoil",
      "shorten",
    ]);
    this.#hear(what);
    if (what === "drop") return rest;
    if (what === "repeat") return [frame, frame.slice(), ...rest];
    if (what === "exchange") {
      this.#kept[to] = frame;
      return rest;
    }
    return [
      what === "spoil" ? this.#spoil(frame) : this.#shorten(frame),
      ...rest,
    ];
  }

  #spoil(frame: Uint8Array): Uint8Array {
    const spoilt = frame.slice();
    const at = this.#dice.between(0, Math.max(0, spoilt.length - 1));
    if (spoilt.length > 0) spoilt[at]! ^= 1 << this.#dice.between(0, 7);
    return spoilt;
  }

  #shorten(frame: Uint8Array): Uint8Array {
    return frame.slice(0, this.#dice.between(0, frame.length));
  }
}
