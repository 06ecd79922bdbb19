/**
 * One repository in a server's conversation with one client.
 *
 * Architecture invariant: without the right to read, nothing leaves but acks
 * and refusals of what the client itself handed in (law 8). Acks say durable:
 * they wait for the port (law 3).
 */

import { checkGate } from "../repo/admission/admit.ts";
import { nameOf } from "../repo/commit/commit.ts";
import type { RepositoryName } from "../repo/commit/genesis.ts";
import type { RepositoryPort } from "../repo/port.ts";
import {
  boundVector,
  type VersionVector,
} from "../repo/commit/version_vector.ts";
import { equalBytes } from "../src/base/bytes.ts";
import type { Refusal } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { answerAudit } from "./audit.ts";
import type { AuditDesk } from "./audit_desk.ts";
import { rights, type ServerChannelOptions } from "./conversation.ts";
import type { PeerSession } from "./proof.ts";
import type { ReceiptAsker } from "./receipt.ts";
import { Inbox, type Intake, isForgery, type RefusedRecord } from "./inbox.ts";
import type { Line } from "./line.ts";
import type { ClientWord, MessageOf, Start, WireRecord } from "./message.ts";
import { Step } from "./broadcast.ts";
import {
  CREDIT_MIN,
  FRAME_BYTES,
  isAmong,
  Outbox,
  type Outgoing,
  RECORD_BYTES,
  type SentRecord,
} from "./outbox.ts";
import { checkProof } from "./witness.ts";
import type { Cursor, Place, SentReceipt } from "./frame_fields.ts";
import { OrderTeller } from "./order_teller.ts";
import { named, type Progress } from "./progress.ts";
import type { PartBudget } from "./window.ts";
import { isBatch, recordKind } from "../repo/log/format.ts";

/** Chain of a refusal that is not of a batch. */
const NO_CHAIN = "\0".repeat(40);
const NO_EPOCH = new Uint8Array(16);
/** A client whose cursor is so far behind what it sent itself hears of it at once, else with the next witness. */
const CURSOR_LAG_BYTES = 4 * 1024;

/** What a channel of a server works with. */
export interface ServerChannelParts {
  readonly line: Line;
  readonly channel: number;
  readonly port: RepositoryPort;
  readonly peer: PeerSession;
  readonly budget: PartBudget;
  readonly release: (bytes: number) => void;
  /** Who answers its questions. */
  readonly audits: () => AuditDesk;
  readonly options: ServerChannelOptions;
}

/** An open channel. */
export class ServerChannel implements ReceiptAsker {
  readonly #parts: ServerChannelParts;
  /** Made for the first record: who only follows has none. */
  #inbox: Inbox | undefined;
  #outbox: Outbox | undefined;
  /** Was the session's certificate put before its first batch? */
  #isIntroduced = false;
  #isLive = false;
  #isProved = false;
  /** The last position that the client was told. */
  #told = -1;
  /** The position of the last witness that was sent. */
  #witnessed = -1;
  #isAcknowledging = false;
  /** Was it asked to be woken when there may be another witness? */
  #awaitsWitness = false;
  /** Does the client begin with a vector? It may hold no receipt of what it brought once. */
  #owesReceipt = false;

  constructor(parts: ServerChannelParts) {
    this.#parts = parts;
  }

