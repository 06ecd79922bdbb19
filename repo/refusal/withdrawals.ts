/**
 * Which commits in the log of one repository are void, and which refused ones
 * wait for somebody to retry or discard them.
 *
 * A refusal voids commits, and their chain goes on. A withdrawal takes back the
 * end of a chain, which never goes on here. Both speak of what stands in the log
 * before them: a copy that comes back through the door afterwards is a commit
 * like any other, as somebody had it.
 *
 * Architecture invariant: a refusal stays, over restarts and checkpoints, until
 * it is retried or discarded (law 11).
 *
 * @module
 */

import {
  ByteReader,
  ByteWriter,
  decodeText,
  encodeText,
} from "../../src/base/bytes.ts";
import { compareHlc, type Hlc, type Stamp } from "../../src/base/hlc.ts";
import {
  readBytes,
  readCount,
  readText,
  writeBytes,
} from "../../src/base/layout.ts";
import { chainBytes, readChain } from "../commit/commit.ts";
import { limits } from "../../src/base/limits.ts";
import { getOrMake } from "../../src/base/collections.ts";
import type { RefusedCommit } from "../port.ts";

/** A refused commit that nobody has dealt with yet. */
export interface Refused extends RefusedRecord {
  readonly chain: string;
}

/** A withdrawal in the log. */
export interface LoggedWithdrawal {
  /** Log address of its body. */
  readonly at: number;
  readonly withdrawal: Withdrawal;
}

/** Refused commits of one chain; they stand in the log before `at`. */
export interface Refusal {
  readonly chain: string;
  readonly refused: readonly RefusedRecord[];
}

/** A refusal in the log. */
export interface LoggedRefusal {
  /** Log address of its body. */
  readonly at: number;
  readonly refusal: Refusal;
}

/** Reason of a commit that is void here without being shown as refused: its author gave it up elsewhere. */
export const GIVEN_UP = "";

interface Void {
  readonly at: number;
  readonly cut: Cut;
}

/** A commit that was refused, whatever became of that. */
interface Mark extends Hlc {
  /** Log address of the refusal. */
  readonly at: number;
}

const nobody: readonly Void[] = [];

/** What a repository knows of its withdrawals. */
export class Withdrawals {
  readonly #logged: LoggedWithdrawal[] = [];
  readonly #resolutions: Resolution[] = [];
  readonly #voids = new Map<string, Void[]>();
  /** Refused commits by chain and number. */
  readonly #marks = new Map<string, Map<number, Mark>>();
  readonly #refusalsAt = new Set<number>();
  readonly #closed = new Set<string>();
  /** Chains that were begun here in the place of ones that had forked, since the repository was opened. */
  readonly replacements: Set<string> = new Set();
  #refused: readonly Refused[] = [];
  #begun: string | undefined;

  /** Refused commits that were neither retried nor discarded, in order; the same array until that changes. */
  get refused(): readonly Refused[] {
    return this.#refused;
  }

  /** The chain that was noted last to begin, unless it was left for another one. */
  get begun(): string | undefined {
    const begun = this.#begun;
    return begun === undefined || this.isClosed(begun) ? undefined : begun;
  }

  /** All of them, in the order of the log. */
  get logged(): readonly LoggedWithdrawal[] {
    return this.#logged;
  }

  /** Is the withdrawal known whose body stands at this address? */
  has(at: number): boolean {
    return this.#logged.some((known) => known.at === at);
  }

