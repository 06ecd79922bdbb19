/**
 * How a server finds out who a client is.
 *
 * Architecture invariant: nothing but a sound proof, in time, gets an answer
 * that says more than why not (law 8).
 *
 * @module
 */

import { limits } from "../src/base/limits.ts";
import type { PeerSession, ServerOptions } from "./conversation.ts";
import type { Line } from "./line.ts";
import {
  type Message,
  type MessageOf,
  type OtherVersion,
  wireVersion,
} from "./message.ts";
import {
  checkCertificates,
  clientMessage,
  isProved,
  serverMessage,
} from "./proof.ts";
import { SendWindow } from "./window.ts";

/** The server's side of hello, prove and welcome. */
export class ServerGreeting {
  readonly #options: ServerOptions;
  readonly #line: Line;
  readonly #nonce = new Uint8Array(32);

  constructor(options: ServerOptions, line: Line) {
    this.#options = options;
    this.#line = line;
  }

  /** Says hello. */
  begin(): void {
    const { rootKey, name, random } = this.#options;
    random(this.#nonce);
    this.#line.begin();
    const nonce = this.#nonce;
    this.#line.send({ is: "hello", nonce, rootKey, name });
  }

  /** Takes the first message; the session that it proves, welcomed. */
  take(message: Message | OtherVersion): PeerSession | undefined {
    const line = this.#line;
    if (message.is === "failed") {
      line.close(message.code, message.detail);
    } else if (message.is === "other-version") {
      line.fail("wrong-version", `This side speaks ${wireVersion}`);
    } else if (message.is !== "prove") {
      line.unexpected(message);
    } else if (!line.hasOddWindow(message.window)) return this.#prove(message);
  }

  #prove(message: MessageOf<"prove">): PeerSession | undefined {
    const peer = this.#check(message);
    if (peer === undefined) return undefined;
    // However much it asks for: what is on its way to many peers is our memory.
    const window = Math.min(message.window, limits.windowBytes);
    this.#line.sending = new SendWindow(window);
    this.#welcome(message, peer);
    return peer;
  }
  /** Who a proof shows; ends the conversation where it shows nobody who is welcome. */
  #check(message: MessageOf<"prove">): PeerSession | undefined {
    const line = this.#line;
    const { rootKey, name, admits } = this.#options;
    const peer = checkCertificates(message.certificates, rootKey);
    if ("refused" in peer) {
      line.fail("bad-certificate", peer.detail ?? peer.refused);
      return undefined;
    }
    const nonces = { server: this.#nonce, client: message.nonce };
    const signed = clientMessage(nonces, rootKey, name);
    if (!isProved(message.signature, signed, peer)) {
      line.fail("bad-proof", "The signature is not of this session");
      return undefined;
    }
    if (peer.notAfter < line.moment.nowMs) {
      line.fail("expired-session", `It ended at ${peer.notAfter}`);
      return undefined;
    }
    if (peer.notBefore > line.moment.nowMs + limits.clockAheadMsMax) {
      line.fail("bad-certificate", `It begins at ${peer.notBefore}`);
      return undefined;
    }
    const unwelcome = admits?.(peer);
    if (unwelcome === undefined) return peer;
    line.fail(unwelcome.code, unwelcome.detail);
  }

  #welcome({ nonce }: MessageOf<"prove">, peer: PeerSession): void {
    const line = this.#line;
    const { session, rootKey } = this.#options;
    const nonces = { server: this.#nonce, client: nonce };
    line.send({
      is: "welcome",
      window: this.#options.windowBytes ?? limits.windowBytes,
      heartbeatMs: line.heartbeatMs,
      clock: Math.max(0, Math.floor(line.moment.nowMs)),
      certificates: session.certificates,
      signature: session.sign(serverMessage(nonces, rootKey, peer.key)),
    });
  }
}
