/**
 * Which commits in the log of one repository are void, and which refused ones
 * wait for what becomes of them.
 *
 * A refusal voids commits, and their chain goes on. A cut takes the end of a
 * chain out, which never goes on here. Both speak of what stands in the log
 * before them: a copy that comes back through the door afterwards is a commit
 * like any other, as somebody had it.
 *
 * Architecture invariant: a refusal stays, over restarts and checkpoints, until
 * it is retried, discarded or reissued (law 11).
 */

import { decodeText, encodeText } from "../../src/base/bytes.ts";
import type { Hlc, Stamp } from "../../src/base/hlc.ts";
import {
  bytes,
  count,
  decodeRecord,
  encodeRecord,
  flag,
  flagged,
  list,
  struct,
  textUpTo,
  u16,
  u48,
} from "../../src/base/layout.ts";
import { type Batch, withVoid } from "../commit/batch.ts";
import { chainField, type Position } from "../commit/commit.ts";
import { limits } from "../../src/base/limits.ts";
import { recordKind } from "../log/format.ts";
import type { Store } from "../log/store.ts";
import { getOrMake } from "../../src/base/collections.ts";

export interface RefusedCommit {
  readonly number: number;
  readonly reason: string;
  readonly rule: string;
  readonly detail: string;
  /** Does the server keep it for somebody to decide? */
  readonly kept: boolean;
}

/** The end of a chain that is taken out. */
export interface Cut {
  /** Name of the chain: it never goes on here. */
  readonly chain: string;
  /** Number of the first commit that goes; a batch begins with it. */
  readonly from: number;
}

export interface LoggedCut {
  /** Log address of its body. */
  readonly at: number;
  readonly cuts: readonly Cut[];
}

export interface RefusedRecord extends Hlc, RefusedCommit {
  readonly address: number;
}

export interface Refused extends RefusedRecord {
  readonly chain: string;
}

/** Refused commits of one chain; they stand in the log before the record. */
export interface Refusal {
  readonly chain: string;
  readonly refused: readonly RefusedRecord[];
}

export interface LoggedRefusal {
  /** Log address of its body. */
  readonly at: number;
  readonly refusal: Refusal;
}

export type Placed = Position & Stamp;

/** What became of a commit that this replica wrote: it may have been written again elsewhere. */
export interface CommitPlace extends Position {
  /** Is it no part of the repository? */
  readonly isRefused: boolean;
}

export interface Resolution extends Position {
  /** The commit that says the same again; `undefined` when it was discarded. */
  readonly retried: Placed | undefined;
}

/** A resolution of this number is of no commit: it notes that its chain begins here. */
export const BEGINNING: number = Number.MAX_SAFE_INTEGER;

/** Reason of a commit that is void here without being shown as refused: its author gave it up elsewhere. */
export const GIVEN_UP = "";
/** Reason of a commit that cannot go on under its name: it is written again as a new one, without the app. */
export const REISSUED = "reissued";

interface Mark extends Position, Hlc {
  /** Log address of the refusal … */
  readonly at: number;
  /** … and of the batch that holds the commit. */
  readonly address: number;
  readonly isReissued: boolean;
}

class ChainMarks {
  readonly byNumber = new Map<number, Mark>();
  readonly byClock = new Map<string, Mark>();
}

function clockOf({ wall, count }: Hlc): string {
  return `${wall}.${count}`;
}

function placeOf({ chain, number }: Position): string {
  return `${chain}${number}`;
}

export class VoidCommits {
  readonly #logged: LoggedCut[] = [];
  readonly #cuts = new Map<string, { at: number; from: number }[]>();
  readonly #marks = new Map<string, ChainMarks>();
  readonly #refusalsAt = new Set<number>();
  /** The commits that say the same again, by what they are written for. */
  readonly #retried = new Map<Mark, Placed>();
  /** Chains that were begun here in the place of ones that had forked, since the repository was opened. */
  readonly replacements: Set<string> = new Set();
  /** Refused commits that nothing has become of, by their places. */
  readonly #standing = new Map<string, Refused>();
  #refused: readonly Refused[] | undefined;
  #begun: string | undefined;

  /** Refused commits that nothing has become of, in order; the same array until that changes. */
  get refused(): readonly Refused[] {
    return this.#refused ??= [...this.#standing.values()];
  }

  /** Those of them that are still to be written again. */
  get unissued(): readonly Refused[] {
    return this.refused.filter(({ reason }) => reason === REISSUED);
  }

  /** The chain that was noted last to begin, unless it was cut. */
  get begun(): string | undefined {
    const begun = this.#begun;
    return begun === undefined || this.isEnded(begun) ? undefined : begun;
  }

  get cuts(): readonly LoggedCut[] {
    return this.#logged;
  }

  /** Is the cut known whose body stands at this address? */
  hasCut(at: number): boolean {
    return this.#logged.some((known) => known.at === at);
  }

