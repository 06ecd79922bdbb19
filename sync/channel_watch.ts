/**
 * How a client's channel watches its server: witnesses, digests, audits, and
 * what it tells of them.
 *
 * Architecture invariant: two digests are compared only when both sides are
 * quiet about the same commits; a difference then is an incident, never noise.
 */

import { chainBytes } from "../repo/commit/commit.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { equalBytes, readable, toHex } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { AuditReport, AuditRun } from "./audit.ts";
import type { EventOf } from "./conversation.ts";
import { lateAudit } from "./late_audit.ts";
import type { PeerSession } from "./proof.ts";
import type { Place, SentReceipt } from "./frame_fields.ts";
import {
  epochOf,
  type Evidence,
  isHere,
  shown,
  type Taken,
} from "./receipt.ts";
import type { Line } from "./line.ts";
import type { AuditQuery, MessageOf } from "./message.ts";
import type { ServerKnowledge } from "./server_knowledge.ts";
import type { VersionVector } from "../repo/commit/version_vector.ts";
import { chainEndsOf, readSummary } from "./summary.ts";
import {
  compareWitnesses,
  decodeWitness,
  type Witness,
  witnessLayout,
  type WitnessOrder,
} from "./witness.ts";
import { isSigned } from "../repo/admission/signature_check.ts";

const NOTHING = new Uint8Array();

/** What a receipt came on. */
interface Way {
  readonly epoch: Uint8Array;
  /** How far the order was told, and whether that does not follow. */
  readonly down: {
    readonly told: Place | undefined;
    readonly isForked: boolean;
  };
  readonly server: PeerSession;
}

interface Running {
  readonly run: AuditRun;
  /** Did somebody ask, or did two digests differ? */
  readonly isAsked: boolean;
}

/** Watches one repository of a server. */
export class ChannelWatch {
  readonly #line: Line;
  readonly #port: RepositoryPort;
  readonly #server: ServerKnowledge;
  /** The last receipt, until its place was found to be a lie. */
  #receipted: Taken | undefined;
  /** Was it told on this connection that a receipt is missing? */
  #isReceiptMissed = false;
  /** To be compared as soon as everything here may be shared. */
  #pending: Witness | undefined;
  /** Has the server got or sent something since that may have been new to either side? */
  #isStale = false;
  #channel = 0;
  #question = 0;
  #running: Running | undefined;
  /** Has the audit work of its own to go on with? */
  #isWorking = false;
  /**
   * A position at which the server has another order than the one that it gave out:
   * it has gone back, and on from there perhaps. Its next witness tells. -1: none.
   */
  suspected = -1;
  /** Was a difference reported on this connection? */
  #isReported = false;
  /** Chains of which a server of another epoch lacks commits that it, or another one, had signed for; and how long they were. */
  #lost: (readonly [chain: string, length: number])[] = [];
  /** Has an audit found commits that one side lacks? Then what is known of the server is wrong. */
  isMissing = false;

  constructor(line: Line, port: RepositoryPort, server: ServerKnowledge) {
    this.#line = line;
    this.#port = port;
    this.#server = server;
  }