  #receiving(): Inbox {
    const { line, port, budget, release, options } = this.#parts;
    const { gate, staging, wants } = options;
    return this.#inbox ??= new Inbox({
      port,
      budget,
      release,
      gate: (batch, ...asked) =>
        checkGate(batch, line.moment.nowMs) ?? gate?.(batch, ...asked),
      staging,
      wants,
      noteHas: (chain, count) => this.#outbox?.noteHas(chain, count),
      noteCredential: (bytes) => this.#outbox?.noteCredential(bytes),
    });
  }

  /** Which repository it is. */
  get name(): RepositoryName {
    return this.#parts.port.name;
  }

  /** Do records wait for credit? */
  get isBlocked(): boolean {
    return this.#outbox?.isBlocked ?? false;
  }

  get #mayRead(): boolean {
    return (this.#parts.options.rights & rights.read) !== 0;
  }

  /** Answers `open`. Where a frame cannot name all chains, those that the client has come first. */
  begin(start: Start): void {
    const { line, channel, port, options } = this.#parts;
    const { rights, enforced = [] } = options;
    const opened = { is: "opened", channel, rights, enforced } as const;
    if (!this.#mayRead) {
      const nothing = {
        ...{ epoch: NO_EPOCH, commits: 0 },
        ...{ vector: new Map(), enforced: [] },
      };
      line.send({ ...opened, ...nothing });
      return;
    }
    const { commits } = port;
    const { epoch } = options.order;
    if (start.from === "cursor" && this.#stands(start.cursor)) {
      line.send({ ...opened, epoch, commits, vector: undefined });
      this.#follow(start.cursor, undefined);
      return;
    }
    const asked = start.from === "vector" ? start.vector.keys() : [];
    const vector = boundVector(port.vector(), limits.vectorChainsMax, asked);
    line.send({ ...opened, epoch, commits, vector });
    if (start.from === "vector") this.#follow(undefined, start.vector);
  }

  /** Has the log in this epoch the order that a cursor says, at its position? */
  #stands({ epoch, position, order }: Cursor): boolean {
    const { port, options } = this.#parts;
    return equalBytes(epoch, options.order.epoch) &&
      position <= port.shareable && options.order.stands(position, order);
  }

  #follow(from: Place | undefined, has: VersionVector | undefined): void {
    const { port, peer, options: { order: { epoch } } } = this.#parts;
    const key = nameOf(peer.key, 0, peer.key.length);
    this.#told = from?.position ?? -1;
    this.#owesReceipt = has !== undefined;
    this.#outbox = new Outbox({
      port,
      from: from?.position ?? 0,
      order: new OrderTeller(epoch, from),
      ...(has && { has: new Map(has) }),
      credentials: has !== undefined,
      forgets: true,
      shows: has !== undefined,
      cuts: (chain) => !chain.startsWith(key),
      knows: (credential) => isAmong(peer.certificates, credential),
    });
  }

  /** Deals with a message on this channel. */
  take(message: ClientWord, frameBytes: number): void {
    const { line } = this.#parts;
    switch (message.is) {
      case "vector":
        return this.#vector(message);
      case "records":
        if (message.progress !== undefined) {
          return line.fail("bad-message", "A client has no order to tell");
        }
        return this.#take(() =>
          this.#receiving().records(
            message.records,
            frameBytes,
            this.#monotonicMs,
          )
        );
      case "part":
        return this.#part(message, frameBytes);
      case "proof":
        return this.#proof(message);
      case "present":
        return this.#present(message);
      case "audit":
        return this.#audit(message);
    }
  }

  get #monotonicMs(): number {
    return this.#parts.line.moment.monotonicMs;
  }

  #vector({ vector }: MessageOf<"vector">): void {
    if (!this.#mayRead) return;
    if (this.#outbox === undefined) return this.#follow(undefined, vector);
    this.#parts.line.fail("bad-message", "A vector that nobody asked for");
  }

  #part(message: MessageOf<"part">, frameBytes: number): void {
    const { line } = this.#parts;
    this.#introduce();
    const now = this.#monotonicMs;
    const intake = this.#receiving().part(message, frameBytes, now);
    if (intake === "bad") line.fail("bad-message", "A part does not go on");
    else if (intake === "no-room") {
      line.fail("unavailable", "Too many large records at once");
    } else this.#settle(intake);
  }

  #take(receive: () => Intake): void {
    this.#introduce();
    this.#settle(receive());
  }

  /** The client's own certificates come before its first batch. */
  #introduce(): void {
    const { port, peer, options: { wants } } = this.#parts;
    if (this.#isIntroduced) return;
    if (port.mode !== "default") return;
    const arrivals = peer.certificates.toReversed().map((bytes) => ({
      kind: recordKind.certificate,
      bytes,
    }));
    const wanted = arrivals.filter((one) => wants?.(one, "") === undefined);
    this.#isIntroduced = wanted.length === arrivals.length;
    port.receive(wanted);
  }

  #settle({ judged, refused }: Intake): void {
    const { line, port } = this.#parts;
    for (const one of refused) this.#refuse(one);
    this.#acknowledge();
    this.#await();
    if (judged.length === 0) return;
    let bytes = 0;
    for (const { arrival } of judged) bytes += arrival.bytes.length;
    line.tell({ tell: "received", name: port.name, judged, bytes });
  }

  #refuse({ pending, refusal }: RefusedRecord): void {
    const { line, channel, port, options } = this.#parts;
    const { arrival, chain, first, end, sequence } = pending;
    const kept = options.keeps?.(arrival, refusal) ?? false;
    const has = chain === "" ? 0 : this.#receiving().countOf(chain);
    const last = Math.max(0, end - 1);
    const number = refusal.number ?? Math.min(Math.max(first, has), last);
    const from = Math.min(has, number);
    // Somebody else may bring it, where it is judged anew.
    this.#outbox?.noteLacks(chain, number);
    line.send({
      is: "refuse",
      channel,
      sequence,
      chain: chain === "" ? NO_CHAIN : chain,
      from,
      number,
      count: isAlone(refusal) ? 1 : Math.max(1, end - number),
      reason: refusal.refused,
      rule: refusal.rule ?? "",
      detail: refusal.detail ?? "",
      kept,
    });
    const { name } = port;
    line.tell({ tell: "refused-batch", name, arrival, refusal, kept });
    if (isForgery(refusal)) {
      line.fail("bad-message", `A record was refused: ${refusal.refused}`);
    }
  }

  #acknowledge(): void {
    const { line, channel } = this.#parts;
    const acked = this.#inbox?.acknowledge();
    if (acked === undefined) return;
    // A cursor behind it comes first: the client may leave when it is acknowledged.
    // A witness comes after it: before, nobody could tell what the ack was new to.
    this.#isAcknowledging = true;
    this.pump();
    this.#isAcknowledging = false;
    this.#witnessed = -1;
    const { sequence, lengths } = acked;
    const receipt = this.#receiptOf(lengths);
    line.send({ is: "ack", channel, sequence, receipt });
  }

  /** What is not acknowledged yet will be signed for with what others brought. */
  #await(): void {
    const isOwed = this.#getsReceipts && this.#inbox?.isIdle === false;
    if (isOwed) this.#parts.options.receipts.await(this);
  }

  get #getsReceipts(): boolean {
    return this.#mayRead && this.#parts.port.mode === "default";
  }

  /** What of its own chains is durable, and was not acknowledged yet. */
  get owed(): ReadonlyMap<string, number> {
    return this.#ownOf(this.#inbox?.durable.lengths ?? []);
  }

  /** The chains of the client's session: as many as a receipt names. */
  #ownOf(
    lengths: Iterable<readonly [string, number]>,
  ): ReadonlyMap<string, number> {
    const { key } = this.#parts.peer;
    const name = nameOf(key, 0, key.length);
    return new Map(
      Array.from(lengths).filter(([chain]) => chain.startsWith(name))
        .slice(0, limits.receiptChainsMax),
    );
  }

  /** What its author gets for commits that are durable here: see `receipt.ts`. */
  #receiptOf(
    lengths: Iterable<readonly [string, number]>,
  ): SentReceipt | undefined {
    const { line, port, options } = this.#parts;
    if (!this.#getsReceipts) return undefined;
    const moment = { durable: port.shareable, wall: line.moment.nowMs };
    const own = this.#ownOf(lengths);
    const receipt = options.receipts.take(this, own, moment);
    this.#await();
    const isTold = receipt?.place?.position === this.#told;
    return receipt && isTold ? { ...receipt, place: undefined } : receipt;
  }

  /** Before the channel ends: what came may have ended the right to it. */
  acknowledgeLast(): void {
    const { line, channel } = this.#parts;
    const acked = this.#inbox?.acknowledge();
    if (acked === undefined) return;
    const { sequence, lengths } = acked;
    const receipt = this.#receiptOf(lengths);
    line.send({ is: "ack", channel, sequence, receipt });
  }

  /** What may be shared has grown. */
  shareable(): void {
    const monotonicMs = this.#monotonicMs;
    if (this.#inbox?.hasParked) {
      this.#settle(this.#inbox.retryParked(monotonicMs));
    }
    this.#acknowledge();
  }

  /** Sends one frame of what the client lacks; false when there is nothing to send now. */
  pump(): boolean {
    const { line, channel, options } = this.#parts;
    const outbox = this.#outbox;
    if (outbox === undefined || line.isOver) return false;
    if (options.isEnded?.() === true) return false;
    const from = this.#restsAt;
    const outgoing = outbox.next(line.sending.left);
    if (outgoing === undefined) {
      this.#rest(outbox);
      return false;
    }
    if ("part" in outgoing) {
      const frame = line.send({ is: "part", channel, ...outgoing.part });
      line.sending.use(frame.length);
      if (outgoing.whole.length > 0) this.#records(outbox, []);
      return true;
    }
    const frame = this.#records(outbox, outgoing.records);
    if (from >= 0) this.#share(from, outgoing, frame);
    return true;
  }

  #records(outbox: Outbox, records: readonly WireRecord[]): Uint8Array {
    const { line, channel } = this.#parts;
    let left = line.sending.left - FRAME_BYTES;
    for (const { bytes } of records) left -= bytes.length + RECORD_BYTES;
    const progress = this.#progress(outbox, records, left);
    const message = { is: "records", channel, records, progress } as const;
    const frame = line.send(message);
    line.sending.use(frame.length);
    return frame;
  }

  /** Log address at which the client rests, live and told of it; -1 elsewhere. */
  get #restsAt(): number {
    const outbox = this.#outbox;
    const told = this.#told;
    const rests = this.#isLive && outbox?.isPlain === true &&
      outbox.position === told && outbox.order?.restsAt === told;
    return rests ? told : -1;
  }

  /** Others who rested there get the same, where these are all that there is, as they are. */
  #share(
    from: number,
    { records, whole }: Extract<Outgoing, { records: unknown }>,
    frame: Uint8Array,
  ): void {
    const { channel, port, options: { broadcast } } = this.#parts;
    const { shareable } = port;
    const place = this.#outbox?.order?.place;
    const isOver = place === undefined || this.#restsAt !== shareable ||
      broadcast?.step(from, shareable) !== undefined;
    if (isOver) return;
    const { records: all } = port.read(from, limits.recordsBytesSoft);
    const isCommon = all.length === records.length &&
      all.every(({ kind, bytes }, i) =>
        isBatch(kind) && bytes === records[i]!.bytes
      );
    if (isCommon) broadcast?.keep(new Step(from, place, whole), channel, frame);
  }

  /** The frame of what is new, where everybody who rests here gets the same; `undefined`: as `shareable` and `pump` have it. */
  common(): Uint8Array | undefined {
    const { line, channel, port, options } = this.#parts;
    const step = options.broadcast?.step(this.#restsAt, port.shareable);
    if (step === undefined) return undefined;
    // There is an answer to give, or the clock to be looked at.
    const isAwake = options.witness === undefined || this.#awaitsWitness;
    if (this.#inbox?.isIdle === false || !isAwake) return undefined;
    const frame = step.frame(channel);
    if (line.sending.left < frame.length + CREDIT_MIN) return undefined;
    const outbox = this.#outbox!; // Which rests.
    const hasSome = ({ chain, first }: SentRecord) =>
      outbox.countOf(chain) > first;
    if (step.batches.some(hasSome)) return undefined;
    const { position } = step.to;
    outbox.skip(position);
    outbox.order?.pass(step.to);
    this.#told = position;
    line.sending.use(frame.length);
    return frame;
  }

  /** What the order says of what was sent, where that is more than was told. */
  #progress(
    { order }: Outbox,
    records: readonly WireRecord[],
    bytesMax: number,
  ): Progress | undefined {
    if (order?.place === undefined || order.place.position === this.#told) {
      return undefined;
    }
    if (order.bytes > bytesMax) return undefined; // With the next frame, then.
    const { flushes, place } = order.take()!;
    this.#told = place.position;
    return { flushes: named(flushes, records), place };
  }

  /** Nothing to send: says so once, and states what both should have now. */
  #rest(outbox: Outbox): void {
    const { line } = this.#parts;
    if (!outbox.isDone) {
      if (!outbox.isBlocked) line.due(this.#monotonicMs); // It goes on next turn.
      return;
    }
    if (!this.#isLive) {
      this.#isLive = true;
      this.#live(outbox);
      line.tell({ tell: "live", name: this.name });
    } else if (this.#placeOf(outbox) - this.#told > CURSOR_LAG_BYTES) {
      // Who leaves now would be sent again what it sent itself.
      this.#live(outbox);
    }
    this.#witness(outbox);
  }

  /** The last position that the client may be told. */
  #placeOf({ order }: Outbox): number {
    return order?.place?.position ?? -1;
  }

  #live(outbox: Outbox): void {
    const { line, channel, port } = this.#parts;
    const progress = this.#progress(outbox, [], limits.recordsBytesSoft);
    const { commits } = port;
    const isFirst = this.#owesReceipt;
    this.#owesReceipt = false;
    const receipt = isFirst ? this.#receiptOf(port.vector()) : undefined;
    line.send({ is: "live", channel, commits, progress, receipt });
    outbox.order?.follow();
  }

  /** A witness is of this moment: the client has everything before its position, and nothing else of ours. */
  #witness(outbox: Outbox): void {
    const { line, channel, options: { witness: source } } = this.#parts;
    if (source === undefined || this.#isAcknowledging) return;
    const position = this.#placeOf(outbox);
    if (outbox.position !== position || position === this.#witnessed) return;
    const { nowMs, monotonicMs } = line.moment;
    const newest = source.newest(nowMs);
    if (newest?.position !== position) {
      const waitMs = source.nextMs - nowMs;
      this.#awaitsWitness = waitMs > 0;
      if (waitMs > 0) line.due(monotonicMs + waitMs);
      return;
    }
    if (this.#told !== position) this.#live(outbox);
    this.#witnessed = position;
    line.send({ is: "witness", channel, witness: newest.bytes });
  }

  #proof(message: MessageOf<"proof">): void {
    const { line, port, options: { isRevoked } } = this.#parts;
    if (this.#isProved) return;
    this.#isProved = true; // One a channel: each costs signatures.
    const { nowMs } = line.moment;
    const witness = checkProof(message, { port, nowMs, isRevoked });
    if (witness === undefined) return;
    const { name } = port;
    line.tell({ tell: "proof", name, witness, summary: message.summary });
  }

  #present({ bytes }: MessageOf<"present">): void {
    const { line, channel } = this.#parts;
    if (bytes.length > limits.presenceBytesMax) {
      line.fail("too-large", "Presence is too large");
    } else if (this.#mayRead) {
      line.tell({ tell: "present", channel, name: this.name, bytes });
    }
  }

  #audit({ question, query }: MessageOf<"audit">): void {
    const { line, channel, port, audits } = this.#parts;
    if (!this.#mayRead) return line.fail("forbidden", "No right to read");
    audits().ask(channel, answerAudit(port, query), (answer) => {
      if (this.#parts.options.isEnded?.() === true) return;
      line.send({ is: "audited", channel, question, answer });
    });
  }

  /** Another peer's presence. */
  presence(peer: number, user: string, bytes: Uint8Array): void {
    const { line, channel } = this.#parts;
    if (!this.#mayRead) return;
    line.send({ is: "presence", channel, peer, user, bytes });
  }

  /** Looks at the clock. */
  tick(): void {
    const { line } = this.#parts;
    this.#awaitsWitness = false;
    const inbox = this.#inbox;
    if (inbox === undefined) return;
    const { monotonicMs } = line.moment;
    if (inbox.hasParked && monotonicMs >= inbox.expiresMs) {
      this.#settle(inbox.expire(monotonicMs));
    }
    line.due(inbox.expiresMs);
  }

  /** The channel is closed: frees what is half received. */
  end(): void {
    this.#inbox?.end();
    this.#parts.options.receipts.forget(this);
  }
}

/** Is it about one commit? What follows a revoked one is revoked, and what follows an early one is later still. */
function isAlone({ number, refused }: Refusal): boolean {
  return number !== undefined &&
    !["revoked", "bad-clock", "early"].includes(refused);
}
