/**
 * How a client finds out who a server is, and shows who it is itself.
 *
 * Architecture invariant: a proof is made for the root key and the server that
 * said hello, and a server is believed only when a key that may issue, whose end
 * nobody here knows of, signed this conversation's nonces.
 *
 * @module
 */

import { equalBytes } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { ClientOptions, PeerSession } from "./conversation.ts";
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

/** A server may not ask to be left alone for longer, nor be asked more often. */
const HEARTBEAT_MS_MIN = 1_000;
const HEARTBEAT_MS_MAX = 120_000;

/** Why a client ends a conversation with whoever holds a key that somebody revoked. */
export const SERVER_REVOKED = "The server's session was revoked";

/** The client's side of hello, prove and welcome. */
export class ClientGreeting {
  readonly #options: ClientOptions;
  readonly #line: Line;
  readonly #isRevoked: (server: PeerSession) => boolean;
  readonly #nonce = new Uint8Array(32);
  #hello: MessageOf<"hello"> | undefined;
  #hasProved = false;

  /** @param isRevoked is the end of a server's session known here? */
  constructor(
    options: ClientOptions,
    line: Line,
    isRevoked: (server: PeerSession) => boolean,
  ) {
    this.#options = options;
    this.#line = line;
    this.#isRevoked = isRevoked;
  }

  /** Waits for hello. */
  begin(): void {
    this.#options.random(this.#nonce);
    this.#line.begin();
  }

  /** Has this side proved itself? Then it may open channels. */
  get hasProved(): boolean {
    return this.#hasProved;
  }

  /** The server's name. */
  get serverName(): string {
    return this.#hello?.name ?? "";
  }

  /** Takes a message before the server has proved itself; the session that it proves. */
  take(message: Message | OtherVersion): PeerSession | undefined {
    const line = this.#line;
    if (message.is === "other-version") {
      line.fail("wrong-version", `This side speaks ${wireVersion}`);
    } else if (message.is === "hello" && this.#hello === undefined) {
      this.#prove(message);
    } else if (message.is === "welcome" && this.#hasProved) {
      return this.#check(message, this.#hello!);
    } else if (message.is === "failed") {
      line.close(message.code, message.detail);
    } else line.unexpected(message);
  }

  #prove(hello: MessageOf<"hello">): void {
    const line = this.#line;
    const { rootKey } = this.#options;
    if (!equalBytes(hello.rootKey, rootKey)) {
      return line.fail(
        "root-key-mismatch",
        "The server has another root key than this database: open one with the server's `rootKey`, or check the address",
      );
    }
    this.#hello = hello;
    const nonces = { server: hello.nonce, client: this.#nonce };
    line.sign(clientMessage(nonces, rootKey, hello.name));
  }

  /** Shows the server what it asked to be signed. */
  signed(signature: Uint8Array): void {
    const { session, windowBytes } = this.#options;
    this.#hasProved = true;
    this.#line.send({
      is: "prove",
      nonce: this.#nonce,
      window: windowBytes ?? limits.windowBytes,
      certificates: session.certificates,
      signature,
    });
  }

  #check(
    message: MessageOf<"welcome">,
    hello: MessageOf<"hello">,
  ): PeerSession | undefined {
    const line = this.#line;
    const { rootKey, session } = this.#options;
    const { window, heartbeatMs, certificates, signature } = message;
    const server = checkCertificates(certificates, rootKey);
    if ("refused" in server) {
      line.fail("bad-certificate", server.detail ?? server.refused);
      return undefined;
    }
    if (!server.mayIssue) {
      line.fail("bad-certificate", "Its certificate may not issue");
      return undefined;
    }
    const nonces = { server: hello.nonce, client: this.#nonce };
    const signed = serverMessage(nonces, rootKey, session.publicKey);
    if (!isProved(signature, signed, server)) {
      line.fail("bad-proof", "The signature is not of this server");
      return undefined;
    }
    if (this.#isOver(server, message.clock)) return undefined;
    if (line.hasOddWindow(window)) return undefined;
    line.sending = new SendWindow(window);
    line.heartbeatMs = Math.min(
      HEARTBEAT_MS_MAX,
      Math.max(HEARTBEAT_MS_MIN, heartbeatMs),
    );
    return server;
  }

  /**
   * Is the server's session over? Whoever has its key since then hears nothing.
   * Of dates the server's own clock is asked, and this device's, which may be wrong
   * by as much as it would follow another one.
   */
  #isOver(server: PeerSession, clock: number): boolean {
    const line = this.#line;
    const nowMs = Math.max(
      clock,
      line.moment.nowMs - limits.clockCorrectionMsMax,
    );
    if (this.#isRevoked(server)) line.fail("forbidden", SERVER_REVOKED);
    else if (nowMs > server.notAfter) {
      const date = new Date(server.notAfter).toISOString();
      line.fail("forbidden", `The server's session ended at ${date}`);
    }
    return line.isOver;
  }
}