  /** The server has commits durably; for own ones it has to give a receipt to who may read. */
  acknowledged(
    receipt: SentReceipt | undefined,
    acked: ReadonlyMap<string, number>,
    way: Way & { readonly mayRead: boolean },
  ): void {
    const isSigned = this.#port.mode === "default";
    const own = new Map<string, number>();
    for (const [chain, count] of acked) {
      if (isSigned && this.#server.owns(chain)) own.set(chain, count);
      else this.#tellAcked(chain, count);
    }
    if (way.mayRead && own.size > 0) this.receipt(receipt, own, way, true);
  }

  /**
   * Takes a receipt of what a server says it has of own chains.
   *
   * @param claimed how much of each
   * @param isSent was all of that sent to it just now? Then it has no other commits of these numbers
   */
  receipt(
    receipt: SentReceipt | undefined,
    claimed: ReadonlyMap<string, number>,
    { epoch, down: { told, isForked }, server }: Way,
    isSent = false,
  ): void {
    if (isForked || this.#port.mode !== "default") return;
    const { serverMs, moment } = this.#line;
    const nowMs = Math.max(serverMs, moment.nowMs);
    const taken = receipt && (receipt.place ?? told) &&
      this.#server.receipts.take(
        receipt,
        { epoch, told: told!, nowMs },
        server,
      );
    if (taken?.named !== undefined) this.#receipted = taken;
    this.#checkPlace(epoch, told);
    if (receipt !== undefined && taken?.named === undefined) {
      return this.#incident(
        "bad-receipt",
        "A receipt is none of this server's, or of something else",
        { epoch: toHex(epoch) },
      );
    }
    for (const [chain, { count }] of this.#server.receipts.covered) {
      this.#tellAcked(chain, count);
    }
    if ((taken?.named?.size ?? 0) >= limits.receiptChainsMax) return;
    for (const [chain, count] of claimed) {
      const covered = this.#server.confirmed(chain);
      const named = isSent ? covered : taken?.named?.get(chain)?.count ?? 0;
      // Of what was given up, at the end of a chain, a server need not have heard.
      const signed = Math.max(covered, named);
      let end = count;
      while (end > signed && this.#port.isVoid(chain, end - 1)) end--;
      if (signed < end) return this.#missed(chain, count);
    }
  }

  /** The last receipt's place has the order that was told, and that a witness of it says. */
  #checkPlace(epoch: Uint8Array, told: Place | undefined): void {
    if (this.#receipted === undefined) return;
    const { at, evidence } = this.#receipted;
    const newest =
      this.#server.newest && equalBytes(this.#server.newest.epoch, epoch)
        ? this.#server.newest
        : undefined;
    const isOther = (place: Place | undefined) =>
      place?.position === at.position && !equalBytes(place.order, at.order);
    if (!isOther(told) && !isOther(newest)) return;
    this.#receipted = undefined;
    this.#incident(
      "server-forked",
      "The server signed another order in a receipt than it told, or signed, of its place",
      {
        epoch: toHex(epoch),
        position: at.position,
        receipt: shown(evidence!),
        ...(isOther(newest) && {
          witness: this.#shownWitness(newest!.bytes, evidence!),
        }),
      },
    );
  }