  /** Takes a cut; they come in the order of the log. */
  cut(at: number, cuts: readonly Cut[]): void {
    this.#logged.push({ at, cuts });
    for (const { chain, from } of cuts) {
      getOrMake(this.#cuts, chain, () => []).push({ at, from });
    }
  }

  /** Was a commit cut whose batch stands at an address, or had it been when the log ended at `asOf`? */
  isCut(
    chain: string,
    number: number,
    address: number,
    asOf = Infinity,
  ): boolean {
    if (this.#logged.length === 0) return false;
    return this.#cuts.get(chain)?.some(({ at, from }) =>
      from <= number && at > address && at < asOf
    ) === true;
  }

  /** Was the chain cut? Then it does not go on here. */
  isEnded(chain: string): boolean {
    return this.#cuts.has(chain);
  }

  /** Is the refusal known whose body stands at this address? */
  hasRefusal(at: number): boolean {
    return this.#refusalsAt.has(at);
  }

  /** Takes a refusal; they come in the order of the log. */
  refuse(at: number, { chain, refused }: Refusal): void {
    for (const one of refused) {
      const { number, wall, count, address, reason } = one;
      const isReissued = reason === REISSUED;
      this.#mark({ chain, number, wall, count, at, address, isReissued });
      if (reason !== GIVEN_UP) this.#stand({ ...one, chain });
    }
  }

  #stand(refused: Refused): void {
    this.#standing.set(placeOf(refused), refused);
    this.#refused = undefined;
  }

  #mark(mark: Mark): void {
    const { chain, number, at } = mark;
    this.#refusalsAt.add(at);
    const marks = getOrMake(this.#marks, chain, () => new ChainMarks());
    // A copy that came back may have been refused in its turn.
    const before = marks.byNumber.get(number);
    if (before !== undefined) this.#retried.delete(before);
    marks.byNumber.set(number, mark);
    marks.byClock.set(clockOf(mark), mark);
  }

  hasRefused(chain: string): boolean {
    return this.#marks.has(chain);
  }

  /** Is a commit that stands at an address void by a refusal, or was it when the log ended at `asOf`? */
  wasRefused(
    chain: string,
    number: number,
    address: number,
    asOf = Infinity,
  ): boolean {
    const mark = this.#marks.get(chain)?.byNumber.get(number);
    return mark !== undefined && address < mark.at && mark.at < asOf;
  }

  /** The batch at an address, with what was refused of it as void. */
  withRefused(batch: Batch, address: number, asOf?: number): Batch {
    const { chain } = batch;
    if (!this.hasRefused(chain)) return batch;
    return withVoid(
      batch,
      (number) => this.wasRefused(chain, number, address, asOf),
    );
  }

  /** Where a commit stands now that was written at a position; a refused one keeps its last place. */
  placeOf({ chain, number }: Position): CommitPlace {
    // Each step is another one's, unless the log was made by who lies.
    for (let left = this.#retried.size;; left--) {
      const mark = this.#marks.get(chain)?.byNumber.get(number);
      const isRefused = mark?.isReissued === false;
      const again = mark && this.#retried.get(mark);
      if (isRefused || again === undefined || left <= 0) {
        return { chain, number, isRefused };
      }
      ({ chain, number } = again);
    }
  }

  /** Is a commit refused, of which nothing has become yet? */
  stands(one: Position): boolean {
    return this.#standing.has(placeOf(one));
  }

