/**
 * The client's half of a conversation: proves itself, checks the server, and
 * keeps a channel for each repository.
 *
 * Architecture invariant: a proof is made for the root key and the server that
 * said hello, and a server is believed only when a key that may issue, whose end
 * nobody here knows of, signed this conversation's nonces. No record leaves before
 * that; a vector does so only where TLS vouched for the server's name. What a server
 * sends never throws: it ends the conversation with a code.
 */

import type { RepositoryName } from "../repo/commit/genesis.ts";
import type { RepositoryPort } from "../repo/port.ts";
import type { Signature } from "../crypto/signature.ts";
import { equalBytes, readable } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import { ClientChannel } from "./conversation_channel.ts";
import type { ClientOptions, Input, Moment, Output } from "./conversation.ts";
import type { PeerSession } from "./proof.ts";
import { Line } from "./line.ts";
import { decodeMessage } from "./message_codec.ts";
import {
  features,
  type Foreign,
  type Message,
  type MessageOf,
  type ServerWord,
  wireVersion,
} from "./message.ts";
import {
  checkCertificates,
  clientMessage,
  isProved,
  serverMessage,
  signaturesOfProof,
} from "./proof.ts";
import { PartBudget, SendWindow } from "./window.ts";
import type { ServerKnowledge } from "./server_knowledge.ts";

/** A server may not ask to be left alone for longer, nor be asked more often. */
const HEARTBEAT_MS_MIN = 1_000;
const HEARTBEAT_MS_MAX = 120_000;
const SERVER_REVOKED = "The server's session was revoked";

