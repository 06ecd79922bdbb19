/**
 * A WebSocket by hand over TCP: it can stop in the middle of a frame, and stop
 * reading.
 *
 * @module
 */

import type { Message } from "../sync/message.ts";
import { decodeMessage, encodeMessage } from "../sync/message_codec.ts";
import { proofFor, rawSession, type Target } from "./raw_peer.ts";

const MASKED = 0x80;
const BINARY = 0x82;

/** What a browser or program writes to open a WebSocket. */
export function upgradeText(
  { url }: Pick<Target, "url">,
  headers: readonly string[] = [],
): string {
  const { host } = new URL(url);
  return [
    "GET /sync HTTP/1.1",
    `Host: ${host}`,
    ...headers,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol: sheaf.1",
    "\r\n",
  ].join("\r\n");
}

/** One TCP connection that speaks WebSocket as far as it likes. */
export class RawWire {
  readonly #tcp: Deno.TcpConn;
  #read = new Uint8Array();

  private constructor(tcp: Deno.TcpConn) {
    this.#tcp = tcp;
  }

  /** Connects and upgrades. */
  static async open(target: Target): Promise<RawWire> {
    const { hostname, port } = new URL(target.url);
    const tcp = await Deno.connect({ hostname, port: Number(port) });
    const wire = new RawWire(tcp);
    await wire.write(new TextEncoder().encode(upgradeText(target)));
    await wire.#until((text) => text.includes("\r\n\r\n"));
    return wire;
  }

  async #until(isThere: (text: string) => boolean): Promise<void> {
    const latin1 = new TextDecoder("latin1");
    while (!isThere(latin1.decode(this.#read))) await this.#more();
    const end = latin1.decode(this.#read).indexOf("\r\n\r\n") + 4;
    this.#read = this.#read.slice(end);
  }

  async #more(): Promise<void> {
    const target = new Uint8Array(16_384);
    const length = await this.#tcp.read(target);
    if (length === null) throw new Error("The server closed the connection");
    const joined = new Uint8Array(this.#read.length + length);
    joined.set(this.#read);
    joined.set(target.subarray(0, length), this.#read.length);
    this.#read = joined;
  }

  /** The next frame of the server, which is a short one. */
  async hear(): Promise<Message> {
    while (this.#read.length < 2) await this.#more();
    let length = this.#read[1]!;
    let head = 2;
    if (length === 126) {
      while (this.#read.length < 4) await this.#more();
      length = this.#read[2]! * 256 + this.#read[3]!;
      head = 4;
    }
    while (this.#read.length < head + length) await this.#more();
    const body = this.#read.slice(head, head + length);
    this.#read = this.#read.slice(head + length);
    return decodeMessage(body) as Message;
  }

  /** Proves to be a session, and reads the welcome. */
  async prove(session = rawSession()): Promise<void> {
    const hello = await this.hear();
    if (hello.is !== "hello") throw new Error(`It said "${hello.is}"`);
    await this.send(proofFor(session, hello));
    await this.hear();
  }

  /** Sends a message whole. */
  async send(message: Message): Promise<void> {
    await this.write(frameOf(encodeMessage(message)));
  }

  /** Writes bytes as they are. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += await this.#tcp.write(bytes.subarray(at));
    }
  }

  /** Lets go of the TCP connection. */
  [Symbol.dispose](): void {
    this.#tcp.close();
  }
}

/** A whole binary frame, masked with zeros. */
export function frameOf(body: Uint8Array): Uint8Array {
  const head = body.length < 126
    ? [BINARY, MASKED | body.length, 0, 0, 0, 0]
    : body.length < 65_536
    ? [BINARY, MASKED | 126, body.length >> 8, body.length & 255, 0, 0, 0, 0]
    : [
      BINARY,
      MASKED | 127,
      0,
      0,
      0,
      0,
      ...new Uint8Array(new Uint32Array([body.length]).buffer).reverse(),
      0,
      0,
      0,
      0,
    ];
  const frame = new Uint8Array(head.length + body.length);
  frame.set(head);
  frame.set(body, head.length);
  return frame;
}
