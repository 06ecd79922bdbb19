/**
 * What a database must hold: the same changes, made to plain arrays, and every
 * question answered by looking at each player.
 *
 * @module
 */

import type { Ask, NumberField } from "./asks.ts";
import {
  activeOf,
  createdOf,
  difference,
  lastSeenOf,
  type Player,
  playerAt,
  playersMax,
  scoreOf,
  worldNumberOf,
  worlds,
} from "./players.ts";

const absent = 0xffff;

/** The players that there must be, by their numbers. */
export class Roster {
  /** How often each was changed; `absent` where there is none. */
  readonly #turns: Uint16Array;
  #count = 0;

  /** For players whose numbers are less than `capacity`. */
  constructor(capacity: number) {
    if (capacity > playersMax) {
      throw new RangeError(`the bench has ${playersMax} players, no more`);
    }
    this.#turns = new Uint16Array(capacity).fill(absent);
  }

  /** How many players there are. */
  get count(): number {
    return this.#count;
  }

  /** Players `from` to `to`, exclusive, have been created. */
  add(from: number, to: number): void {
    this.#turns.fill(0, from, to);
    this.#count += to - from;
  }

  remove(index: number): void {
    this.#turns[index] = absent;
    this.#count--;
  }

  /** The player has been changed to its state of this turn. */
  change(index: number, turn: number): void {
    this.#turns[index] = turn;
  }

  /** The turn of the next change of a player that is here. */
  nextTurn(index: number): number {
    return this.#turnOf(index) + 1;
  }

  has(index: number): boolean {
    return this.#turnOf(index) !== absent;
  }

  /** A player that is here, in all its fields. */
  player(index: number): Player {
    return playerAt(index, this.#turnOf(index));
  }

  /** The numbers of the players that answer `ask`, in its order, else by number. */
  answer(ask: Ask): number[] {
    const found: number[] = [];
    for (let index = 0; index < this.#turns.length; index++) {
      if (this.has(index) && this.#fits(index, ask)) found.push(index);
    }
    const { order, limit = found.length } = ask;
    if (order === undefined) return found.slice(0, limit);
    // Sorted as plain numbers first: only what the limit leaves is compared.
    const sign = order.isDown ? -1 : 1;
    const keys = Float64Array.from(
      found,
      (index) => sign * this.#number(index, order.field),
    );
    const last = keys.toSorted()[Math.min(limit, found.length) - 1];
    if (last === undefined) return [];
    return found.map((index, at) => ({ index, key: keys[at] ?? 0 }))
      .filter(({ key }) => key <= last)
      .sort((a, b) => a.key - b.key).map(({ index }) => index);
  }

  /** What is wrong with an answer, if anything; rows without an order may come in any. */
  check(ask: Ask, got: readonly Player[]): string | undefined {
    const wanted = this.answer(ask);
    if (got.length !== wanted.length) {
      return `${ask.name}: ${got.length} players, not ${wanted.length}`;
    }
    // Moments of creation grow with the number.
    const rows = ask.order === undefined
      ? got.toSorted((a, b) => a.createdAt - b.createdAt)
      : got;
    for (const [at, index] of wanted.entries()) {
      const wrong = difference(rows[at], this.player(index));
      if (wrong !== undefined) return `${ask.name}, row ${at}: ${wrong}`;
    }
    return undefined;
  }

  #turnOf(index: number): number {
    return this.#turns[index] ?? absent;
  }

  #fits(index: number, { worlds: asked, active, ranges }: Ask): boolean {
    const turn = this.#turnOf(index);
    if (active !== undefined && activeOf(index, turn) !== active) return false;
    const world = worlds[worldNumberOf(index)] ?? "";
    if (asked !== undefined && !asked.includes(world)) return false;
    return ranges.every(({ field, from, to }) => {
      const value = this.#number(index, field);
      return value >= from && value < to;
    });
  }

  #number(index: number, field: NumberField): number {
    if (field === "createdAt") return createdOf(index);
    const turn = this.#turnOf(index);
    return field === "score" ? scoreOf(index, turn) : lastSeenOf(index, turn);
  }
}