  /** Notes what became of a refused commit. */
  resolve(resolution: Resolution): void {
    const { chain, number, retried } = resolution;
    if (number === BEGINNING) this.#begun = chain;
    if (!this.#standing.delete(placeOf(resolution))) return;
    this.#refused = undefined;
    // Only what was written again has a stamp that others may name.
    const mark = this.#marks.get(chain)?.byNumber.get(number);
    if (mark && retried) this.#retried.set(mark, retried);
  }

  /** Chains of which commits may be said again elsewhere. */
  get moved(): readonly string[] {
    return [...this.#marks.keys()];
  }

  /** Commits that were refused for good: what they brought is not here. */
  *lost(): Iterable<Readonly<Mark>> {
    for (const { byNumber } of this.#marks.values()) {
      for (const mark of byNumber.values()) {
        if (!mark.isReissued && !this.#retried.has(mark)) yield mark;
      }
    }
  }

  /** The stamp by which a commit is known now: of one that was written again, that of the last who says the same. */
  stampOf(stamp: Stamp): Stamp {
    let now = stamp;
    // Each step is another one's, unless the log was made by who lies.
    for (let left = this.#retried.size; left > 0; left--) {
      const mark = this.#markOf(now);
      const retried = mark && this.#retried.get(mark);
      if (retried === undefined) break;
      now = retried;
    }
    return now;
  }

  /** Was the commit of this stamp refused, be it after it had been written again? */
  isRefused(stamp: Stamp): boolean {
    let now = stamp;
    for (let left = this.#retried.size; left >= 0; left--) {
      const mark = this.#markOf(now);
      if (mark === undefined) return false;
      if (!mark.isReissued) return true;
      const retried = this.#retried.get(mark);
      if (retried === undefined) return false;
      now = retried;
    }
    return false;
  }

  #markOf(stamp: Stamp): Mark | undefined {
    return this.#marks.get(stamp.chain)?.byClock.get(clockOf(stamp));
  }

  /** For a checkpoint. */
  encode(): Uint8Array {
    const resolutions: Resolution[] = [...this.#retried].map(
      ([{ chain, number }, retried]) => ({ chain, number, retried }),
    );
    const { begun: chain } = this;
    if (chain !== undefined) {
      resolutions.push({ chain, number: BEGINNING, retried: undefined });
    }
    return encodeRecord(FORMAT, storedLayout, {
      cuts: this.#logged,
      marks: [...this.#marks.values()].flatMap(({ byNumber }) => [
        ...byNumber.values(),
      ]),
      resolutions,
      refused: this.refused.map(({ chain, ...one }) =>
        encodeRefusal({ chain, refused: [one] })
      ),
    });
  }

  /** Reads what {@linkcode VoidCommits.encode} wrote; `SyntaxError` when it is none. */
  static decode(bytes: Uint8Array): VoidCommits {
    const all = new VoidCommits();
    const said = decodeRecord(FORMAT, storedLayout, bytes);
    for (const { at, cuts } of said.cuts) all.cut(at, cuts);
    for (const mark of said.marks) all.#mark(mark);
    for (const { chain, number, retried } of said.resolutions) {
      const mark = all.#marks.get(chain)?.byNumber.get(number);
      if (number === BEGINNING) all.#begun = chain;
      else if (mark && retried) all.#retried.set(mark, retried);
    }
    for (const bytes of said.refused) {
      const { chain, refused } = decodeRefusal(bytes);
      for (const one of refused) all.#stand({ ...one, chain });
    }
    return all;
  }
}

const FORMAT = 1;
/** Of very many refusals each says less, so that the record stays one. */
const TEXTS_BYTES_MAX = 64 * 1024 * 1024;

const chain = chainField;
const hlc = { wall: u48, count: u16 };
const text = textUpTo(limits.refusalTextBytesMax);

export const cutLayout = struct({
  cuts: list(struct({ chain, from: count }), Infinity),
});

export const refusalLayout = struct({
  chain,
  refused: list(
    struct({
      ...{ number: count, ...hlc, address: count },
      ...{ reason: text, rule: text, detail: text, kept: flag },
    }),
    Infinity,
  ),
});

export const resolutionLayout = struct({
  chain,
  number: count,
  retried: flagged(struct({ chain, number: count, ...hlc })),
});

const storedLayout = struct({
  cuts: list(struct({ at: u48, ...cutLayout.fields }), Infinity),
  marks: list(
    struct({
      ...{ chain, number: count, ...hlc },
      ...{ at: u48, address: u48, isReissued: flag },
    }),
    Infinity,
  ),
  resolutions: list(resolutionLayout, Infinity),
  refused: list(bytes, Infinity),
});

export function encodeCut(cuts: readonly Cut[]): Uint8Array {
  return encodeRecord(FORMAT, cutLayout, { cuts });
}

export function decodeCut(body: Uint8Array): readonly Cut[] {
  const { cuts } = decodeRecord(FORMAT, cutLayout, body);
  if (cuts.length === 0) {
    throw new SyntaxError("Cannot decode a cut of nothing");
  }
  return cuts;
}

export function encodeRefusal({ chain, refused }: Refusal): Uint8Array {
  const bytesMax = Math.min(
    limits.refusalTextBytesMax,
    Math.floor(TEXTS_BYTES_MAX / (3 * refused.length)),
  );
  return encodeRecord(FORMAT, refusalLayout, {
    chain,
    refused: refused.map((one) => ({
      ...one,
      reason: shortened(one.reason, bytesMax),
      rule: shortened(one.rule, bytesMax),
      detail: shortened(one.detail, bytesMax),
    })),
  });
}

export function decodeRefusal(body: Uint8Array): Refusal {
  const refusal = decodeRecord(FORMAT, refusalLayout, body);
  if (refusal.refused.length > 0) return refusal;
  throw new SyntaxError("Cannot decode a refusal of nothing");
}

export function encodeResolution(resolution: Resolution): Uint8Array {
  return encodeRecord(FORMAT, resolutionLayout, resolution);
}

/**
 * Notes in the log and here what became of a commit; `false` where no refusal of it
 * stands. A `BEGINNING` is no such thing: only who begins the chain writes that down.
 */
export function resolveIn(
  { log, voided }: {
    readonly log: Pick<Store, "append">;
    readonly voided: VoidCommits;
  },
  resolution: Resolution,
): boolean {
  const stands = voided.stands(resolution);
  if (stands) {
    log.append(recordKind.resolution, [encodeResolution(resolution)]);
  }
  voided.resolve(resolution);
  return stands;
}

export function decodeResolution(body: Uint8Array): Resolution {
  return decodeRecord(FORMAT, resolutionLayout, body);
}

/** What a server says is kept as far as a person reads it. */
function shortened(text: string, bytesMax: number): string {
  const sound = text.toWellFormed();
  const bytes = encodeText(sound);
  if (bytes.length <= bytesMax) return sound;
  let end = bytesMax;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return decodeText(bytes.subarray(0, end));
}
