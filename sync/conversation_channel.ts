/**
 * One repository in a client's conversation.
 *
 * Architecture invariant: nothing is sent on a channel before the server has
 * opened it; what is kept for the next connection is never ahead of what is
 * durable here and there (law 3).
 */

import { decodeCertificate } from "../repo/commit/certificate.ts";
import type { RepositoryName } from "../repo/commit/genesis.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { signatureOf } from "../repo/admission/signature_check.ts";
import type { Signature } from "../crypto/signature.ts";
import { equalBytes } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import { ChannelWatch } from "./channel_watch.ts";
import { type ClientOptions, rights } from "./conversation.ts";
import type { PeerSession } from "./proof.ts";
import { Doubts } from "./doubts.ts";
import { Download, lackingOf } from "./download.ts";
import type { Line } from "./line.ts";
import type { MessageOf, ServerWord } from "./message.ts";
import { isAmong, Outbox } from "./outbox.ts";
import { receiptIn, receiptLayout } from "./receipt.ts";
import { usableCursor } from "./resume.ts";
import type { ServerKnowledge } from "./server_knowledge.ts";
import { Upload } from "./upload.ts";
import type { PartBudget } from "./window.ts";
import { witnessLayout } from "./witness.ts";

/** Refusals that belong together come within this; then they are acted on. */
const GATHER_MS = 50;

const MEMORY_FULL = {
  code: "memory-full",
  detail:
    "This process has no memory for more of it: what is here stays. Close what is not needed, or give it more",
};

/** What a channel of a client works with. */
export interface ClientChannelParts {
  readonly line: Line;
  readonly port: RepositoryPort;
  readonly options: ClientOptions;
  readonly budget: PartBudget;
  readonly server: ServerKnowledge;
}

/** What an open channel consists of. */
interface Ways {
  readonly up: Upload;
  readonly down: Download;
  readonly epoch: Uint8Array;
  readonly rights: number;
}

/** A repository's channel, over all the times that it is opened. */
export class ClientChannel {
  readonly #parts: ClientChannelParts;
  readonly #watch: ChannelWatch;
  readonly #doubts: Doubts;
  /** 0 while it is not open and not opening. */
  #channel = 0;
  #ways: Ways | undefined;
  #started: "cursor" | "vector" | undefined;
  #needsVector = false;
  #isResynchronised = false;
  #isLive = false;
  /** Was the driver told that everything is acknowledged? */
  #wasQuiet = false;
  /** When it opens again, on the monotonic clock. */
  #opensMs = 0;
  /** When gathered refusals are acted on at the latest. */
  #flushMs = Infinity;

  constructor(parts: ClientChannelParts) {
    const { line, port, server, options } = parts;
    this.#parts = parts;
    server.connected(options.session.publicKey);
    this.#watch = new ChannelWatch(line, port, server);
    const owns = (chain: string) => server.owns(chain);
    this.#doubts = new Doubts(port, owns, () => this.#again(0, true));
  }

  /** Which repository it is. */
  get name(): RepositoryName {
    return this.#parts.port.name;
  }

  /** Its number; 0 while it is closed. */
  get channel(): number {
    return this.#channel;
  }

  /** Is it closed, and should it be opened now? */
  get isWaiting(): boolean {
    return this.#channel === 0 &&
      this.#opensMs <= this.#parts.line.moment.monotonicMs;
  }

  /** Is it closed, and stays so until somebody opens it anew? */
  get isDeclined(): boolean {
    return this.#channel === 0 && this.#opensMs === Infinity;
  }

  /** Does a record here revoke a session, or one that it goes back to? */
  revokes({ certificates }: PeerSession): boolean {
    const { port } = this.#parts;
    return certificates.map(decodeCertificate).some(({ sessionKey }) =>
      port.isRevoked(sessionKey)
    );
  }

  /** Bytes for which the server owes an acknowledgement; `undefined` where it owes none. */
  get unanswered(): number | undefined {
    return this.#ways?.up.unanswered;
  }

