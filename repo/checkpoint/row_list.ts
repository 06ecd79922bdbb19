/**
 * Rows that are to be read from the log, gathered first so that the log is read
 * in one direction. Reads nothing itself.
 *
 * @module
 */

/** Rows to read from the log. */
export class RowList {
  /** Where each row is. */
  addresses: Float64Array;
  /** Whose row it is. */
  ordinals: Uint32Array;
  /** The number of its shape. */
  shapes: Uint16Array;
  /** Rows in the list. */
  count = 0;
  #isSorted = true;

  /** @param capacity rows that it may take */
  constructor(capacity: number) {
    this.addresses = new Float64Array(capacity);
    this.ordinals = new Uint32Array(capacity);
    this.shapes = new Uint16Array(capacity);
  }

  /** Appends a row. */
  add(ordinal: number, address: number, shape: number): void {
    const at = this.count++;
    this.addresses[at] = address;
    this.ordinals[at] = ordinal;
    this.shapes[at] = shape;
    if (at > 0 && this.addresses[at - 1]! > address) this.#isSorted = false;
  }

  /** By address, so that the log is read in one direction. */
  sort(): void {
    if (this.#isSorted) return;
    const { addresses, ordinals, shapes } = this;
    const order = Uint32Array.from({ length: this.count }, (_, i) => i);
    order.sort((a, b) => addresses[a]! - addresses[b]!);
    this.addresses = Float64Array.from(order, (i) => addresses[i]!);
    this.ordinals = Uint32Array.from(order, (i) => ordinals[i]!);
    this.shapes = Uint16Array.from(order, (i) => shapes[i]!);
  }
}
