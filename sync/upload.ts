/**
 * The client's way up: what was sent and not acknowledged, and what becomes of
 * what the server refuses.
 *
 * Own commits that are refused are void from then on, and their chain is sent
 * again from there, with stubs in their place; what was sent of it meanwhile the
 * server passes over.
 *
 * Architecture invariant: a refusal makes own commits void that the server has
 * not, and others' only where nothing proves that a server had accepted them
 * (law 11): no server can make its clients forget what it signed for.
 */

import type { RepositoryPort } from "../repo/port.ts";
import type { RefusedCommit } from "../repo/refusal/void_commits.ts";
import { limits } from "../src/base/limits.ts";
import type { ChannelWatch } from "./channel_watch.ts";
import type { FollowUp } from "./conversation.ts";
import type { Doubts } from "./doubts.ts";
import type { Line } from "./line.ts";
import type { MessageOf } from "./message.ts";
import type { Outbox, SentRecord } from "./outbox.ts";
import type { ServerKnowledge } from "./server_knowledge.ts";

/** What an upload works with. */
export interface UploadParts {
  readonly line: Line;
  readonly channel: number;
  readonly port: RepositoryPort;
  readonly outbox: Outbox;
  readonly doubts: Doubts;
  readonly watch: ChannelWatch;
  readonly server: ServerKnowledge;
  /** Could a new certificate help against `expired-session`? */
  readonly canRenew: boolean;
  /** Was the channel opened again already, because something was missing there? */
  readonly isResynchronised: boolean;
}

/** A server whose time goes back all the while has commits written again no more often; then the app hears of it. */
const REISSUES_MAX = 4;
/** A chain of which something is refused for this takes nothing more, not even stubs. */
const ENDING: ReadonlySet<string> = new Set([
  "bad-clock",
  "revoked",
  "unknown-session",
]);
/** Characters of a moment as ISO 8601 has it. */
const ISO_LENGTH = 24;

/** What has to follow, from what ends with the refusal to what begins everything anew. */
const GRAVITY: readonly FollowUp[] = [
  "void",
  "skipped",
  "login",
  "later",
  "resynchronise",
];

/** A chain of which something was refused. */
interface Stop {
  /** How many of its commits the server has. */
  readonly from: number;
  /** The first record that was sent after that was acted on. */
  before: number;
}

interface Gathered {
  readonly entry: SentRecord;
  readonly messages: MessageOf<"refuse">[];
}

/** Is it refused for the time being, and to be sent again? */
function isForNow({ reason }: MessageOf<"refuse">): boolean {
  return ["quota", "restoring", "early"].includes(reason);
}

/** Will the server not take it from anybody, or from nobody but its author? What it keeps, its owner decides on. */
function isFinal({ reason, kept }: MessageOf<"refuse">): boolean {
  return kept && reason === "revoked" || [
    "denied",
    "constraint",
    "kv-conflict",
    "unknown-name",
    "wrong-kind",
    "expired-session",
    "fork",
  ].includes(reason);
}

/** The first commit that messages refuse. */
function firstOf(messages: readonly MessageOf<"refuse">[]): number {
  return Math.min(...messages.map(({ number }) => number));
}

/** Records on their way up. */
export class Upload {
  readonly #parts: UploadParts;
  readonly outbox: Outbox;
  /** Sent and not acknowledged, in order. */
  #sent: SentRecord[] = [];
  /** The sequence of the first of them. */
  #base = 1;
  /** Refusals that came and were not acted on: more may belong to them. */
  readonly #gathered = new Map<string, Gathered>();
  readonly #stops = new Map<string, Stop>();
  readonly #skipped: Set<string>;
  #isPrefixLeft = false;
  /** Was something refused for the time being, whoever wrote it? */
  #isPutOff = false;
  /** Was a credential, and did nothing follow from that yet? */
  #isCredentialPutOff = false;
  #laterMs = Infinity;
  #isCredentialNew = false;
  /** What goes out after the sequence `before` was read once more, from there on: what was sent earlier stands behind it. */
  #again = { before: 0, from: Infinity };
  /** Log address of the first record that the server lacks after all. */
  #stuckAt = Infinity;

  /** @param skipped filled with chains that the outbox must leave out */
  constructor(parts: UploadParts, skipped: Set<string>) {
    this.#parts = parts;
    this.#skipped = skipped;
    this.outbox = parts.outbox;
  }

  /** Own log address before which the server has everything. */
  get uploadedTo(): number {
    return Math.min(
      this.#sent[0]?.from ?? Infinity,
      this.#base < this.#again.before ? this.#again.from : Infinity,
      this.outbox.position,
      this.#stuckAt,
    );
  }

