/**
 * The inbox of a channel: puts parts together, hands records to the port in
 * groups, and knows up to which record everything was dealt with.
 *
 * Architecture invariant: foreign records enter through the port's door and
 * nowhere else (law 2); half a record and a parked one keep the credit or the
 * budget that they took, so that both are bounded (law 10).
 */

import type { Arrival, Gate } from "../repo/admission/arrival.ts";
import type { Judged } from "../repo/admission/admit.ts";
import { Parking } from "../repo/admission/parking.ts";
import type { Position } from "../repo/commit/commit.ts";
import { batchHead } from "../repo/commit/batch.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { readable } from "../src/base/bytes.ts";
import { type Refusal, refuse } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { Staging, Wants } from "./conversation.ts";
import type { PartBudget } from "./window.ts";
import type { MessageOf, WireRecord } from "./message.ts";
import { isBatch } from "../repo/log/format.ts";

/** A record that came, until it is dealt with. */
export interface Pending {
  readonly sequence: number;
  /** "" where it is no batch, or none that can be read. */
  readonly chain: string;
  readonly first: number;
  readonly end: number;
  /** Until it is admitted. */
  arrival: Arrival;
  /** Window bytes that are granted again when it is dealt with. */
  held: number;
  /** Bytes of the part budget that it keeps. */
  budgeted: number;
  /** Since when it waits for a commit, on the monotonic clock. */
  parkedMs: number | undefined;
  /** The commit that it waits for. */
  missing: Position | undefined;
}

/** What is dealt with and durable. */
export interface Durable {
  /** Up to this record. */
  readonly sequence: number;
  readonly lengths: ReadonlyMap<string, number>;
  readonly done: readonly Pending[];
}

/** A record that was refused. */
export interface RefusedRecord {
  readonly pending: Pending;
  readonly refusal: Refusal;
}

/** What came of some records. */
export interface Intake {
  readonly judged: readonly Judged[];
  readonly refused: readonly RefusedRecord[];
}

/** What an inbox works with. */
export interface InboxOptions {
  readonly port: RepositoryPort;
  readonly budget: PartBudget;
  readonly gate?: Gate | undefined;
  readonly staging?: Staging | undefined;
  readonly wants?: Wants | undefined;
  /** Window bytes may be granted again. */
  readonly release: (bytes: number) => void;
  /** The peer has a chain's first `count` commits. */
  readonly noteHas: (chain: string, count: number) => void;
  /** The log got a credential from the peer. */
  readonly noteCredential: (bytes: Uint8Array) => void;
}

interface Assembly {
  readonly kind: number;
  readonly total: number;
  readonly chunks: Uint8Array[];
  length: number;
  /** Too large to be kept: only its beginning is, to say what is refused. */
  readonly isTooLarge: boolean;
}

/** Whoever sends these is no honest replica: those verify what they have. */
const FORGERIES: ReadonlySet<Refusal["refused"]> = new Set<Refusal["refused"]>([
  "malformed",
  "unsigned",
  "wrong-mode",
  "bad-signature",
]);

/** Stubs come in the place of what is refused for this, and the chain goes on: what waits for a commit of it waits on. */
const GOING_ON: ReadonlySet<Refusal["refused"]> = new Set<Refusal["refused"]>([
  "constraint",
  "denied",
  "expired-session",
  "kv-conflict",
  "too-large",
  "unknown-name",
  "wrong-kind",
]);

/** What a batch that is kept back costs beside its bytes. */
const STAGED_BYTES = 1_024;

const NONE: Intake = { judged: [], refused: [] };
const NOTHING: Arrival = { kind: 0, bytes: new Uint8Array() };

