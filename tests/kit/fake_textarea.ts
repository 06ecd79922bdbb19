/**
 * A textarea in a page, as far as it is bound: for tests without a browser.
 *
 * @module
 */

import type { TextElement } from "../../src/text/textarea.ts";

/** A page with a clock of its own. */
export class FakePage {
  #tasks: { at: number; task: () => void }[] = [];
  #now = 0;
  readonly listeners = new Map<string, Set<() => void>>();

  setTimeout(task: () => void, delayMs: number): number {
    return this.#tasks.push({ at: this.#now + delayMs, task });
  }

  clearTimeout(timer: number): void {
    this.#tasks[timer - 1]!.task = () => {};
  }

  pass(ms: number): void {
    this.#now += ms;
    for (const due of this.#tasks) {
      if (due.at > this.#now) continue;
      due.at = Infinity;
      due.task();
    }
  }

  addEventListener(type: string, listener: () => void): void {
    const all = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, all.add(listener));
  }

  removeEventListener(type: string, listener: () => void): void {
    this.listeners.get(type)?.delete(listener);
  }

  fire(type: string): void {
    for (const listener of this.listeners.get(type) ?? []) listener();
  }
}

/** A textarea as the platform describes it, as far as it is bound. */
export class FakeTextarea extends FakePage implements TextElement {
  value = "";
  selectionStart = 0;
  selectionEnd = 0;
  selectionDirection = "none";
  isFocused = true;
  readonly ownerDocument: { defaultView: FakePage };

  constructor(page: FakePage) {
    super();
    this.ownerDocument = { defaultView: page };
  }

  setSelectionRange(start: number, end: number): void {
    [this.selectionStart, this.selectionEnd] = [start, end];
  }

  matches(): boolean {
    return this.isFocused;
  }

  /** Types at a place, as a person does. */
  type(at: number, text: string, length = 0): void {
    this.value = this.value.slice(0, at) + text + this.value.slice(at + length);
    this.setSelectionRange(at + text.length, at + text.length);
    this.fire("input");
  }
}
