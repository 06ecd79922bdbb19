/**
 * Watches the wires of a page: a write that its owner neither takes nor
 * declines fails the test with a sentence that names it, where whoever awaits
 * it could only be found hanging.
 *
 * @module
 */

import type { Envelope } from "../../src/browser/messages.ts";
import type { Wire } from "../../src/browser/route.ts";
import { PATIENCE_MS } from "./patience.ts";

type Listener = (event: Event) => void;

/** Writes of one page that wait for their owner's word. */
export class WaitingWrites {
  /** The last one of each repository. */
  readonly #waiting = new Map<string, number>();
  #page = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  /** A wire of the page, watched. */
  watch(wire: Wire): Wire {
    const watched = new Map<Listener, Listener>();
    return {
      postMessage: (message, transfer) => {
        this.#said(message as Envelope); // Proof: nothing else is said there.
        wire.postMessage(message, transfer);
      },
      addEventListener: (type, listener) => {
        const own = (event: Event) => {
          this.#heard((event as MessageEvent).data);
          listener(event);
        };
        watched.set(listener, own);
        wire.addEventListener(type, own);
      },
      removeEventListener: (type, listener) =>
        wire.removeEventListener(type, watched.get(listener) ?? listener),
      start: () => wire.start?.(),
    };
  }

  /** The page closed or died: nobody waits any more. */
  end(): void {
    this.#isOver = true;
    this.#waiting.clear();
    this.#restart();
  }

  #said({ from, message }: Envelope): void {
    if (message.kind !== "write" || this.#isOver) return;
    this.#page = from;
    this.#waiting.set(message.repository, message.seq);
    if (this.#timer === undefined) this.#restart();
  }

  #heard(data: unknown): void {
    // Somebody else may say anything on the channel.
    const { to, message } = (data ?? {}) as Partial<Envelope>;
    const isForAll = to === undefined;
    if (!message || !isForAll && ![to].flat().includes(this.#page)) return;
    if (message.kind === "announce") this.#waiting.clear(); // It is told again.
    else if (message.kind === "acknowledged") {
      const last = this.#waiting.get(message.repository) ?? 0;
      if (message.seq >= last) this.#waiting.delete(message.repository);
    } else if (message.kind === "declined" || message.kind === "reload") {
      this.#waiting.delete(message.repository);
    } else return;
    this.#restart();
  }

  #restart(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      const writes = [...this.#waiting]
        .map(([name, seq]) => `write ${seq} of repository "${name}"`);
      throw new Error(
        `In vain: the owner's word on ${
          writes.join(", ")
        } of page ${this.#page}`,
      );
    }, PATIENCE_MS);
  }
}