/** Records of one peer on one channel. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #parking = new Parking(limits.parkedMax, limits.recordBytesMax);
  /**
   * Chains of which a batch was refused: the rest is ignored, until a peer that
   * voids what was refused sends stubs. Of many the first is forgotten.
   */
  readonly #ignored = new Map<string, "until stubs come" | "for good">();
  /** Those of which something that is parked may wait in vain. */
  readonly #lost = new Set<string>();
  /** What is parked, by the chain of the commit that it waits for. */
  readonly #parked = new Map<string, Set<Pending>>();
  /** In order, until they are durable, refused or passed over: what is dealt with behind one that waits takes no room. */
  readonly #pending = new Set<Pending>();
  /** How many commits of a chain are about to be durable. */
  readonly #admittedTo = new Map<string, number>();
  /** Those that the port has not admitted: new, or parked. */
  readonly #waiting = new Map<Arrival, Pending>();
  /** Chains of which something is kept back, and when the last of it came. */
  readonly #staged = new Map<string, number>();
  #sequence = 0;
  #dealtWith = 0;
  #assembly: Assembly | undefined;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** The sequence of the last record that came. */
  get last(): number {
    return this.#sequence;
  }

  /** Is everything that came admitted, or refused, and durable? */
  get isIdle(): boolean {
    return this.#pending.size === 0 && this.#assembly === undefined;
  }

  /** Do batches wait for parents? */
  get hasParked(): boolean {
    return this.#waiting.size > 0;
  }

  /** Takes the records of a frame of `frameBytes` bytes. */
  records(
    records: readonly WireRecord[],
    frameBytes: number,
    monotonicMs: number,
  ): Intake {
    let bytes = 0;
    const pending = records.map((record) => {
      bytes += record.bytes.length;
      return this.#pend(record, record.bytes.length, 0);
    });
    this.#options.release(frameBytes - bytes);
    return this.#receive(pending, monotonicMs);
  }

  /** Takes a part; "no-room" when there is no memory for it, "bad" when it does not fit the one before. */
  part(
    part: MessageOf<"part">,
    frameBytes: number,
    monotonicMs: number,
  ): Intake | "no-room" | "bad" {
    if (part.offset === 0) this.#begin(part);
    const assembly = this.#assembly;
    if (
      assembly === undefined || assembly.length !== part.offset ||
      assembly.kind !== part.kind || assembly.total !== part.total
    ) return "bad";
    const length = part.bytes.length;
    if (!assembly.isTooLarge || part.offset === 0) {
      if (!this.#options.budget.take(length)) return "no-room";
      assembly.chunks.push(part.bytes);
    }
    assembly.length += length;
    this.#options.release(frameBytes);
    return assembly.length === assembly.total ? this.#whole(monotonicMs) : NONE;
  }

  #begin({ kind, total }: MessageOf<"part">): void {
    this.#drop();
    const isTooLarge = total > limits.recordBytesMax;
    this.#assembly = { kind, total, chunks: [], length: 0, isTooLarge };
  }

  /** Forgets half a record. */
  #drop(): void {
    const assembly = this.#assembly;
    this.#assembly = undefined;
    if (assembly !== undefined) this.#options.budget.free(kept(assembly));
  }

  #whole(monotonicMs: number): Intake {
    const assembly = this.#assembly!;
    this.#assembly = undefined;
    const budgeted = kept(assembly);
    const bytes = new Uint8Array(budgeted);
    let at = 0;
    for (const chunk of assembly.chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    const pending = this.#pend({ kind: assembly.kind, bytes }, 0, budgeted);
    if (!assembly.isTooLarge) return this.#receive([pending], monotonicMs);
    const detail = `A batch of ${assembly.total} bytes`;
    return {
      judged: [],
      refused: [this.#refuse(pending, refuse("too-large", detail))],
    };
  }

  #pend(record: WireRecord, held: number, budgeted: number): Pending {
    const { chain, first, end } = headOf(record);
    const pending: Pending = {
      sequence: ++this.#sequence,
      chain,
      first,
      end,
      arrival: record,
      held,
      budgeted,
      parkedMs: undefined,
      missing: undefined,
    };
    this.#pending.add(pending);
    this.#waiting.set(pending.arrival, pending);
    return pending;
  }

  #receive(pending: readonly Pending[], monotonicMs: number): Intake {
    const refused: RefusedRecord[] = [];
    const fresh = pending.filter((one) => {
      if (!this.#pending.has(one)) return false;
      const isIgnored = this.#isIgnored(one);
      const { arrival, chain } = one;
      const refusal = isIgnored
        ? undefined
        : this.#options.wants?.(arrival, chain);
      if (!isIgnored && refusal === undefined) return true;
      const isSilent = chain === "" && refusal?.refused === "restoring";
      if (isSilent || refusal === undefined) this.#finish(one);
      else refused.push(this.#refuse(one, refusal));
      return false;
    });
    const arrivals = fresh.flatMap((one) => this.#stage(one, monotonicMs));
    if (arrivals.length === 0) return { judged: [], refused };
    const { port, gate } = this.#options;
    const parking = this.#parking;
    const chainOf = (one: Arrival) => this.#waiting.get(one)?.chain ?? "";
    const judged = port.receive(arrivals, {
      parking,
      chainOf,
      isLast: isForgery, // It ends the conversation.
      ...(gate && { gate }),
    });
    port.settle();
    refused.push(...this.#sort(judged, monotonicMs));
    this.#leave(arrivals, judged);
    return { judged, refused };
  }

  /** Does it follow what was refused of its chain? A peer that has voided that begins again where the chain ends here. */
  #isIgnored({ chain, first }: Pending): boolean {
    const until = this.#ignored.get(chain);
    if (until === undefined) return false;
    if (until === "for good" || first > this.countOf(chain)) return true;
    this.#ignored.delete(chain);
    return false;
  }

  /** What nobody looked at follows a batch of its chain that was refused. */
  #leave(arrivals: readonly Arrival[], judged: readonly Judged[]): void {
    if (this.#ignored.size === 0) return;
    const seen = new Set(judged.map(({ arrival }) => arrival));
    for (const arrival of arrivals) {
      const pending = seen.has(arrival)
        ? undefined
        : this.#waiting.get(arrival);
      if (pending && this.#ignored.has(pending.chain)) this.#finish(pending);
    }
  }

  /** What of it and of what was kept back for it is to be judged now. */
  #stage(pending: Pending, monotonicMs: number): readonly Arrival[] {
    const { staging, budget, release } = this.#options;
    const { arrival, chain } = pending;
    const ready = staging?.take(arrival) ?? [arrival];
    if (ready.length > 1) this.#staged.delete(chain);
    if (ready.length > 0) return ready;
    if (pending.budgeted === 0) {
      const bytes = pending.held + STAGED_BYTES;
      if (!budget.take(bytes)) return this.#unstage(chain);
      release(pending.held); // Or the rest could not come.
      pending.budgeted = bytes;
      pending.held = 0;
    }
    this.#staged.set(chain, monotonicMs);
    return [];
  }

  #unstage(chain: string): readonly Arrival[] {
    this.#staged.delete(chain);
    return this.#options.staging?.drop(chain) ?? [];
  }

  /** Notes what became of each record. */
  #sort(judged: readonly Judged[], monotonicMs: number): RefusedRecord[] {
    const refused: RefusedRecord[] = [];
    for (const { arrival, verdict } of judged) {
      const pending = this.#waiting.get(arrival);
      if (pending === undefined) continue;
      if (verdict.verdict === "refuse") {
        if (this.#ignored.has(pending.chain)) this.#finish(pending);
        else refused.push(this.#refuse(pending, verdict.refusal));
        continue;
      }
      if (pending.chain !== "") {
        this.#options.noteHas(pending.chain, pending.end);
      } else if (verdict.verdict !== "known") {
        this.#options.noteCredential(arrival.bytes);
      }
      if (verdict.verdict === "park") {
        pending.parkedMs ??= monotonicMs;
        this.#waitFor(pending, verdict.missing);
      } else this.#admitted(pending);
    }
    return [...refused, ...this.#orphans()];
  }

  #waitFor(pending: Pending, missing: Position | undefined): void {
    const before = this.#parked.get(pending.missing?.chain ?? "");
    if (before?.delete(pending) && before.size === 0) {
      this.#parked.delete(pending.missing!.chain);
    }
    pending.missing = missing;
    if (missing === undefined) return;
    const { chain } = missing;
    if (this.#ignored.get(chain) === "for good") this.#lost.add(chain);
    const waiting = this.#parked.get(chain);
    if (waiting !== undefined) waiting.add(pending);
    else this.#parked.set(chain, new Set([pending]));
  }

  /** What waits for a commit of a chain that is ignored waits in vain. */
  #orphans(): RefusedRecord[] {
    const refused: RefusedRecord[] = [];
    // Refusing one adds its chain to them: others may wait for that.
    for (const chain of this.#lost) {
      for (const one of this.#parked.get(chain) ?? []) {
        if (this.#ignored.has(one.chain)) this.#finish(one);
        else {
          const detail = "One of its parents was refused";
          refused.push(this.#refuse(one, refuse("missing-parent", detail)));
        }
      }
    }
    this.#lost.clear();
    return refused;
  }

  /** It is in the log; `lengthOf` tells when it is durable. */
  #admitted(pending: Pending): void {
    pending.parkedMs = undefined;
    this.#giveBack(pending);
    const { chain, end } = pending;
    pending.arrival = NOTHING; // Its bytes would stay as long as one before it waits.
    if (chain === "") return void this.#pending.delete(pending);
    const before = this.#admittedTo.get(chain) ?? 0;
    this.#admittedTo.set(chain, Math.max(before, end));
  }

  #refuse(pending: Pending, refusal: Refusal): RefusedRecord {
    if (pending.chain !== "") {
      const goesOn = this.#options.gate !== undefined &&
        GOING_ON.has(refusal.refused);
      if (!goesOn) this.#lost.add(pending.chain);
      this.#ignore(pending.chain, goesOn ? "until stubs come" : "for good");
      this.#passOver(pending.chain);
    }
    this.#finish(pending);
    return { pending, refusal };
  }

  /** What was parked behind it would be judged when the stub has come, as the peer does not say it any more. */
  #passOver(chain: string): void {
    for (const one of this.#parked.get(chain) ?? []) {
      if (one.chain === chain) this.#finish(one);
    }
  }

  #ignore(chain: string, until: "until stubs come" | "for good"): void {
    this.#ignored.set(chain, until);
    if (this.#ignored.size <= limits.ignoredChainsMax) return;
    for (const first of this.#ignored.keys()) {
      this.#ignored.delete(first);
      return;
    }
  }

  #finish(pending: Pending): void {
    this.#pending.delete(pending);
    this.#parking.leave(pending.arrival);
    pending.parkedMs = undefined;
    this.#giveBack(pending);
  }

  #giveBack(pending: Pending): void {
    this.#waiting.delete(pending.arrival);
    this.#waitFor(pending, undefined);
    if (pending.held > 0) this.#options.release(pending.held);
    if (pending.budgeted > 0) this.#options.budget.free(pending.budgeted);
    pending.held = pending.budgeted = 0;
  }

  /** How many commits of a chain the port has or is about to have through this channel. */
  countOf(chain: string): number {
    const admitted = this.#admittedTo.get(chain) ?? 0;
    return Math.max(this.#options.port.lengthOf(chain), admitted);
  }

  /** Judges again what waits for commits that another peer may have brought. */
  retryParked(monotonicMs: number): Intake {
    const { port } = this.#options;
    const waiting = [...this.#waiting.values()];
    const come = new Set<string>();
    for (const { chain, end } of waiting) {
      const isKnown = this.#staged.has(chain) && port.lengthOf(chain) >= end;
      if (isKnown) come.add(chain);
    }
    for (const chain of come) this.#unstage(chain);
    const ready = waiting.filter(({ missing, chain }) =>
      missing === undefined
        ? come.has(chain)
        : port.lengthOf(missing.chain) > missing.number
    );
    return ready.length === 0 ? NONE : this.#receive(ready, monotonicMs);
  }

  /** Refuses what has waited too long for its parents, or for the rest of its chain. */
  expire(monotonicMs: number): Intake {
    const refused: RefusedRecord[] = [];
    const expired = [...this.#waiting.values()].filter((one) =>
      monotonicMs >= this.#expiryOf(one)
    );
    for (const one of expired) {
      if (this.#ignored.has(one.chain)) this.#finish(one);
      else refused.push(this.#refuse(one, this.#tooLong(one)));
      this.#unstage(one.chain);
    }
    return { judged: [], refused };
  }

  #tooLong({ parkedMs }: Pending): Refusal {
    return parkedMs === undefined
      ? refuse("restoring", "The rest of its chain has not come back")
      : refuse("missing-parent", "It waited too long for its parents");
  }

  #expiryOf({ parkedMs, chain }: Pending): number {
    return (parkedMs ?? this.#staged.get(chain) ?? Infinity) + limits.parkMsMax;
  }

  /** When {@linkcode expire} has to look again. */
  get expiresMs(): number {
    let at = Infinity;
    for (const one of this.#waiting.values()) {
      at = Math.min(at, this.#expiryOf(one));
    }
    return at;
  }

  /** Up to where everything is dealt with and durable, and how far chains came with what was not acknowledged yet. */
  get durable(): Durable {
    const { port } = this.#options;
    const lengths = new Map<string, number>();
    const done: Pending[] = [];
    for (const one of this.#pending) {
      const { chain, end, sequence } = one;
      if (port.lengthOf(chain) < end) {
        return { sequence: sequence - 1, lengths, done };
      }
      done.push(one);
      if (chain !== "") {
        lengths.set(chain, Math.max(lengths.get(chain) ?? 0, end));
      }
    }
    return { sequence: this.#sequence, lengths, done };
  }

  /** What is durable is told; `undefined` while it is no news. */
  acknowledge(): Durable | undefined {
    const { durable } = this;
    for (const one of durable.done) {
      const { chain, end } = one;
      this.#pending.delete(one);
      if (this.#admittedTo.get(chain)! <= end) this.#admittedTo.delete(chain);
      this.#giveBack(one);
    }
    if (durable.sequence <= this.#dealtWith) return undefined;
    this.#dealtWith = durable.sequence;
    return durable;
  }

  /** The peer is gone: frees what is half received. */
  end(): void {
    this.#drop();
    for (const one of this.#pending) this.#finish(one);
    this.#admittedTo.clear();
  }
}

function kept({ chunks }: Assembly): number {
  let bytes = 0;
  for (const { length } of chunks) bytes += length;
  return bytes;
}

/** What a batch says of itself, before anybody checked it. */
function headOf({ kind, bytes }: WireRecord): {
  chain: string;
  first: number;
  end: number;
} {
  const head = isBatch(kind) ? readable(() => batchHead(bytes)) : undefined;
  const { chain, first, count } = head ?? { chain: "", first: 0, count: 0 };
  return { chain, first, end: first + count };
}

/** Is this refusal the proof of a peer that lies? */
export function isForgery(refusal: Refusal): boolean {
  return FORGERIES.has(refusal.refused);
}
