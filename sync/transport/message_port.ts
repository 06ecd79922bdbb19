/**
 * A wire over a `MessagePort`: between a page, its workers and its tabs.
 *
 * A message is a frame (`Uint8Array`), how many bytes of frames were taken (a
 * number), or the end (`[code, detail]`). The counts are there because a port
 * does not say how much of it waits. Anything else is not for us.
 */

import { limits } from "../../src/base/limits.ts";
import { asEnd } from "./transport_end.ts";
import type {
  Connector,
  Transport,
  TransportEnd,
  TransportEvents,
} from "./transport.ts";

/** What is needed of a `MessagePort` or a `Worker`. */
export interface Port {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(
    type: "message" | "messageerror" | "close",
    listener: (event: Event) => void,
  ): void;
  /** Begins to deliver; a `Worker` has none. */
  start?(): void;
  close?(): void;
}

/** Taken bytes are told in steps of this size, so that small frames cost no answer each. */
const TAKEN_STEP = 16 * 1024;

/** Makes a wire of every port that `open` gives; the other port is given the same. */
export function messagePortConnector(
  address: string,
  open: () => Port | Promise<Port>,
): Connector {
  return {
    address,
    async connect(signal) {
      const port = await open();
      if (!signal.aborted) return new PortTransport(port);
      port.close?.();
      throw { code: "lost", detail: "No longer wanted" };
    },
  };
}

class PortTransport implements Transport {
  buffered = 0;
  readonly #port: Port;
  #events: TransportEvents | undefined;
  #taken = 0;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(port: Port) {
    this.#port = port;
  }

  listen(events: TransportEvents): void {
    this.#events = events;
    const port = this.#port;
    port.addEventListener(
      "message",
      (event) => this.#receive((event as MessageEvent).data),
    );
    port.addEventListener(
      "messageerror",
      () => this.close("bad-message", "A message could not be read"),
    );
    port.addEventListener(
      "close",
      () => {
        this.#release();
        this.#end({ code: "lost", detail: "The port was closed" });
      },
    );
    port.start?.();
  }

  send(frame: Uint8Array): void {
    if (this.#isOver) return;
    const own = frame.slice();
    this.buffered += own.length;
    this.#port.postMessage(own, [own.buffer]);
  }

  close(code: string, detail: string): void {
    if (this.#isOver) return;
    this.#port.postMessage([code, detail], []);
    // Closing the port now would take what it has not delivered with it.
    this.#timer = setTimeout(() => this.#port.close?.(), limits.closeMsMax);
    const end = { code, detail };
    queueMicrotask(() => this.#end(end));
  }

  #receive(message: unknown): void {
    if (this.#isOver) {
      if (Array.isArray(message)) this.#release();
    } else if (message instanceof Uint8Array) this.#frame(message);
    else if (typeof message === "number") this.#acknowledge(message);
    else if (Array.isArray(message)) this.#answerEnd(message);
  }

  /** The other side closes its port when it sees that we have all. */
  #answerEnd(message: unknown[]): void {
    const end = asEnd(message[0], message[1]);
    this.#port.postMessage([end.code, end.detail], []);
    this.#end(end);
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#release(), limits.closeMsMax);
    }
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#port.close?.();
  }

  #frame(frame: Uint8Array): void {
    if (frame.length > limits.frameBytesMax) {
      return this.close("too-large", "A frame is over the limit");
    }
    this.#taken += frame.length;
    if (this.#taken >= TAKEN_STEP) {
      this.#port.postMessage(this.#taken, []);
      this.#taken = 0;
    }
    this.#events?.frame(frame);
  }

  #acknowledge(taken: number): void {
    if (taken > 0) this.buffered = Math.max(0, this.buffered - taken);
  }

  #end(end: TransportEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events?.ended(end);
  }
}
