/**
 * A wire over any socket that behaves like a browser's `WebSocket`.
 *
 * An end travels as close code 4000 with the reason `code: detail`; every other
 * close code is a wire that went away.
 *
 * Architecture invariant: a frame over `frameBytesMax` closes the wire; what
 * came before anybody listened is bounded (law 10).
 */

import { decodeText, encodeText } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { codecOf, type FrameCodec } from "./frame_codec.ts";
import { FrameLine } from "./frame_line.ts";
import type { Transport, TransportEnd, TransportEvents } from "./transport.ts";
import { asEnd } from "./transport_end.ts";

/** What is needed of a `WebSocket`. */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  readonly protocol: string;
  send(bytes: Uint8Array): void;
  close(code: number, reason: string): void;
  /** Lets go of the wire at once, where the platform can. */
  terminate?(): void;
  addEventListener(type: string, listener: (event: SocketEvent) => void): void;
}

/** What the events of a `WebSocket` carry. */
export interface SocketEvent {
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly error?: unknown;
}

const CLOSE_CODE = 4000;
const TOO_BIG = 1009;
const REASON_BYTES_MAX = 123;

/** The wire over a socket that is open, or about to be. */
export class SocketTransport implements Transport {
  readonly #socket: Socket;
  readonly #protocol: string | undefined;
  #outgoing: FrameLine | undefined;
  #incoming: FrameLine | undefined;
  #events: TransportEvents | undefined;
  #unheard: Uint8Array[] = [];
  #unheardBytes = 0;
  #unsent: Uint8Array[] | undefined;
  #closing: TransportEnd | undefined;
  #end: TransportEnd | undefined;
  #isTold = false;
  /** Did the socket refuse a frame for its size? It closes without a word of that. */
  #isTooLarge = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param socket the socket
   * @param isOpen is it open already? Until then frames wait for its `open`
   * @param protocol the subprotocol, where the socket itself does not know it
   */
  constructor(socket: Socket, isOpen: boolean, protocol?: string) {
    this.#socket = socket;
    this.#protocol = protocol;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => this.#receive(data));
    socket.addEventListener("error", ({ error }) => {
      this.#isTooLarge ||= isAboutSize(error);
    });
    socket.addEventListener("close", (event) => this.#closed(event));
    if (isOpen) this.#open();
    else {
      this.#unsent = [];
      socket.addEventListener("open", () => this.#open());
    }
  }

  get buffered(): number {
    const waiting = this.#unsent?.reduce((sum, { length }) => sum + length, 0);
    return this.#socket.bufferedAmount + (waiting ?? 0) +
      (this.#outgoing?.waiting ?? 0);
  }

  listen(events: TransportEvents): void {
    this.#events = events;
    queueMicrotask(() => this.#tell());
  }

  send(frame: Uint8Array): void {
    if (this.#closing !== undefined || this.#end !== undefined) return;
    if (this.#unsent !== undefined) this.#unsent.push(frame);
    else this.#outgoing?.push(frame);
  }

  close(code: string, detail: string): void {
    if (this.#closing !== undefined || this.#end !== undefined) return;
    this.#closing = { code, detail };
    if (this.#unsent !== undefined) return;
    this.#closeSocket(this.#closing);
  }

  #open(): void {
    const codec = codecOf(this.#protocol ?? this.#socket.protocol);
    const unsent = this.#unsent ?? [];
    this.#unsent = undefined;
    if (codec === undefined) {
      this.#closing = {
        code: "wrong-version",
        detail: "No subprotocol of ours",
      };
      return this.#closeSocket(this.#closing);
    }
    this.#begin(codec);
    for (const frame of unsent) this.#outgoing?.push(frame);
    if (this.#closing !== undefined) this.#closeSocket(this.#closing);
  }

  #begin(codec: FrameCodec): void {
    this.#outgoing = new FrameLine(
      (frame) => codec.pack(frame),
      (bytes) => {
        if (this.#end === undefined) this.#socket.send(bytes);
      },
      (error) => this.#fail("internal", error),
    );
    this.#incoming = new FrameLine(
      (bytes) => codec.unpack(bytes),
      (frame) => this.#arrived(frame),
      (error) => this.#fail("bad-message", error),
    );
  }

  #fail(code: string, error: unknown): void {
    this.close(code, error instanceof Error ? error.message : String(error));
  }

  #closeSocket({ code, detail }: TransportEnd): void {
    const close = () => {
      if (this.#end !== undefined) return;
      this.#socket.close(CLOSE_CODE, reasonOf(code, detail));
    };
    if (this.#outgoing === undefined) close();
    else this.#outgoing.afterwards(close);
    this.#timer = setTimeout(() => {
      this.#finish({ code, detail });
      this.#socket.terminate?.();
    }, limits.closeMsMax);
  }

  #receive(data: unknown): void {
    if (this.#closing !== undefined || this.#end !== undefined) return;
    if (!(data instanceof ArrayBuffer)) {
      return this.close("bad-message", "A frame must be binary");
    }
    // One byte more: the mark of a codec.
    if (data.byteLength > limits.frameBytesMax + 1) {
      return this.close("too-large", `A frame of ${data.byteLength} bytes`);
    }
    this.#incoming?.push(new Uint8Array(data));
  }

  #arrived(frame: Uint8Array): void {
    if (this.#closing !== undefined || this.#end !== undefined) return;
    if (this.#events !== undefined && this.#unheard.length === 0) {
      return this.#events.frame(frame);
    }
    this.#unheard.push(frame);
    this.#unheardBytes += frame.length;
    if (this.#unheardBytes > limits.unheardBytesMax) {
      this.close("too-large", "Too much before anybody listened");
    }
  }

  #closed({ code = 0, reason = "" }: SocketEvent): void {
    const closing = this.#closing;
    const end = closing ??
      endOfClose(this.#isTooLarge ? TOO_BIG : code, reason);
    if (this.#incoming === undefined) this.#finish(end);
    else this.#incoming.afterwards(() => this.#finish(end));
  }

  #finish(end: TransportEnd): void {
    if (this.#end !== undefined) return;
    clearTimeout(this.#timer);
    this.#end = end;
    this.#tell();
  }

  #tell(): void {
    const events = this.#events;
    if (events === undefined) return;
    for (const frame of this.#unheard.splice(0)) events.frame(frame);
    if (this.#end === undefined || this.#isTold) return;
    this.#isTold = true;
    events.ended(this.#end);
  }
}

/** At most 123 bytes of UTF-8, cut between characters. */
function reasonOf(code: string, detail: string): string {
  const bytes = encodeText(`${code}: ${detail}`);
  if (bytes.length <= REASON_BYTES_MAX) return decodeText(bytes);
  let end = REASON_BYTES_MAX;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return decodeText(bytes.subarray(0, end));
}

/** npm's `ws` says so in the code of an error. */
function isAboutSize(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
}

function endOfClose(code: number, reason: string): TransportEnd {
  if (code === TOO_BIG) return asEnd("too-large", "A frame is over the limit");
  if (code !== CLOSE_CODE) {
    return asEnd(
      "lost",
      `The connection was closed (${code}) ${reason}`.trim(),
    );
  }
  const colon = reason.indexOf(":");
  if (colon < 0) return asEnd(reason, "");
  return asEnd(reason.slice(0, colon), reason.slice(colon + 1).trimStart());
}
