/**
 * The server's half of a conversation: greets, checks who it is, and keeps the
 * channels of one client.
 *
 * Architecture invariant: nothing but a sound proof, in time, gets an answer
 * that says more than why not, and the read right is judged before anything is told
 * (law 8): a channel is opened by the driver's word and nothing else. What a
 * client sends never throws: it ends its own conversation with a code.
 */

import {
  parseRepositoryName,
  type RepositoryName,
} from "../repo/commit/genesis.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { equalBytes } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { AuditDesk } from "./audit_desk.ts";
import type {
  Input,
  Moment,
  Output,
  ServerChannelOptions,
  ServerOptions,
} from "./conversation.ts";
import type { PeerSession } from "./proof.ts";
import { Line } from "./line.ts";
import {
  type ClientWord,
  features,
  type Foreign,
  type Message,
  type MessageOf,
  wireVersion,
} from "./message.ts";
import {
  checkCertificates,
  clientMessage,
  isProved,
  serverMessage,
} from "./proof.ts";
import { PartBudget, SendWindow } from "./window.ts";
import { ServerChannel } from "./server_channel.ts";

/** A channel that the driver has not answered yet. */
interface Opening {
  readonly message: MessageOf<"open">;
  readonly name: RepositoryName;
}

/** One client's conversation. */
export class ServerConversation {
  readonly #options: ServerOptions;
  readonly #line: Line;
  readonly #budget: PartBudget;
  /** Made for the first question. */
  #audits: AuditDesk | undefined;
  readonly #openings = new Map<number, Opening>();
  readonly #channels = new Map<number, ServerChannel>();
  readonly #byName = new Map<RepositoryName, number>();
  readonly #nonce = new Uint8Array(32);
  #peer: PeerSession | undefined;
  /** Channels up to this number were open once. */
  #lastChannel = 0;
  /** Since when records wait for credit, on the monotonic clock. */
  #blockedMs: number | undefined;
  #ungranted = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#line = new Line(options.windowBytes ?? limits.windowBytes);
    this.#budget = options.budget ?? new PartBudget(limits.recordBytesMax);
  }

  readonly #desk = (): AuditDesk =>
    this.#audits ??= new AuditDesk(this.#line, this.#options);

  /** Bytes that the client has used and not been granted again. */
  get ungranted(): number {
    return this.#ungranted;
  }

  /** Deals with an input. */
  step(input: Input): Output[] {
    return this.#run(input, () => {
      if (input.is === "begin") this.#begin();
      else if (input.is === "time") this.#tick();
      else if (input.is === "frame") this.#frame(input.bytes);
    });
  }

  /** Runs something, then sends what can be sent. */
  #run(moment: Moment | undefined, act: () => void): Output[] {
    return this.#line.run(moment, act, () => this.end());
  }

  #tick(): void {
    const line = this.#line;
    line.woken();
    if (this.#peer === undefined) {
      return line.awaitGreeting("Nobody proved to be anybody");
    }
    line.checkSilence();
    line.due(line.silenceMs);
    this.#checkExpiry(this.#peer);
    for (const channel of this.#channels.values()) channel.tick();
    this.#audits?.tick();
    this.#pump();
    this.#checkStall();
  }

  /** A connection may outlive its certificate's time: then it must log in again. */
  #checkExpiry({ notAfter }: PeerSession): void {
    const line = this.#line;
    const { nowMs, monotonicMs } = line.moment;
    if (notAfter >= nowMs) line.due(monotonicMs + notAfter - nowMs + 1);
    else line.fail("expired-session", "The certificate has run out");
  }

  #checkStall(): void {
    if (this.#blockedMs === undefined) return;
    const stallsMs = this.#blockedMs + limits.stallMsMax;
    const isBlocked = [...this.#channels.values()].some((one) => one.isBlocked);
    if (!isBlocked) this.#blockedMs = undefined;
    else if (this.#line.moment.monotonicMs < stallsMs) this.#line.due(stallsMs);
    else this.#line.fail("too-slow", "No credit came while records waited");
  }

  #frame(bytes: Uint8Array): void {
    const message = this.#line.read(bytes);
    if (message === undefined) return;
    if (this.#peer === undefined) this.#prove(message);
    else if (message.is === "other-version") this.#line.unexpected(message);
    else if (message.is === "skipped") return;
    else if (this.#line.common(message)) this.#afterCommon(message);
    else this.#word(message, bytes.length);
  }

  #afterCommon(message: Message): void {
    if (message.is !== "credit" || this.#line.isOver) return;
    this.#blockedMs = undefined;
    this.#pump();
  }

  #prove(message: Message | Foreign): void {
    const line = this.#line;
    const peer = this.#taken(message);
    if (peer === undefined) return;
    this.#peer = peer;
    line.due(line.silenceMs);
    this.#checkExpiry(peer);
    const serverName = this.#options.name;
    line.tell({ tell: "ready", peer, serverName, clockOffsetMs: 0 });
  }

  /** Says hello. */
  #begin(): void {
    const { rootKey, name, random } = this.#options;
    random(this.#nonce);
    this.#line.begin();
    const nonce = this.#nonce;
    this.#line.send({ is: "hello", ...features, nonce, rootKey, name });
  }

  /** Takes the first message; the session that it proves, welcomed. */
  #taken(message: Message | Foreign): PeerSession | undefined {
    const line = this.#line;
    if (message.is === "failed") {
      line.close(message.code, message.detail);
    } else if (message.is === "other-version") {
      line.fail("wrong-version", `This side speaks ${wireVersion}`);
    } else if (message.is !== "prove") {
      line.unexpected(message);
    } else if (!line.hasOddWindow(message.window)) return this.#proved(message);
  }

  #proved(message: MessageOf<"prove">): PeerSession | undefined {
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
    if (line.lacksFeatures(message)) return undefined;
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

  #welcome({ nonce, knows }: MessageOf<"prove">, peer: PeerSession): void {
    const line = this.#line;
    const { session, rootKey } = this.#options;
    const nonces = { server: this.#nonce, client: nonce };
    line.send({
      is: "welcome",
      features: (features.knows & knows) >>> 0,
      window: this.#options.windowBytes ?? limits.windowBytes,
      heartbeatMs: line.heartbeatMs,
      clock: Math.max(0, Math.floor(line.moment.nowMs)),
      certificates: session.certificates,
      signature: session.sign(serverMessage(nonces, rootKey, peer.key)),
    });
  }

  #word(message: Message, frameBytes: number): void {
    switch (message.is) {
      case "open":
        return this.#open(message);
      case "close":
        return this.#close(message);
      case "vector":
      case "records":
      case "part":
      case "proof":
      case "present":
      case "audit":
        return this.#onChannel(message, frameBytes);
      default:
        return this.#line.unexpected(message);
    }
  }

  #onChannel(message: ClientWord, frameBytes: number): void {
    const line = this.#line;
    const channel = this.#channels.get(message.channel);
    if (message.is === "vector" && isLong(message.vector)) {
      return line.fail(
        "too-large",
        `A vector of ${message.vector.size} chains`,
      );
    }
    if (channel !== undefined) {
      channel.take(message, frameBytes);
      return this.#pump(channel);
    }
    const isOpening = this.#openings.has(message.channel);
    if (isOpening || message.channel > this.#lastChannel) {
      return this.#line.unexpected(message);
    }
    // It was on its way when the channel ended.
    if (message.is === "records" || message.is === "part") {
      this.#release(frameBytes);
    }
  }

  #open(message: MessageOf<"open">): void {
    const line = this.#line;
    const { channel, start } = message;
    if (channel <= this.#lastChannel) return this.#line.unexpected(message);
    this.#lastChannel = channel;
    if (start.from === "vector" && isLong(start.vector)) {
      return line.fail("too-large", `A vector of ${start.vector.size} chains`);
    }
    const name = nameOf(message.name);
    if (name === undefined) {
      const detail = "It is no repository's";
      return this.#unopened(channel, undefined, "invalid-name", detail);
    }
    if (this.#channels.size + this.#openings.size >= limits.channelsMax) {
      const detail = "Close one first";
      return this.#unopened(channel, name, "too-many-channels", detail);
    }
    if (this.#byName.has(name)) return this.#line.unexpected(message);
    this.#byName.set(name, channel);
    this.#openings.set(channel, { message, name });
    const { genesisId } = message;
    const session = this.#peer!;
    line.tell({ tell: "opening", channel, name, genesisId, session });
  }

  #unopened(
    channel: number,
    name: RepositoryName | undefined,
    code: string,
    detail: string,
  ): void {
    this.#decline(channel, code, detail);
    this.#line.tell({ tell: "unopened", name, code });
  }

  #decline(channel: number, code: string, detail: string): void {
    this.#line.send({ is: "declined", channel, code, detail });
  }

  #close({ channel }: MessageOf<"close">): void {
    const name = this.#forget(channel);
    if (name !== undefined) this.#line.tell({ tell: "closed", channel, name });
  }

  /** Ends a channel on this side; the name that it was of. */
  #forget(channel: number): RepositoryName | undefined {
    const open = this.#channels.get(channel);
    const name = open?.name ?? this.#openings.get(channel)?.name;
    open?.end();
    this.#audits?.forget(channel);
    this.#channels.delete(channel);
    this.#openings.delete(channel);
    if (name !== undefined) this.#byName.delete(name);
    return name;
  }

  /** Answers `opening`; nothing happens where the client closed the channel meanwhile. */
  opened(
    channel: number,
    port: RepositoryPort,
    options: ServerChannelOptions,
    moment: Moment,
  ): Output[] {
    return this.#run(moment, () => {
      const opening = this.#openings.get(channel);
      if (opening === undefined) return;
      const { message, name } = opening;
      if (!equalBytes(message.genesisId, port.genesisId)) {
        const detail =
          `It has the mode "${port.mode}" on the server, and another one on this device`;
        return this.#undo(channel, name, "mode-mismatch", detail);
      }
      this.#openings.delete(channel);
      const line = this.#line;
      const budget = this.#budget;
      const release = (bytes: number) => this.#release(bytes);
      const peer = this.#peer!;
      const audits = this.#desk;
      const open = new ServerChannel({
        ...{ line, channel, port, peer, budget, release, audits, options },
      });
      this.#channels.set(channel, open);
      open.begin(message.start);
      this.#pump(open);
    });
  }

  /** Declines after all what the driver has opened: it lets go of it. */
  #undo(
    channel: number,
    name: RepositoryName,
    code: string,
    detail: string,
  ): void {
    this.#forget(channel);
    this.#unopened(channel, name, code, detail);
    this.#line.tell({ tell: "closed", channel, name });
  }

  /** Answers `opening`, or ends an open channel. */
  declined(channel: number, code: string, detail: string): Output[] {
    return this.#run(undefined, () => {
      this.#channels.get(channel)?.acknowledgeLast();
      if (this.#forget(channel) === undefined) return;
      this.#decline(channel, code, detail);
    });
  }

  /** What may be shared of a repository has grown. */
  shareable(
    name: RepositoryName,
    clock: { readonly moment: Moment },
  ): Output[] {
    const channel = this.#channels.get(this.#byName.get(name) ?? 0);
    const frame = channel?.common();
    if (frame !== undefined) return [{ do: "send", frame }];
    return this.#run(clock.moment, () => {
      if (channel === undefined) return;
      channel.shareable();
      this.#pump(channel);
    });
  }

  /** Tells a channel of another peer's presence. */
  presence(
    channel: number,
    peer: number,
    user: string,
    bytes: Uint8Array,
  ): Output[] {
    return this.#run(undefined, () => {
      this.#channels.get(channel)?.presence(peer, user, bytes);
    });
  }

  /** Sends what fits, a frame a channel in turn. */
  #pump(only?: ServerChannel): void {
    let busy = only ? [only] : [...this.#channels.values()];
    while (busy.length > 0 && !this.#line.isOver) {
      busy = busy.filter((channel) => {
        if (channel.pump()) return true;
        if (channel.isBlocked) this.#blocked();
        return false;
      });
    }
  }

  #blocked(): void {
    this.#blockedMs ??= this.#line.moment.monotonicMs;
    this.#line.due(this.#blockedMs + limits.stallMsMax);
  }

  #release(bytes: number): void {
    if (this.#options.holdsCredit === true) this.#ungranted += bytes;
    else this.#line.receiving.release(bytes);
  }

  /** Grants the client so many bytes more. */
  grant(bytes: number): Output[] {
    return this.#run(undefined, () => {
      const granted = Math.min(bytes, this.#ungranted);
      this.#ungranted -= granted;
      this.#line.receiving.release(granted);
    });
  }

  /** Says goodbye and closes. */
  goodbye(waitMs: number): Output[] {
    return this.#run(undefined, () => {
      this.#line.send({ is: "goodbye", waitMs });
      this.#line.close("shutting-down", "The server said goodbye");
    });
  }

  /** Says why and closes. */
  fail(code: string, detail: string): Output[] {
    return this.#run(undefined, () => this.#line.fail(code, detail));
  }

  /** The transport is gone: frees what is half received. */
  end(): void {
    this.#line.close("lost", "The wire is gone");
    for (const channel of this.#channels.values()) channel.end();
    this.#channels.clear();
    this.#openings.clear();
    this.#byName.clear();
  }
}

function isLong(vector: ReadonlyMap<string, number>): boolean {
  return vector.size > limits.vectorChainsMax;
}

function nameOf(text: string): RepositoryName | undefined {
  try {
    return parseRepositoryName(text);
  } catch (error) {
    if (error instanceof DatabaseError) return undefined;
    throw error;
  }
}