  /** Opens it under a number; false when that takes a vector, which may not go out yet. */
  open(channel: number, mayTellVector: boolean): boolean {
    const { line, port, server } = this.#parts;
    const kept = usableCursor(server.place, port);
    const cursor = this.#needsVector ? undefined : kept;
    if (cursor === undefined && !mayTellVector) return false;
    const vector = cursor === undefined ? this.#doubts.vector() : undefined;
    const { name, genesisId } = port;
    const start = cursor !== undefined
      ? { from: "cursor", cursor } as const
      : { from: "vector", vector: vector! } as const;
    this.#channel = channel;
    this.#started = start.from;
    line.send({ is: "open", channel, name, genesisId, start });
    return true;
  }

  /**
   * The signatures that a message is going to be asked about; `undefined` where
   * that shows only then. A part is not put together twice.
   */
  signaturesOf(
    message: ServerWord,
    server: PeerSession,
  ): Signature[] | undefined {
    const ways = this.#ways;
    if (ways === undefined) return [];
    const { port } = this.#parts;
    const { epoch, down } = ways;
    switch (message.is) {
      case "records":
        return port.signaturesOf?.(message.records);
      case "part":
        return message.offset + message.bytes.length < message.total
          ? []
          : undefined;
      case "witness":
        return [
          signatureOf(witnessLayout, witnessLayout.decode(message.witness)),
        ];
      case "live":
      case "ack": {
        const told = message.is === "live" && message.progress?.place ||
          down.told;
        const { receipt } = message;
        if (!(receipt && (receipt.place ?? told))) return [];
        const way = { epoch, told: told! };
        const said = receiptIn(port, receipt, way, server);
        return [signatureOf(receiptLayout, said.receipt)];
      }
      default:
        return [];
    }
  }