  /** Has the server everything that may be shared, and said so? */
  get isQuiet(): boolean {
    return this.outbox.isDone && this.#sent.length === 0 &&
      this.#gathered.size === 0 && this.#stuckAt === Infinity;
  }

  /** Bytes of the log for which the server owes an acknowledgement; `undefined` where it owes none. */
  get unanswered(): number | undefined {
    const [first] = this.#sent;
    return first && Math.max(0, this.outbox.position - first.from);
  }

  /** Sends one frame of what the server lacks; false when there is nothing to send now. */
  pump(): boolean {
    const { line, channel } = this.#parts;
    if (line.isOver || this.#sent.length >= limits.unackedRecordsMax) {
      return false;
    }
    const outgoing = this.outbox.next(line.sending.left);
    if (outgoing === undefined) {
      const { isDone, isBlocked, waitMs } = this.outbox;
      if (!isDone && !isBlocked) line.due(line.moment.monotonicMs + waitMs);
      return false;
    }
    this.#sent.push(...outgoing.whole);
    if ("part" in outgoing) {
      const part = { is: "part", channel, ...outgoing.part } as const;
      line.sending.use(line.send(part).length);
    } else if (outgoing.records.length > 0) {
      const { records } = outgoing;
      const message = { channel, records, progress: undefined };
      line.sending.use(line.send({ is: "records", ...message }).length);
    }
    return true;
  }