  /** Takes a withdrawal; they come in the order of the log. */
  add(at: number, withdrawal: Withdrawal): void {
    this.#logged.push({ at, withdrawal });
    for (const chain of withdrawal.closed) this.#closed.add(chain);
    for (const cut of withdrawal.cuts) {
      this.#closed.add(cut.chain);
      getOrMake(this.#voids, cut.chain, () => []).push({ at, cut });
    }
  }

  /** Is the refusal known whose body stands at this address? */
  hasRefusal(at: number): boolean {
    return this.#refusalsAt.has(at);
  }

  /** Takes a refusal; they come in the order of the log. */
  refuse(at: number, { chain, refused }: Refusal): void {
    this.#refusalsAt.add(at);
    const marks = getOrMake(this.#marks, chain, () => new Map<number, Mark>());
    for (const { number, wall, count } of refused) {
      marks.set(number, { at, wall, count });
    }
    const shown = refused.filter(({ reason }) => reason !== GIVEN_UP)
      .map((one) => ({ ...one, chain }));
    if (shown.length > 0) this.#refused = [...this.#refused, ...shown];
  }

  /** Were commits of a chain refused? */
  hasRefused(chain: string): boolean {
    return this.#marks.has(chain);
  }

  /** Was the commit of a number refused? */
  isRefusedAt(chain: string, number: number): boolean {
    return this.#marks.get(chain)?.has(number) === true;
  }

  /** Is a commit that stands at an address void by a refusal, or was it when the log ended at `asOf`? */
  wasRefused(
    chain: string,
    number: number,
    address: number,
    asOf = Infinity,
  ): boolean {
    const mark = this.#marks.get(chain)?.get(number);
    return mark !== undefined && address < mark.at && mark.at < asOf;
  }

  /** Notes what became of a refused commit; `false` when that was known, or is a `BEGINNING`. */
  resolve(resolution: Resolution): boolean {
    const { chain, number } = resolution;
    if (number === BEGINNING) this.#begun = chain;
    const left = this.#refused.filter((one) =>
      one.chain !== chain || one.number !== number
    );
    if (left.length === this.#refused.length) return false;
    this.#refused = left;
    // Only what was written again has a stamp that others may name.
    if (resolution.retried !== undefined) this.#resolutions.push(resolution);
    return true;
  }

  /** From which number on the commits of a chain are void in a batch at an address, or were when the log ended at `asOf`. */
  endOf(chain: string, address: number, asOf = Infinity): number {
    if (this.#logged.length === 0) return Infinity;
    let end = Infinity;
    for (const { at, cut } of this.#voids.get(chain) ?? nobody) {
      if (at > address && at < asOf) end = Math.min(end, cut.from);
    }
    return end;
  }

  /** Chains of which commits may be said again elsewhere: their end was taken back, or some were refused. */
  get moved(): readonly string[] {
    return [...new Set([...this.#voids.keys(), ...this.#marks.keys()])];
  }

  /** Was this chain left for another one at a withdrawal? Then it does not go on here. */
  isClosed(chain: string): boolean {
    return this.#closed.has(chain);
  }

  /**
   * The stamp by which a commit is known now: of a withdrawn one, that of the
   * commit that says the same again.
   */
  stampOf(stamp: Stamp): Stamp {
    let now = stamp;
    const again = this.#resolutions.find(({ chain, number }) =>
      chain === stamp.chain && this.#isAt(chain, number, stamp)
    );
    if (again?.retried !== undefined) now = again.retried;
    for (const { withdrawal } of this.#logged) now = moved(now, withdrawal);
    return now;
  }

  /** Was the commit of this stamp refused, be it after it had moved out of another's way? */
  isRefused(stamp: Stamp): boolean {
    if (this.#marks.size === 0) return false;
    let now = stamp;
    if (this.#isMarked(now)) return true;
    for (const { withdrawal } of this.#logged) {
      const before = now;
      now = moved(now, withdrawal);
      if (now !== before && this.#isMarked(now)) return true;
    }
    return false;
  }

  #isMarked(stamp: Stamp): boolean {
    const marks = this.#marks.get(stamp.chain)?.values() ?? [];
    for (const mark of marks) if (compareHlc(mark, stamp) === 0) return true;
    return false;
  }

  #isAt(chain: string, number: number, stamp: Stamp): boolean {
    const mark = this.#marks.get(chain)?.get(number);
    return mark !== undefined && compareHlc(mark, stamp) === 0;
  }

  /** For a checkpoint. */
  encode(): Uint8Array {
    const writer = new ByteWriter(1024);
    writer.varint(this.#logged.length);
    for (const { at, withdrawal } of this.#logged) {
      writer.u48(at);
      writeBytes(writer, encodeWithdrawal(withdrawal));
    }
    const { begun } = this;
    const beginnings = begun === undefined
      ? []
      : [{ chain: begun, number: BEGINNING, retried: undefined }];
    const resolutions = [...this.#resolutions, ...beginnings];
    writer.varint(resolutions.length);
    for (const resolution of resolutions) {
      writeBytes(writer, encodeResolution(resolution));
    }
    const marks = [...this.#marks].flatMap(([chain, byNumber]) =>
      [...byNumber].map(([number, mark]) => ({ chain, number, ...mark }))
    );
    writer.varint(marks.length);
    for (const { chain, number, at, ...clock } of marks) {
      writer.bytes(chainBytes(chain));
      writer.varint(number);
      writer.u48(at);
      writeHlc(writer, clock);
    }
    writer.varint(this.#refused.length);
    for (const { chain, ...one } of this.#refused) {
      writeBytes(writer, encodeRefusal({ chain, refused: [one] }));
    }
    return writer.copy();
  }

  /** Reads what {@linkcode Withdrawals.encode} wrote; `SyntaxError` when it is none. */
  static decode(reader: ByteReader): Withdrawals {
    const all = new Withdrawals();
    for (let left = readCount(reader); left > 0; left--) {
      const at = reader.u48();
      all.add(at, decodeWithdrawal(new ByteReader(readBytes(reader))));
    }
    for (let left = readCount(reader); left > 0; left--) {
      const resolution = decodeResolution(new ByteReader(readBytes(reader)));
      if (resolution.retried !== undefined) all.#resolutions.push(resolution);
      else all.#begun = resolution.chain;
    }
    for (let left = readCount(reader); left > 0; left--) {
      const chain = readChain(reader);
      const number = readCount(reader);
      const mark = { at: reader.u48(), ...readHlc(reader) };
      all.#refusalsAt.add(mark.at);
      getOrMake(all.#marks, chain, () => new Map()).set(number, mark);
    }
    const standing: Refused[] = [];
    for (let left = readCount(reader); left > 0; left--) {
      const body = new ByteReader(readBytes(reader));
      const { chain, refused } = decodeRefusal(body);
      standing.push({ ...refused[0]!, chain });
    }
    all.#refused = standing;
    return all;
  }
}

/** The stamp after one withdrawal. */
export function moved(stamp: Stamp, { cuts, chain }: Withdrawal): Stamp {
  const cut = cuts.find((cut) => cut.chain === stamp.chain);
  if (cut === undefined || compareHlc(stamp, cut.after) <= 0) return stamp;
  return { wall: stamp.wall, count: stamp.count, chain };
}

const FORMAT = 1;
const DISCARDED = 0;
const RETRIED = 1;
/** Of very many refusals each says less, so that the record stays one. */
const TEXTS_BYTES_MAX = 64 * 1024 * 1024;

/** The end of a chain that is taken back. */
export interface Cut {
  /** Name of the chain: it never goes on here. */
  readonly chain: string;
  /** Number of the first commit that is taken back. */
  readonly from: number;
  /** The clock of the commit before it: later stamps of the chain are those taken back. */
  readonly after: Hlc;
}

/** A commit that was refused. */
export interface RefusedRecord extends Hlc, RefusedCommit {
  /** Log address of the batch that holds it. */
  readonly address: number;
}

/** What one withdrawal does. */
export interface Withdrawal {
  /** The chain that is taken back first, then own chains that descend from its end. */
  readonly cuts: readonly Cut[];
  /** Other own chains there were: none of them goes on here either. */
  readonly closed: readonly string[];
  /** Name of the chain that goes on. */
  readonly chain: string;
  /** How many commits are written again there; without all of them it never happened. */
  readonly count: number;
}

/** A resolution of this number is of no commit: it notes that its chain begins here. */
export const BEGINNING: number = Number.MAX_SAFE_INTEGER;

/** What became of a refused commit. */
export interface Resolution {
  readonly chain: string;
  readonly number: number;
  /** The commit that says the same again; `undefined` when it was discarded. */
  readonly retried: (Stamp & { readonly number: number }) | undefined;
}

/** The body of a withdrawal's record. */
export function encodeWithdrawal(withdrawal: Withdrawal): Uint8Array {
  const { cuts, closed, chain, count } = withdrawal;
  const writer = new ByteWriter(256);
  writer.u8(FORMAT);
  writer.varint(cuts.length);
  for (const { chain, from, after } of cuts) {
    writer.bytes(chainBytes(chain));
    writer.varint(from);
    writeHlc(writer, after);
  }
  writer.varint(closed.length);
  for (const chain of closed) writer.bytes(chainBytes(chain));
  writer.bytes(chainBytes(chain));
  writer.varint(count);
  return writer.copy();
}

/** The body of a refusal's record. */
export function encodeRefusal({ chain, refused }: Refusal): Uint8Array {
  const writer = new ByteWriter(256);
  writer.u8(FORMAT);
  writer.bytes(chainBytes(chain));
  writer.varint(refused.length);
  const bytesMax = Math.min(
    limits.refusalTextBytesMax,
    Math.floor(TEXTS_BYTES_MAX / (3 * refused.length)),
  );
  for (const commit of refused) {
    writer.varint(commit.number);
    writeHlc(writer, commit);
    writer.varint(commit.address);
    writer.text(shortened(commit.reason, bytesMax));
    writer.text(shortened(commit.rule, bytesMax));
    writer.text(shortened(commit.detail, bytesMax));
    writer.u8(commit.kept ? 1 : 0);
  }
  return writer.copy();
}

/** Reads a withdrawal's body; `SyntaxError` when it is none. */
export function decodeWithdrawal(reader: ByteReader): Withdrawal {
  checkFormat(reader);
  const cuts: Cut[] = [];
  for (let left = readCount(reader); left > 0; left--) {
    const chain = readChain(reader);
    const from = readCount(reader);
    cuts.push({ chain, from, after: readHlc(reader) });
  }
  const closed: string[] = [];
  for (let left = readCount(reader); left > 0; left--) {
    closed.push(readChain(reader));
  }
  const chain = readChain(reader);
  const count = readCount(reader);
  if (!reader.done || cuts.length === 0) malformed();
  return { cuts, closed, chain, count };
}

/** Reads a refusal's body; `SyntaxError` when it is none. */
export function decodeRefusal(reader: ByteReader): Refusal {
  checkFormat(reader);
  const chain = readChain(reader);
  const refused: RefusedRecord[] = [];
  for (let left = readCount(reader); left > 0; left--) {
    refused.push(readRefused(reader));
  }
  if (!reader.done || refused.length === 0) malformed();
  return { chain, refused };
}

function readRefused(reader: ByteReader): RefusedRecord {
  return {
    number: readCount(reader),
    ...readHlc(reader),
    address: readCount(reader),
    reason: readText(reader, limits.refusalTextBytesMax),
    rule: readText(reader, limits.refusalTextBytesMax),
    detail: readText(reader, limits.refusalTextBytesMax),
    kept: reader.u8() === 1,
  };
}

/** The body of a resolution's record. */
export function encodeResolution(resolution: Resolution): Uint8Array {
  const { chain, number, retried } = resolution;
  const writer = new ByteWriter(128);
  writer.u8(FORMAT);
  writer.bytes(chainBytes(chain));
  writer.varint(number);
  writer.u8(retried === undefined ? DISCARDED : RETRIED);
  if (retried !== undefined) {
    writer.bytes(chainBytes(retried.chain));
    writer.varint(retried.number);
    writeHlc(writer, retried);
  }
  return writer.copy();
}

/** Reads a resolution's body; `SyntaxError` when it is none. */
export function decodeResolution(reader: ByteReader): Resolution {
  checkFormat(reader);
  const chain = readChain(reader);
  const number = readCount(reader);
  const how = reader.u8();
  if (how > RETRIED) malformed();
  const retried = how === DISCARDED ? undefined : {
    chain: readChain(reader),
    number: readCount(reader),
    ...readHlc(reader),
  };
  if (!reader.done) malformed();
  return { chain, number, retried };
}

function checkFormat(reader: ByteReader): void {
  if (reader.u8() !== FORMAT) malformed();
}

function malformed(): never {
  throw new SyntaxError("Cannot decode withdrawal: its form is not known");
}

function writeHlc(writer: ByteWriter, { wall, count }: Hlc): void {
  writer.u48(wall);
  writer.u16(count);
}

function readHlc(reader: ByteReader): Hlc {
  return { wall: reader.u48(), count: reader.u16() };
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