  /** Deals with a message on this channel. */
  take(message: ServerWord, frameBytes: number, server: PeerSession): void {
    if (message.is === "opened") return this.#opened(message);
    if (message.is === "declined") return this.#declined(message);
    const ways = this.#ways;
    const { line } = this.#parts;
    if (ways === undefined) {
      return line.fail("bad-message", `"${message.is}" before "opened"`);
    }
    if (message.is !== "refuse") this.#actOnRefusals(ways);
    if (this.#ways === ways) this.#onWays(ways, message, frameBytes, server);
  }

  #onWays(
    ways: Ways,
    message: Exclude<ServerWord, { is: "opened" | "declined" }>,
    frameBytes: number,
    server: PeerSession,
  ): void {
    const { up, down } = ways;
    switch (message.is) {
      case "records":
        if (this.#isFull(frameBytes)) return;
        if (down.records(message, frameBytes)) this.#watch.disturb();
        break;
      case "part":
        if (this.#isFull(frameBytes)) return;
        if (down.part(message, frameBytes)) this.#watch.disturb();
        break;
      case "live":
        this.#live(ways, message, server);
        break;
      case "ack":
        this.#watch.disturb();
        this.#acked(ways, message, server);
        break;
      case "refuse":
        this.#flushMs = this.#parts.line.moment.monotonicMs + GATHER_MS;
        this.#parts.line.due(this.#flushMs);
        this.#expect(up.refuse(message), message);
        break;
      case "witness":
        this.#watch.witness(
          message.witness,
          { epoch: ways.epoch, told: down.told },
          server,
        );
        break;
      case "audited":
        this.#watch.audited(message);
        break;
      case "presence":
        this.#presence(message);
    }
  }

  /** Is there no memory for what has come? Then it is left out, and the channel, before the process ends of it. */
  #isFull(frameBytes: number): boolean {
    const { line, options } = this.#parts;
    if (options.isFull?.() !== true) return false;
    line.receiving.release(frameBytes);
    line.send({ is: "close", channel: this.#channel });
    this.#declined(MEMORY_FULL);
    return true;
  }

  #expect(isSound: boolean, { is }: ServerWord): void {
    const { line } = this.#parts;
    if (!isSound) line.fail("bad-message", `"${is}" of nothing that was sent`);
  }

  #opened(message: MessageOf<"opened">): void {
    const { line, server } = this.#parts;
    const { epoch, vector, rights: given, enforced } = message;
    if (this.#ways !== undefined || this.#started === undefined) {
      return line.fail("bad-message", "It is open already");
    }
    const { cursor } = server.place;
    const isOfCursor = this.#started === "cursor" && cursor !== undefined &&
      equalBytes(cursor.epoch, epoch);
    if (vector === undefined && !isOfCursor) {
      return line.fail("bad-message", "A cursor stands that was not shown");
    }
    const mayRead = (given & rights.read) !== 0;
    if (vector && mayRead && this.#doubts.ofVector(vector)) return;
    if (this.#started === "cursor" && vector !== undefined && mayRead) {
      if (isOfCursor) this.#watch.suspected = cursor.position;
      const vector = this.#doubts.vector();
      line.send({ is: "vector", channel: this.#channel, vector });
    }
    this.#begin(message, mayRead);
    const opened = { rights: given, epoch, enforced };
    line.tell({ tell: "opened", name: this.name, ...opened });
    this.#watch.opened(this.#channel, epoch, mayRead ? vector : undefined);
  }

  #begin(
    { vector, rights: given, epoch, commits }: MessageOf<"opened">,
    mayRead: boolean,
  ): void {
    const { line, port, budget, options, server } = this.#parts;
    const { canRenew = true, session } = options;
    const skipped = new Set<string>();
    const restores = (given & rights.restore) !== 0;
    const mayBring = (chain: string) =>
      mayRead || server.owns(chain) ||
      restores && server.provedOf(chain) > 0;
    const wants = (chain: string) => !skipped.has(chain) && mayBring(chain);
    const stands = vector === undefined;
    server.opened(epoch, vector && this.#doubts.servedOf(vector));
    const { uploadedTo, cursor } = server.place;
    const outbox = new Outbox({
      port,
      from: stands ? uploadedTo : 0,
      has: server.has,
      credentials: !stands && (mayRead || restores),
      wants,
      shows: vector !== undefined,
      cuts: (chain) => !server.owns(chain),
      provedOf: (chain) => server.provedOf(chain),
      knows: (credential) => isAmong(session.certificates, credential),
      peerMs: () => line.serverMs,
    });
    const up = new Upload({
      line,
      channel: this.#channel,
      port,
      outbox,
      doubts: this.#doubts,
      watch: this.#watch,
      server,
      canRenew,
      isResynchronised: this.#isResynchronised,
    }, skipped);
    const down = new Download({
      line,
      port,
      budget,
      up,
      doubts: this.#doubts,
      total: stands
        ? Math.max(0, commits - port.commits)
        : lackingOf(port, vector),
      place: stands ? cursor : undefined,
    });
    this.#ways = { up, down, epoch, rights: given };
  }

  #acked(
    { up, down, epoch, rights: given }: Ways,
    message: MessageOf<"ack">,
    server: PeerSession,
  ): void {
    const acked = up.acknowledge(message.sequence);
    this.#expect(acked !== undefined, message);
    if (acked === undefined) return;
    const mayRead = (given & rights.read) !== 0;
    this.#watch.acknowledged(message.receipt, acked, {
      ...{ epoch, down, server, mayRead },
    });
  }