  /** Takes an acknowledgement: how far chains came with it, or `undefined` when it is of nothing that was sent. */
  acknowledge(sequence: number): ReadonlyMap<string, number> | undefined {
    const count = sequence - this.#base + 1;
    if (count < 1 || count > this.#sent.length) return undefined;
    const acked = new Map<string, number>();
    for (const { chain, end, isPassedOver } of this.#sent.splice(0, count)) {
      const { from, before } = this.#stops.get(chain) ?? { from: end };
      const isRefused = before === Infinity && end > from;
      if (!this.#isOutdated(this.#base, chain)) this.#stops.delete(chain);
      if (chain !== "" && !isPassedOver && !isRefused) acked.set(chain, end);
      this.#base++;
    }
    for (const [chain, count] of acked) this.outbox.noteHas(chain, count);
    return acked;
  }

  /** Notes a refusal; false when it is of nothing that was sent. */
  refuse(message: MessageOf<"refuse">): boolean {
    const { sequence, chain, from, number, count } = message;
    const entry = this.#sent[sequence - this.#base];
    if (entry === undefined) return false;
    if (entry.chain === "") return this.#refusedCredential(entry, message);
    const isInside = entry.chain === chain && from <= number &&
      number >= entry.first && count >= 1 && number + count <= entry.end;
    if (!isInside) return false;
    const isActedOn = this.#stops.get(chain)?.before !== Infinity;
    if (isActedOn && this.#isOutdated(sequence, chain)) return true;
    const gathered = this.#gathered.get(chain);
    if (gathered !== undefined) gathered.messages.push(message);
    else this.#gathered.set(chain, { entry, messages: [message] });
    this.#stops.set(chain, { from, before: Infinity });
    this.#isPutOff ||= isForNow(message);
    this.#readTime(message);
    return true;
  }

  /** Was it sent before its chain goes out anew? The server passes over it, or judges its copy. */
  #isOutdated(sequence: number, chain: string): boolean {
    return sequence < (this.#stops.get(chain)?.before ?? 0);
  }

  /** Who says that a commit is ahead says what time it is. */
  #readTime({ reason, detail }: MessageOf<"refuse">): void {
    if (reason !== "early" && reason !== "bad-clock") return;
    const { line } = this.#parts;
    const serverMs = Date.parse(detail.slice(-ISO_LENGTH));
    if (!Number.isFinite(serverMs)) return;
    line.tell({ tell: "clock", clockOffsetMs: line.readTime(serverMs) });
  }

  /** Milliseconds until what was refused may be sent again. */
  get laterMs(): number {
    return Math.min(this.#laterMs, limits.refusedRetryMs);
  }

  /** Nothing of ours is void by it; what is put off goes out again, before the stubs that nobody takes without. */
  #refusedCredential(
    { from }: SentRecord,
    message: MessageOf<"refuse">,
  ): boolean {
    const isLater = isForNow(message);
    if (isLater) {
      this.#isPutOff = this.#isCredentialPutOff = true;
      this.#stuckAt = Math.min(this.#stuckAt, from);
    }
    this.#tell({ ...message, chain: "" }, isLater ? "later" : "skipped");
    return true;
  }

  /** Acts on the refusals that came; the gravest of what has to follow. */
  flush(): FollowUp | undefined {
    let gravest: FollowUp | undefined = this.#isCredentialPutOff
      ? "later"
      : undefined;
    this.#isCredentialPutOff = false;
    for (const [chain, gathered] of [...this.#gathered]) {
      this.#gathered.delete(chain);
      const then = this.#act(chain, gathered);
      const isGraver = gravest === undefined ||
        GRAVITY.indexOf(then) > GRAVITY.indexOf(gravest);
      if (isGraver) gravest = then;
    }
    return gravest;
  }

  /** Do refusals wait to be acted on? */
  get hasRefusals(): boolean {
    return this.#gathered.size > 0 || this.#isCredentialPutOff;
  }

  #act(chain: string, { entry, messages }: Gathered): FollowUp {
    if (this.#isGone(chain, entry, messages)) return "void";
    const then = this.#decide(chain, messages);
    for (const message of messages) this.#tell(message, then);
    if (then === "void" || then === "skipped") {
      const { number, reason } = messages[0]!;
      this.#parts.watch.refused(chain, number, reason);
    }
    if (then === "void") {
      return this.#void(chain, entry, messages);
    }
    this.#skip(chain, entry);
    const isGoing = !this.#parts.doubts.owns(chain) &&
      this.#isGoing(chain, messages);
    if (isGoing || then === "skipped") {
      this.#foreign(chain, messages[0]!, isGoing);
    }
    if (isGoing) {
      this.#parts.port.cut([{ chain, from: firstOf(messages) }], "foreign");
    }
    return then;
  }

  /**
   * Do commits go here as well, also those of others, and all that was built on
   * them? A server that was lost may have accepted them, and this one judges
   * otherwise: its order is the law, but for what was proved before. What is
   * void here says nothing that could be lost.
   */
  #isGoing(chain: string, messages: readonly MessageOf<"refuse">[]): boolean {
    const { port, server } = this.#parts;
    const first = firstOf(messages);
    const isProved = server.provedOf(chain) > first;
    if (isProved && !port.isVoid(chain, first)) return false;
    // Of what says nothing there is nothing to keep, nor to decide on.
    return messages.every((one) =>
      isFinal(one) || !isProved && one.reason === "revoked" &&
        port.isVoid(chain, one.number, one.number + one.count)
    );
  }

  /** The log got a credential from the server. */
  noteCredential(bytes: Uint8Array): void {
    this.outbox.noteCredential(bytes);
    this.#isCredentialNew = true;
  }

  /** May the server take now what it did not take for want of a certificate? */
  get mayTakeMore(): boolean {
    return this.#isCredentialNew && this.#skipped.size > 0;
  }

  /** Do commits wait for another channel, because the server ignores the rest of their chain on this one? */
  get isPrefixLeft(): boolean {
    return this.#isPrefixLeft;
  }

  #skip(chain: string, { from }: SentRecord): void {
    this.#skipped.add(chain);
    this.#stuckAt = Math.min(this.#stuckAt, from);
  }

  /** Did it descend from what was refused, and was it cut with that? What is left of it goes out anew. */
  #isGone(
    chain: string,
    entry: SentRecord,
    messages: readonly MessageOf<"refuse">[],
  ): boolean {
    const left = this.#parts.port.lengthOf(chain);
    const isGone = left < entry.end &&
      messages.every(({ number, reason }) =>
        left <= number || reason === "missing-parent"
      );
    if (isGone && left > messages[0]!.from) {
      this.#isPrefixLeft = true;
      this.#stuckAt = Math.min(this.#stuckAt, entry.from);
    }
    return isGone;
  }

  #decide(chain: string, messages: readonly MessageOf<"refuse">[]): FollowUp {
    const { doubts, canRenew, isResynchronised, port } = this.#parts;
    const has = (...reasons: string[]) =>
      messages.some(({ reason }) => reasons.includes(reason));
    if (messages.some(isForNow)) {
      this.#laterMs = Math.min(this.#laterMs, this.#waitMs(chain, messages));
      return "later";
    }
    if (has("gap", "missing-parent")) {
      // What is missing there may be what was put off.
      if (this.#isPutOff) return "later";
      const isNew = has("gap") && doubts.add(chain);
      return isResynchronised && !isNew ? "skipped" : "resynchronise";
    }
    if (!doubts.owns(chain)) {
      return this.#isGoing(chain, messages) ? "resynchronise" : "skipped";
    }
    // That cannot be: whoever says so would have it written anew for ever.
    if (has("fork") && port.isReplacement(chain)) return "skipped";
    if (canRenew && has("unknown-session", "expired-session")) return "login";
    return "void";
  }