  #missed(chain: string, count: number): void {
    if (this.#isReceiptMissed) return;
    this.#isReceiptMissed = true;
    this.#incident(
      "bad-receipt",
      "The server says that it has commits of this device, and signs no receipt of them",
      { chain: toHex(chainBytes(chain)), count },
    );
  }

  #tellAcked(chain: string, count: number): void {
    if (!this.#server.acknowledge(chain, count)) return;
    this.#line.tell({ tell: "acked", name: this.#port.name, chain, count });
  }

  /**
   * An own commit is refused for good. That a server had signed for it is told
   * with what it signed.
   */
  refused(chain: string, number: number, reason: string): void {
    const server = this.#server;
    if (!server.owns(chain)) return;
    const covered = server.receipts.covered.get(chain);
    const isReceipted = covered !== undefined && number < covered.count;
    const end = isReceipted ? covered : server.provedEnd(chain);
    const by = isReceipted ? covered.by : server.proved;
    const isDenied = end !== undefined && by !== undefined &&
      number < end.count && isHere(this.#port, chain, end);
    if (isReceipted) server.receipts.forget(chain);
    if (!isDenied) return;
    this.#incident(
      "receipt-denied",
      `The server takes back what it had signed for: ${reason}`,
      { chain: toHex(chainBytes(chain)), number, reason, receipt: shown(by) },
    );
  }

  /**
   * The channel is open: proves to a server of another epoch, or to one that went
   * back, what there was, and tells what of it is not there.
   *
   * @param has what it has; `undefined` where that is not told
   */
  opened(channel: number, epoch: Uint8Array, has?: VersionVector): void {
    this.#channel = channel;
    this.#recall(epoch, has);
    const proof = this.#proofFor(epoch, has);
    if (proof !== undefined) {
      this.#line.send({ is: "proof", channel, ...proof });
      if (has === undefined) return;
    }
    const wasLost = this.#lost.length > 0;
    this.#lost = [];
    if (has === undefined) return;
    const lengths = new Map<string, number>();
    for (const [chain, { count }] of readSummary(proof?.summary ?? NOTHING)) {
      lengths.set(chain, count);
    }
    let by = lengths.size > 0 ? proof : undefined;
    for (const [chain, one] of this.#server.receipts.covered) {
      if (one.count <= (has.get(chain) ?? 0)) continue;
      by = one.by;
      lengths.set(chain, Math.max(one.count, lengths.get(chain) ?? 0));
    }
    let missing = 0;
    for (const [chain, count] of lengths) {
      const lacks = count - (has.get(chain) ?? 0);
      if (lacks <= 0) continue;
      missing += lacks;
      this.#lost.push([chain, count]);
    }
    if (missing > 0 || wasLost) this.#restoring(missing, epoch, by);
  }

  /** Tells what the server had signed of own commits in the epoch that goes on. */
  #recall(epoch: Uint8Array, has?: VersionVector): void {
    const tell = (chain: string, count: number) => {
      if (count <= (has?.get(chain) ?? Infinity)) this.#tellAcked(chain, count);
    };
    for (const [chain, { count, by }] of this.#server.receipts.covered) {
      if (equalBytes(epochOf(by), epoch)) tell(chain, count);
    }
    const { proved } = this.#server;
    const witness = witnessOf(proved);
    if (witness === undefined || !equalBytes(witness.epoch, epoch)) return;
    for (const [chain, end] of chainEndsOf(proved!.summary)) {
      if (this.#server.owns(chain) && isHere(this.#port, chain, end)) {
        tell(chain, end.count);
      }
    }
  }

  /**
   * What proves which commits there were to a server of another epoch, or to one
   * that went back in its own.
   *
   * @param has what it has; `undefined` where that is not told
   */
  #proofFor(
    epoch: Uint8Array,
    has?: VersionVector,
  ): Evidence | undefined {
    const { proved } = this.#server;
    const witness = witnessOf(proved);
    if (witness === undefined) return undefined;
    const { summary } = proved!;
    const isOfNow = equalBytes(witness.epoch, epoch);
    if (isOfNow && has === undefined) return undefined;
    // What was kept may have rotted: then it proves nothing, and nothing is missing by it.
    const isSound = equalBytes(this.#port.digestOf(summary), witness.digest);
    if (!isSound || isOfNow && isIn(summary, has!)) return undefined;
    return proved;
  }

  /** Looks whether all that was lost is there again. */
  checkLost(epoch: Uint8Array, hasOf: (chain: string) => number): void {
    if (this.#lost.length === 0) return;
    for (let last = this.#lost.at(-1); last; last = this.#lost.at(-1)) {
      if (hasOf(last[0]) < last[1]) return;
      this.#lost.pop();
    }
    this.#restoring(0, epoch);
  }

  /** Both sides are the same: what of its own is not there was refused here, and is told as that. */
  #dropOwn(epoch: Uint8Array): void {
    const others = this.#lost.filter(([chain]) => !this.#server.owns(chain));
    const isOver = others.length === 0 && this.#lost.length > 0;
    this.#lost = others;
    if (isOver) this.#restoring(0, epoch);
  }

  #restoring(missing: number, epoch: Uint8Array, by?: Evidence): void {
    const { name } = this.#port;
    const receipt = by === undefined ? "" : shown(by);
    this.#line.tell({ tell: "restoring", name, missing, epoch, receipt });
  }

  /** The channel is closed. */
  closed(): void {
    this.#receipted = undefined;
    this.#pending = undefined;
    this.#running = undefined;
    this.#isWorking = false;
    this.#channel = 0;
    this.isMissing = false;
  }

  /** Something new came or was acknowledged: from now on the last witness can only show that nothing was new. */
  disturb(): void {
    this.#isStale = true;
  }

  /** Takes a witness; `told`: how far the order was told, and what it is there. */
  witness(
    bytes: Uint8Array,
    { epoch, told }: {
      readonly epoch: Uint8Array;
      readonly told: Place | undefined;
    },
    server: PeerSession,
  ): void {
    const before = this.#server.newest;
    const seen = this.#see(bytes, { epoch, told }, server);
    const { name } = this.#port;
    if (seen === undefined) {
      return this.#incident(
        "bad-witness",
        "A witness is none of this server's",
        {},
      );
    }
    const { witness, order } = seen;
    this.#checkPlace(epoch, told);
    if (order === "sound") {
      this.#checkSuspicion(witness);
      return this.#line.tell({ tell: "witness", name, witness });
    }
    this.#incident(
      order,
      order === "server-forked"
        ? "The server tells two stories of one moment"
        : "The server has gone back behind what it signed",
      {
        epoch: toHex(epoch),
        position: witness.position,
        commits: witness.commits,
        witness: this.#shownWitness(bytes, server),
        positionBefore: before?.position ?? 0,
        commitsBefore: before?.commits ?? 0,
        ...(before && { before: this.#shownWitness(before.bytes, server) }),
      },
    );
  }

  /** A witness alone, for who compares it with another one of its position. */
  #shownWitness(
    statement: Uint8Array,
    { certificates }: Pick<PeerSession, "certificates">,
  ): string {
    return shown({ statement, certificates, summary: NOTHING, path: [] });
  }

  /** Takes a witness that this server sent about its present epoch. */
  #see(
    bytes: Uint8Array,
    { epoch, told }: {
      readonly epoch: Uint8Array;
      readonly told: Place | undefined;
    },
    server: PeerSession,
  ): { readonly witness: Witness; readonly order: WitnessOrder } | undefined {
    const witness = readable(() => decodeWitness(bytes));
    const isSound = witness !== undefined &&
      equalBytes(witness.genesisId, this.#port.genesisId) &&
      equalBytes(witness.epoch, epoch) &&
      equalBytes(witness.issuerKey, server.key) &&
      isSigned(witnessLayout, witness);
    if (!isSound) return undefined;
    const { newest } = this.#server;
    const isOfNow = told?.position === witness.position;
    const order = isOfNow && !equalBytes(told.order, witness.order)
      ? "server-forked"
      : newest === undefined
      ? "sound"
      : compareWitnesses(newest, witness);
    if (order === "sound") {
      this.#server.witnessed(witness);
      // Only what was told up to its very position can be compared.
      this.#pending = isOfNow ? witness : undefined;
      this.#isStale = false;
    }
    return { witness, order };
  }

  #checkSuspicion({ position, commits }: Witness): void {
    const suspected = this.suspected;
    this.suspected = -1;
    if (suspected < 0) return;
    const details = { position, commits, positionBefore: suspected };
    if (position >= suspected) {
      const message = "The server has another order than the one it gave out";
      return this.#incident("server-forked", message, details);
    }
    const message = "The server has gone back behind a place that it gave out";
    this.#incident("server-rolled-back", message, details);
  }

  /** Both sides are quiet: compares, if there is something to compare. */
  compare(server: PeerSession): void {
    const verdict = this.#compare(server);
    if (verdict === undefined) return;
    if (verdict === "equal") {
      for (const [chain, count] of this.#port.vector()) {
        if (this.#server.owns(chain)) this.#tellAcked(chain, count);
      }
      this.#dropOwn(this.#server.newest!.epoch);
      const { nowMs: atMs } = this.#line.moment;
      this.#line.tell({ tell: "equal", name: this.#port.name, atMs });
    } else if (!this.#isReported && this.#running === undefined) {
      this.#start(false);
    }
  }

  /** Compares, where both sides are quiet: `undefined` when there is nothing to compare, or not yet. */
  #compare(server: PeerSession): "equal" | "different" | undefined {
    const witness = this.#pending;
    if (witness === undefined) return undefined;
    if (this.#isStale && witness.commits !== this.#port.commits) {
      return undefined;
    }
    const summary = this.#port.summary();
    if (summary === undefined) return undefined;
    this.#pending = undefined;
    if (!equalBytes(this.#port.digestOf(summary), witness.digest)) {
      return this.#isStale ? undefined : "different";
    }
    const { bytes } = witness;
    const { certificates } = server;
    // No frame takes a longer one: an older proof is better than none.
    if (summary.length <= limits.summaryBytesMax) {
      const proved = { statement: bytes, certificates, summary, path: [] };
      this.#server.prove(proved);
    }
    return "equal";
  }

  /** Compares with the server, because somebody asks. */
  audit(): void {
    this.#start(true);
  }

  #start(isAsked: boolean): void {
    if (this.#running !== undefined) {
      this.#running = { ...this.#running, isAsked: true };
      return;
    }
    this.#running = { run: lateAudit.code(this.#port), isAsked };
    this.#go(this.#running.run.next());
  }

  #go(step: IteratorResult<AuditQuery | void, AuditReport>): void {
    this.#isWorking = false;
    if (step.done !== true) {
      const query = step.value;
      if (query === undefined) {
        this.#isWorking = true;
        return this.#line.due(this.#line.moment.monotonicMs);
      }
      const question = ++this.#question;
      const channel = this.#channel;
      this.#line.send({ is: "audit", channel, question, query });
      return;
    }
    const isAsked = this.#running?.isAsked ?? true;
    this.#running = undefined;
    this.#found(step.value, isAsked);
  }

  /** Goes on with what there is to do. */
  tick(): void {
    if (this.#isWorking) this.#goOn(NOTHING);
  }

  /** Takes an answer. */
  audited({ question, answer }: MessageOf<"audited">): void {
    if (question === this.#question && !this.#isWorking) this.#goOn(answer);
  }

  #goOn(answer: Uint8Array): void {
    if (this.#running === undefined) return;
    try {
      this.#go(this.#running.run.next(answer));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.#line.fail("bad-message", error.message);
    }
  }

  #found(report: AuditReport, isAsked: boolean): void {
    const { name } = this.#port;
    if (isAsked) this.#line.tell({ tell: "audited", name, report });
    const isSure = report.commits.length > 0 || report.items.length > 0;
    if (report.equal || isAsked || !isSure) return;
    this.#isReported = true;
    this.isMissing = report.commits.some(({ how }) => how !== "different");
    const [first] = report.commits;
    // What a server signed for, and lost behind a cursor that still stands, is told by vector.
    const isLost = report.commits.every(({ chain, from, how }) =>
      how === "extra" &&
      (from < this.#server.provedOf(chain) ||
        from < (this.#server.receipts.covered.get(chain)?.count ?? 0))
    );
    if (first && isLost) return;
    this.#incident("desync", describe(report), {
      commits: report.commits.length,
      items: report.items.length,
      ...(first && { chain: first.chain, from: first.from, to: first.to }),
    }, report);
  }

  #incident(
    kind: EventOf<"incident">["kind"],
    message: string,
    details: EventOf<"incident">["details"],
    report?: AuditReport,
  ): void {
    const { name } = this.#port;
    const incident = { kind, message, details, ...(report && { report }) };
    this.#line.tell({ tell: "incident", name, ...incident });
  }
}

function describe({ commits, items }: AuditReport): string {
  return commits.length > 0
    ? `The server has other commits in ${commits.length} chains`
    : `The server has the same commits and another state of ${items.length} items`;
}

/** Has somebody all that a summary names? */
function isIn(summary: Uint8Array, has: VersionVector): boolean {
  return [...chainEndsOf(summary)].every(([chain, { count }]) =>
    (has.get(chain) ?? 0) >= count
  );
}

function witnessOf(proved: Evidence | undefined): Witness | undefined {
  return proved && readable(() => decodeWitness(proved.statement));
}