  #live(
    { up, down, epoch }: Ways,
    message: MessageOf<"live">,
    server: PeerSession,
  ): void {
    down.live(message);
    const { receipt } = message;
    const { port, server: known } = this.#parts;
    const isVector = !this.#isLive && this.#started === "vector";
    if (isVector || receipt !== undefined) {
      const claimed = new Map<string, number>();
      for (const chain of port.vector().keys()) {
        const count = known.owns(chain) ? up.outbox.countOf(chain) : 0;
        if (count > 0) claimed.set(chain, count);
      }
      this.#watch.receipt(receipt, claimed, { epoch, down, server });
    }
    if (this.#isLive) return;
    this.#isLive = true;
    this.#parts.line.tell({ tell: "live", name: this.name });
  }

  #presence({ peer, user, bytes }: MessageOf<"presence">): void {
    const { line } = this.#parts;
    if (bytes.length > limits.presenceBytesMax) {
      return line.fail("too-large", "Presence is too large");
    }
    line.tell({ tell: "presence", name: this.name, peer, user, bytes });
  }

  #actOnRefusals({ up }: Ways): void {
    this.#flushMs = Infinity;
    const then = up.hasRefusals ? up.flush() : undefined;
    if (then === "later") return this.#again(up.laterMs);
    if (then === "resynchronise") return this.#resynchronise();
    if (up.isPrefixLeft) this.#again(0, true);
  }

  #resynchronise(): void {
    this.#isResynchronised = true;
    this.#again(0, true);
  }

  /** Closes it and opens it again, so that both sides begin anew. */
  #again(waitMs: number, isFromVectors = false): void {
    const { line } = this.#parts;
    const opensMs = waitMs + line.moment.monotonicMs;
    this.#needsVector ||= isFromVectors;
    line.send({ is: "close", channel: this.#channel });
    this.#rest(opensMs);
    line.due(opensMs);
  }

  /** Ends what is open, and keeps what is needed to go on. */
  #rest(opensMs: number): void {
    this.#note();
    this.#ways?.down.end();
    this.#parts.server.closed();
    this.#watch.closed();
    this.#ways = this.#started = undefined;
    this.#channel = 0;
    this.#isLive = false;
    this.#opensMs = opensMs;
  }

  #declined({ code, detail }: { code: string; detail: string }): void {
    this.#rest(Infinity);
    this.#parts.line.tell({ tell: "declined", name: this.name, code, detail });
  }

  /** What may be shared has grown. */
  shareable(): void {
    this.#ways?.down.shareable();
  }

  /** Looks whether both sides are quiet, and whether something is missing. */
  #look(server: PeerSession): void {
    const ways = this.#ways;
    if (ways === undefined) return;
    const isMissing = ways.down.isMissing || this.#watch.isMissing;
    if (isMissing && !this.#isResynchronised) return this.#resynchronise();
    if (ways.up.mayTakeMore) return this.#again(0, true);
    this.#watch.checkLost(ways.epoch, (chain) => ways.up.outbox.countOf(chain));
    if (ways.up.isQuiet && ways.down.isQuiet) this.#watch.compare(server);
  }

  /** Everything that could be sent was: looks at what that makes known. */
  rest(server: PeerSession | undefined): void {
    if (server !== undefined) this.#look(server);
    const quiet = this.#note();
    if (quiet === this.#wasQuiet) return;
    this.#wasQuiet = quiet;
    const mayBoth = rights.read | rights.write;
    if (quiet && (this.#ways!.rights & mayBoth) === mayBoth) {
      this.#parts.port.retire();
    }
    this.#parts.line.tell({ tell: "quiet", name: this.name, quiet });
  }

  /** Notes how far both sides have come; true where nothing is on its way. */
  #note(): boolean {
    if (this.#ways === undefined) return false;
    const { server, port: { commits } } = this.#parts;
    const { epoch, down, up, rights: given } = this.#ways;
    const { uploadedTo } = up;
    const cursor = down.place && { epoch, ...down.place };
    const isQuiet = up.isQuiet && down.isQuiet;
    const mayRead = (given & rights.read) !== 0;
    server.reached(
      mayRead ? { cursor, uploadedTo, commits } : undefined,
      isQuiet,
    );
    return isQuiet;
  }

  /** Sends one frame of what the server lacks; false when there is nothing to send now. */
  pump(): boolean {
    return this.#ways?.up.pump() ?? false;
  }

  /** Looks at the clock. */
  tick(): void {
    const { line } = this.#parts;
    const { monotonicMs } = line.moment;
    if (this.#channel === 0 && this.#opensMs > monotonicMs) {
      line.due(this.#opensMs);
    }
    const ways = this.#ways;
    if (ways === undefined) return;
    ways.down.tick();
    this.#watch.tick();
    if (monotonicMs >= this.#flushMs) this.#actOnRefusals(ways);
    else line.due(this.#flushMs);
  }

  /** Sends own presence. */
  present(bytes: Uint8Array): void {
    if (this.#ways === undefined) return;
    this.#parts.line.send({ is: "present", channel: this.#channel, bytes });
  }

  /** Compares with the server. */
  audit(): void {
    if (this.#ways !== undefined) this.#watch.audit();
  }

  /** The conversation is over: frees what is half received. */
  end(): void {
    this.#rest(Infinity);
    this.#parts.server.disconnected();
  }

  /** Closes it: tells the server where there is one to tell. */
  close(): void {
    const channel = this.#channel;
    if (channel !== 0) this.#parts.line.send({ is: "close", channel });
    this.#note();
    this.#parts.server.keep();
    this.#rest(Infinity);
  }
}
