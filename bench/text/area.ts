/**
 * A textarea without a browser, as far as a binding asks: its timers never ring.
 *
 * @module
 */

import type { TextElement } from "../../src/text/mod.ts";

const page = {
  setTimeout: () => 0,
  clearTimeout: () => {},
  addEventListener: () => {},
  removeEventListener: () => {},
};

/** Somebody types in it. */
export class Area implements TextElement {
  value = "";
  selectionStart = 0;
  selectionEnd = 0;
  readonly selectionDirection = "none";
  readonly ownerDocument = { defaultView: page };
  #hear = () => {};

  addEventListener(type: string, listener: () => void): void {
    if (type === "input") this.#hear = listener;
  }

  removeEventListener(): void {}

  matches(): boolean {
    return true;
  }

  setSelectionRange(start: number, end: number): void {
    [this.selectionStart, this.selectionEnd] = [start, end];
  }

  /** One stroke; the cursor stands behind it. */
  type(at: number, length: number, insert: string): void {
    this.value = this.value.slice(0, at) + insert +
      this.value.slice(at + length);
    this.setSelectionRange(at + insert.length, at + insert.length);
    this.#hear();
  }
}