  #waitMs(chain: string, messages: readonly MessageOf<"refuse">[]): number {
    const isEarly = messages.every(({ reason }) => reason === "early");
    const { line, port } = this.#parts;
    return isEarly
      ? Math.max(limits.backoffMsMin, port.clockOf(chain) - line.serverMs)
      : limits.refusedRetryMs;
  }

  #void(
    chain: string,
    entry: SentRecord,
    messages: readonly MessageOf<"refuse">[],
  ): FollowUp {
    const { port, line } = this.#parts;
    const { from: has } = messages[0]!;
    const first = firstOf(messages);
    // Where the server has other commits of these numbers, this folder was set
    // back: nothing of it was refused, and all of it is written again. What
    // others built on the server's commits is asked for again, behind those.
    if (messages.some(({ reason }) => reason === "fork")) {
      port.cut([{ chain, from: first }], "fork");
      return "resynchronise";
    }
    const refused: RefusedCommit[] = [];
    for (const { number, count, reason, rule, detail, kept } of messages) {
      for (let i = number; i < number + count; i++) {
        refused.push({ number: i, reason, rule, detail, kept });
      }
    }
    refused.sort((a, b) => a.number - b.number);
    const latestMs = line.serverMs + limits.clockAheadMsMax;
    const isFollowed = Math.abs(line.serverMs - line.moment.nowMs) <=
      limits.clockCorrectionMsMax;
    const isAhead = isFollowed && port.clockOf(chain) > latestMs &&
      refused.every(({ reason }) => reason === "bad-clock");
    let due: number | undefined = 0;
    const isEnd = refused.some(({ reason }) => ENDING.has(reason));
    if (isEnd && first > has) {
      // What comes before it goes out by another channel: this one ignores the chain.
      this.#isPrefixLeft = true;
      this.#stuckAt = Math.min(this.#stuckAt, entry.from);
    }
    if (isAhead && line.reissues++ < REISSUES_MAX) {
      const countOf = (one: string) => this.outbox.countOf(one);
      port.cut(port.aheadOf(
        latestMs,
        (one) => one === chain ? first : countOf(one),
      ));
    } else {
      due = port.refuse(chain, refused);
      if (isEnd) port.cut([{ chain, from: first }]);
      else if (
        due === undefined && messages[0]!.sequence >= this.#again.before
      ) {
        // It refuses what said nothing: whoever says so would be asked for ever.
        this.#skip(chain, entry);
        return "skipped";
      }
    }
    if (!isEnd) this.#sendAgain(chain, entry, has, due ?? 0);
    return "void";
  }

  /** What is left of a chain goes out from there on, as it is once what stands before `due` may be shared. */
  #sendAgain(
    chain: string,
    { from }: SentRecord,
    has: number,
    due: number,
  ): void {
    const { outbox } = this;
    const end = this.#base + this.#sent.length;
    this.#stops.set(chain, { from: has, before: end });
    const isLast = this.#base >= this.#again.before;
    this.#again = {
      before: end,
      from: isLast ? from : Math.min(from, this.#again.from),
    };
    outbox.noteLacks(chain, has);
    for (const one of this.#sent) {
      if (one.chain === chain && one.end > has) one.isPassedOver = true;
    }
    const flying = this.#sent.filter((one, i) =>
      !this.#isOutdated(this.#base + i, one.chain)
    );
    outbox.rewind(from, due, flying);
  }

  #tell(message: MessageOf<"refuse">, then: FollowUp): void {
    const { line, port: { name }, server } = this.#parts;
    const { chain, number, count, reason, rule, detail, kept } = message;
    server.refused(chain, number);
    const what = { chain, number, count, reason, rule, detail, kept, then };
    line.tell({ tell: "refused", name, ...what });
  }

  #foreign(
    chain: string,
    { number, reason, rule, detail }: MessageOf<"refuse">,
    isGoing: boolean,
  ): void {
    const { line, port: { name } } = this.#parts;
    line.tell({
      tell: "incident",
      name,
      kind: "relay-refused",
      message: isGoing
        ? `The server refuses a commit of somebody else, which is undone here: ${reason}`
        : `The server refuses a commit that stays here: ${reason}`,
      details: { chain, number, reason, rule, detail },
    });
  }
}