/** A conversation with one server. */
export class ClientConversation {
  readonly #options: ClientOptions;
  readonly #line: Line;
  readonly #budget = new PartBudget(2 * limits.recordBytesMax);
  readonly #byName = new Map<RepositoryName, ClientChannel>();
  readonly #channels = new Map<number, ClientChannel>();
  readonly #nonce = new Uint8Array(32);
  #hello: MessageOf<"hello"> | undefined;
  /** Has this side proved itself? Then it may open channels. */
  #hasProved = false;
  #server: PeerSession | undefined;
  #lastChannel = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#line = new Line(options.windowBytes ?? limits.windowBytes);
  }

  /** Deals with an input. */
  step(input: Input): Output[] {
    return this.#run(input, () => {
      if (input.is === "begin") this.#begin();
      else if (input.is === "time") this.#tick();
      else if (input.is === "signed") this.#signed(input.signature);
      else this.#frame(input.bytes);
    });
  }

  /** The signatures that a frame is going to be asked about; `undefined` where that shows only then. */
  signaturesOf(frame: Uint8Array): Signature[] | undefined {
    return readable(() => {
      const message = decodeMessage(frame);
      if (message.is === "welcome" && this.#hello !== undefined) {
        const { certificates, signature } = message;
        const signed = this.#welcomed(this.#hello);
        return signaturesOfProof(certificates, signature, signed);
      }
      const isOfChannel = this.#server !== undefined && "channel" in message;
      const channel = isOfChannel
        ? this.#channels.get(message.channel)
        : undefined;
      if (channel === undefined) return [];
      return channel.signaturesOf(message as ServerWord, this.#server!);
    });
  }

  /** Waits for hello. */
  #begin(): void {
    this.#options.random(this.#nonce);
    this.#line.begin();
  }

  /** Runs something, then opens and tells what follows from it. */
  #run(moment: Moment | undefined, act: () => void): Output[] {
    const openAfter = () => {
      act();
      this.#openWaiting();
      if (this.#server !== undefined) this.#awaitAnswers();
    };
    return this.#line.run(moment, openAfter, () => this.end());
  }

  #awaitAnswers(): void {
    let bytes: number | undefined;
    for (const { unanswered } of this.#byName.values()) {
      if (unanswered !== undefined) bytes = (bytes ?? 0) + unanswered;
    }
    this.#line.awaitAnswer(bytes);
  }

  #tick(): void {
    const line = this.#line;
    line.woken();
    if (this.#server === undefined) {
      return line.awaitGreeting("The server did not show who it is");
    }
    line.checkSilence();
    line.due(line.silenceMs);
    for (const channel of this.#byName.values()) channel.tick();
    this.#pump();
  }

  #frame(bytes: Uint8Array): void {
    const message = this.#line.read(bytes);
    if (message === undefined) return;
    if (this.#server === undefined) return this.#greet(message);
    if (message.is === "other-version") return this.#line.unexpected(message);
    if (message.is === "skipped") return;
    if (message.is === "goodbye") return this.#goodbye(message);
    if (!this.#line.common(message)) this.#word(message, bytes.length);
    else if (message.is === "credit") this.#pump();
  }

  #goodbye({ waitMs }: MessageOf<"goodbye">): void {
    const wait = Math.min(waitMs, limits.goodbyeMsMax);
    this.#line.tell({ tell: "goodbye", waitMs: wait });
    this.#line.close("shutting-down", "The server said goodbye");
  }

  #greet(message: Message | Foreign): void {
    if (message.is === "goodbye") return this.#goodbye(message);
    const server = this.#taken(message);
    if (server === undefined || message.is !== "welcome") return;
    const line = this.#line;
    this.#server = server;
    line.due(line.silenceMs);
    const clockOffsetMs = line.readTime(message.clock);
    const serverName = this.#hello?.name ?? "";
    line.tell({ tell: "ready", peer: server, serverName, clockOffsetMs });
  }

  /** Takes a message before the server has proved itself; the session that it proves. */
  #taken(message: Message | Foreign): PeerSession | undefined {
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
    if (line.lacksFeatures(hello)) return;
    this.#hello = hello;
    const nonces = { server: hello.nonce, client: this.#nonce };
    line.sign(clientMessage(nonces, rootKey, hello.name));
  }

  /** Shows the server what it asked to be signed. */
  #signed(signature: Uint8Array): void {
    const { session, windowBytes } = this.#options;
    this.#hasProved = true;
    this.#line.send({
      is: "prove",
      ...features,
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
    const { rootKey } = this.#options;
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
    if (!isProved(signature, this.#welcomed(hello), server)) {
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

  /** What a server signs to this client. */
  #welcomed(hello: MessageOf<"hello">): Uint8Array {
    const { rootKey, session } = this.#options;
    const nonces = { server: hello.nonce, client: this.#nonce };
    return serverMessage(nonces, rootKey, session.publicKey);
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

  /** Is the end of a server's session known here? */
  #isRevoked(server: PeerSession): boolean {
    return [...this.#byName.values()].some((one) => one.revokes(server));
  }

  #word(message: Message, frameBytes: number): void {
    switch (message.is) {
      case "opened":
      case "declined":
      case "records":
      case "part":
      case "ack":
      case "refuse":
      case "live":
      case "witness":
      case "presence":
      case "audited":
        return this.#onChannel(message, frameBytes);
      default:
        return this.#line.unexpected(message);
    }
  }

  #onChannel(message: ServerWord, frameBytes: number): void {
    const { channel: number } = message;
    const channel = this.#channels.get(number);
    if (channel?.channel === number) {
      channel.take(message, frameBytes, this.#server!);
      return this.#pump(channel);
    }
    this.#channels.delete(number); // It opens again under another number.
    if (number > this.#lastChannel) return this.#line.unexpected(message);
    // It was on its way when the channel ended.
    if (message.is === "records" || message.is === "part") {
      this.#line.receiving.release(frameBytes);
    }
  }

  /** Opens what is not open, as soon as it may be. */
  #openWaiting(): void {
    if (!this.#hasProved || this.#line.isOver) return;
    const isKnown = this.#server !== undefined;
    const mayTellVector = isKnown || this.#options.isPlaceProven === true;
    for (const channel of this.#byName.values()) {
      if (!channel.isWaiting) continue;
      const number = this.#lastChannel + 1;
      if (!channel.open(number, mayTellVector)) continue;
      this.#lastChannel = number;
      if (channel.channel === number) this.#channels.set(number, channel);
    }
  }

  /** Sends what fits, a frame a channel in turn. */
  #pump(only?: ClientChannel): void {
    let busy = only ? [only] : [...this.#byName.values()];
    const asked = busy;
    while (busy.length > 0 && !this.#line.isOver) {
      busy = busy.filter((channel) => channel.pump());
    }
    for (const channel of asked) channel.rest(this.#server);
  }

  /** Opens a channel, now or when the server has proved itself; again, where it was declined. */
  open(port: RepositoryPort, server: ServerKnowledge): Output[] {
    return this.#run(undefined, () => {
      const before = this.#byName.get(port.name);
      if (before !== undefined && !before.isDeclined) return;
      const line = this.#line;
      const budget = this.#budget;
      const options = this.#options;
      const parts = { line, port, options, budget, server };
      const channel = new ClientChannel(parts);
      this.#byName.set(port.name, channel);
      this.#checkServer(channel);
    });
  }

  /** A repository has joined, or knows more: maybe that the server's session is over. */
  #checkServer(channel: ClientChannel): void {
    if (this.#server !== undefined && channel.revokes(this.#server)) {
      this.#line.fail("forbidden", SERVER_REVOKED);
    }
  }

  /** Closes a repository's channel. */
  close(name: RepositoryName): Output[] {
    return this.#run(undefined, () => {
      const channel = this.#byName.get(name);
      if (channel === undefined) return;
      this.#channels.delete(channel.channel);
      this.#byName.delete(name);
      channel.close();
    });
  }

  /** What may be shared of a repository has grown. */
  shareable(name: RepositoryName, moment: Moment): Output[] {
    return this.#run(moment, () => {
      const channel = this.#byName.get(name);
      if (channel === undefined) return;
      this.#checkServer(channel);
      channel.shareable();
      this.#pump(channel);
    });
  }

  /** The platform says something of the network: is the server still there? */
  doubt(moment: Moment): Output[] {
    return this.#run(moment, () => this.#server && this.#line.doubt());
  }

  /** Sets own presence; empty takes it back. */
  present(name: RepositoryName, bytes: Uint8Array): Output[] {
    return this.#run(undefined, () => this.#byName.get(name)?.present(bytes));
  }

  /** Compares with the server; `audited` tells the report. */
  audit(name: RepositoryName): Output[] {
    return this.#run(undefined, () => this.#byName.get(name)?.audit());
  }

  /** The transport is gone: frees what is half received. */
  end(): void {
    this.#line.close("lost", "The wire is gone");
    for (const channel of this.#byName.values()) channel.end();
    this.#channels.clear();
  }
}
