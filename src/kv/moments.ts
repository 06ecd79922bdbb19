/**
 * When entries expire: a heap of moments by ordinal, each ordinal once.
 *
 * @module
 */

/** Ordinals by their moment, the earliest first. */
export class Moments {
  readonly #moments: number[] = [];
  readonly #ordinals: number[] = [];
  /** Where an ordinal stands in the heap. */
  readonly #places = new Map<number, number>();

  /** How many there are. */
  get size(): number {
    return this.#ordinals.length;
  }

  /** The earliest moment; `Infinity` when there is none. */
  get next(): number {
    return this.#moments[0] ?? Infinity;
  }

  /** The moment of an ordinal, if it has one. */
  get(ordinal: number): number | undefined {
    const place = this.#places.get(ordinal);
    return place === undefined ? undefined : this.#moments[place];
  }

  /** Gives an ordinal its moment; none where it is `undefined`. */
  set(ordinal: number, moment: number | undefined): void {
    const place = this.#places.get(ordinal);
    if (moment === undefined) {
      if (place !== undefined) this.#removeAt(place);
      return;
    }
    if (place === undefined) this.#raise(this.size, moment, ordinal);
    else this.#settle(place, moment, ordinal);
  }

  /** Takes the ordinal of the earliest moment away, and says which it was. */
  shift(): number | undefined {
    const ordinal = this.#ordinals[0];
    if (ordinal !== undefined) this.#removeAt(0);
    return ordinal;
  }

  #removeAt(place: number): void {
    this.#places.delete(this.#ordinals[place]!);
    const moment = this.#moments.pop()!;
    const ordinal = this.#ordinals.pop()!;
    if (place < this.size) this.#settle(place, moment, ordinal);
  }

  /** Puts an ordinal into the heap where a gap is at `place`. */
  #settle(place: number, moment: number, ordinal: number): void {
    const above = this.#moments[(place - 1) >>> 1];
    if (place > 0 && moment < above!) this.#raise(place, moment, ordinal);
    else this.#sink(place, moment, ordinal);
  }

  #raise(place: number, moment: number, ordinal: number): void {
    let at = place;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      if (this.#moments[above]! <= moment) break;
      this.#put(at, this.#moments[above]!, this.#ordinals[above]!);
      at = above;
    }
    this.#put(at, moment, ordinal);
  }

  #sink(place: number, moment: number, ordinal: number): void {
    const { size } = this;
    let at = place;
    for (let below = 2 * at + 1; below < size; below = 2 * at + 1) {
      const right = below + 1;
      if (right < size && this.#moments[right]! < this.#moments[below]!) {
        below = right;
      }
      if (this.#moments[below]! >= moment) break;
      this.#put(at, this.#moments[below]!, this.#ordinals[below]!);
      at = below;
    }
    this.#put(at, moment, ordinal);
  }

  #put(at: number, moment: number, ordinal: number): void {
    this.#moments[at] = moment;
    this.#ordinals[at] = ordinal;
    this.#places.set(ordinal, at);
  }
}
