/**
 * The pieces of a text as they follow each other: what is written by `update()`
 * goes in between two of them, and so does what others wrote meanwhile.
 *
 * Architecture invariant: a line that says it has the one order of its text goes on
 * to what others wrote only where that keeps one order, by proof: each run stands
 * between two units that stand side by side, whichever came first (law 4).
 */

import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { endOf, type TextSpan } from "../schema/span_set.ts";
import {
  isSameId,
  isWithinCharacter,
  normalText,
  type SavedOrder,
  type TextClient,
  type TextId,
  type TextOrder,
  type TextRun,
  type TextSplice,
  type TextState,
} from "../schema/text_state.ts";
import { applySplices } from "./splices.ts";

/** Units of one client, named in a row, which stand side by side. */
export interface Piece extends TextSpan {
  readonly client: number;
  readonly isDeleted: boolean;
}

/** To go over a piece takes a nanosecond: over so many, no longer than it takes to order a text anew. */
const STEPS_MAX = 16_000_000;

/** The order of fewer pieces is found in no time. */
const MANY_PIECES = 256;

export class TextLine implements TextOrder {
  readonly isLinear: boolean;
  #version = 0;
  /** What it shows. */
  #text: string;
  readonly #clients: number[] = [];
  readonly #numbers = new Map<number, number>();
  /** Behind the last unit of each client, where it was asked. */
  readonly #ends: (number | undefined)[] = [];
  #count = 0;
  /** By piece: the client's number × 2, + 1 where it is deleted; its first clock; its units. */
  #owners: Column;
  #clocks: Column;
  #lengths: Column;
  /** A piece, and the characters that are shown before it. */
  #at = 0;
  #before = 0;
  /** The client that types here. */
  #own: number | undefined;

  private constructor(text: string, isLinear: boolean, columns: Columns) {
    this.#text = text;
    this.isLinear = isLinear;
    this.#count = columns[0].length;
    [this.#owners, this.#clocks, this.#lengths] = columns;
  }

  /** @param count how many pieces there are */
  static of(
    text: string,
    isLinear: boolean,
    count: number,
    pieces: Iterable<Piece>,
  ): TextLine {
    const [owners, clocks, lengths] = [1, 2, 3].map(() =>
      new Uint32Array(count)
    );
    const line = new TextLine(text, isLinear, [owners!, clocks!, lengths!]);
    let at = 0;
    for (const { client, clock, length, isDeleted } of pieces) {
      owners![at] = line.#numberOf(client) * 2 + Number(isDeleted);
      clocks![at] = clock;
      lengths![at++] = length;
    }
    return line;
  }

  /** The line of an order as a checkpoint has it; `undefined` where that is none. */
  static read({ saved, text }: SavedOrder): TextLine | undefined {
    const r = new ByteReader(saved);
    try {
      const line = new TextLine(text, true, readColumns(r));
      while (!r.done) line.#numberOf(r.varint());
      return line.#isSound() ? line : undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** Do its pieces make its text? */
  #isSound(): boolean {
    let shown = 0;
    for (let at = 0; at < this.#count; at++) {
      if (this.#owners[at]! >>> 1 >= this.#clients.length) return false;
      shown += this.#shownIn(at);
    }
    return shown === this.#text.length;
  }

  get version(): number {
    return this.#version;
  }

  get text(): string {
    return this.#text;
  }

  get count(): number {
    return this.#count;
  }

  #numberOf(client: number): number {
    let number = this.#numbers.get(client);
    if (number === undefined) {
      this.#numbers.set(client, number = this.#clients.length);
      this.#clients.push(client);
    }
    return number;
  }

  #insert(at: number, owner: number, clock: number, length: number): void {
    if (this.#count === this.#owners.length) this.#grow();
    for (const all of [this.#owners, this.#clocks, this.#lengths]) {
      all.copyWithin(at + 1, at, this.#count);
    }
    this.#owners[at] = owner;
    this.#clocks[at] = clock;
    this.#lengths[at] = length;
    this.#count++;
  }

  /** The clock of a client's next unit. */
  #next(number: number): number {
    let next = this.#ends[number];
    if (next !== undefined) return next;
    next = 0;
    for (let at = 0; at < this.#count; at++) {
      if (this.#owners[at]! >>> 1 !== number) continue;
      next = Math.max(next, this.#clocks[at]! + this.#lengths[at]!);
    }
    return this.#ends[number] = next;
  }

  #grow(): void {
    const count = this.#count * 2 + 8;
    const grown = (all: Column) => {
      const more = new Uint32Array(count);
      more.set(all);
      return more;
    };
    this.#owners = grown(this.#owners);
    this.#clocks = grown(this.#clocks);
    this.#lengths = grown(this.#lengths);
  }

  #isDeleted(at: number): boolean {
    return (this.#owners[at]! & 1) === 1;
  }

  #shownIn(at: number): number {
    return this.#isDeleted(at) ? 0 : this.#lengths[at]!;
  }

  /** Has a piece end after some of its units. */
  #split(at: number, length: number): void {
    const [owner, clock] = [this.#owners[at]!, this.#clocks[at]!];
    const rest = this.#lengths[at]! - length;
    this.#lengths[at] = length;
    this.#insert(at + 1, owner, clock + length, rest);
    if (at < this.#at) this.#at++;
  }

  /** Goes to the piece that begins before the character at a place. */
  #seek(place: number): void {
    while (this.#before > place) this.#before -= this.#shownIn(--this.#at);
    while (this.#before < place) {
      const length = this.#shownIn(this.#at);
      if (this.#before + length > place) {
        this.#split(this.#at, place - this.#before);
      }
      this.#before += this.#shownIn(this.#at++);
    }
  }

  /**
   * Splices it; all places are meant as before the first splice.
   * @param newClient a client that nobody has typed under
   */
  splice(splices: readonly TextSplice[], newClient: () => number): TextState {
    this.#version++;
    const runs: TextRun[] = [];
    const gone = new Map<number, TextSpan[]>();
    let moved = 0;
    for (const { at, delete: length = 0, insert = "" } of splices) {
      this.#seek(at + moved);
      if (length > 0) this.#delete(length, gone);
      if (insert !== "") runs.push(this.#type(insert, newClient));
      moved += insert.length - length;
    }
    this.#text = applySplices(this.#text, splices);
    const clients = new Map<number, TextClient>();
    for (const [client, spans] of gone) {
      clients.set(client, { runs: [], gone: spans });
    }
    if (runs.length > 0) {
      const own = this.#own!;
      clients.set(own, { runs, gone: gone.get(own) ?? [] });
    }
    return normalText(clients);
  }

  #delete(length: number, gone: Map<number, TextSpan[]>): void {
    for (let left = length; left > 0; this.#at++) {
      const at = this.#at;
      if (this.#isDeleted(at)) continue;
      if (this.#lengths[at]! > left) this.#split(at, left);
      left -= this.#lengths[at]!;
      const client = this.#clients[this.#owners[at]! >>> 1]!;
      const spans = gone.get(client);
      const span = { clock: this.#clocks[at]!, length: this.#lengths[at]! };
      if (spans === undefined) gone.set(client, [span]);
      else spans.push(span);
      this.#owners[at]! |= 1;
    }
  }

  /** Types behind what is deleted there, as Yjs does: who corrects what he typed goes on with his run. */
  #type(text: string, newClient: () => number): TextRun {
    while (this.#at < this.#count && this.#isDeleted(this.#at)) this.#at++;
    const at = this.#at;
    const client = this.#own ??= newClient();
    const number = this.#numberOf(client);
    const clock = this.#next(number);
    const [left, right] = [this.#endOf(at - 1), this.#beginOf(at)];
    this.#place(at, number * 2, clock, text.length);
    return { clock, length: text.length, left, right, text };
  }

  /** Puts a piece in, or has the one before it go on. */
  #place(at: number, owner: number, clock: number, length: number): void {
    this.#ends[owner >>> 1] = clock + length;
    const goesOn = at > 0 && this.#owners[at - 1] === owner &&
      this.#clocks[at - 1]! + this.#lengths[at - 1]! === clock;
    if (!goesOn) return this.#insert(at, owner, clock, length);
    this.#lengths[at - 1]! += length;
    // The cursor stands behind what has grown.
    if (this.#at >= at && (owner & 1) === 0) this.#before += length;
  }

  #beginOf(at: number): TextId | undefined {
    if (at >= this.#count) return undefined;
    const client = this.#clients[this.#owners[at]! >>> 1]!;
    return { client, clock: this.#clocks[at]! };
  }

  #endOf(at: number): TextId | undefined {
    if (at < 0) return undefined;
    const client = this.#clients[this.#owners[at]! >>> 1]!;
    const clock = this.#clocks[at]! + this.#lengths[at]! - 1;
    return { client, clock };
  }

  take(changes: readonly TextState[]): boolean {
    if (changes.length === 0) return true;
    this.#version++;
    const fits = this.#stepsOf(changes) <= STEPS_MAX &&
      changes.every((one) => this.#takeOne(one));
    // What has been put in in part is no order of anything.
    if (!fits) this.forget();
    return fits;
  }

  /** Is of no use any more. */
  forget(): void {
    this.#version = NaN;
    this.#text = "";
    this.#owners = this.#clocks = this.#lengths = new Uint32Array();
    this.#count = 0;
  }

  /** Each run and span is looked for among all pieces, at worst. */
  #stepsOf(changes: readonly TextState[]): number {
    let looks = 0;
    for (const { clients } of changes) {
      for (const { runs, gone } of clients.values()) {
        looks += runs.length + gone.length;
      }
    }
    return looks * this.#count;
  }

  #takeOne({ clients }: TextState): boolean {
    for (const [client, { runs }] of clients) {
      for (const run of runs) if (!this.#put(client, run)) return false;
    }
    for (const [client, { gone }] of clients) {
      for (const span of gone) if (!this.#bury(client, span)) return false;
    }
    return true;
  }

  /** Puts in a run of the next units of a client, between two that stand side by side. */
  #put(client: number, { clock, length, left, right, text }: TextRun): boolean {
    const number = this.#numberOf(client);
    const place = left === undefined ? 0 : this.#behind(left);
    if (
      client === this.#own || clock !== this.#next(number) ||
      text?.isWellFormed() === false || place < 0 ||
      !isSameId(this.#beginOf(place), right)
    ) return false;
    const at = this.#shownBefore(place);
    if (isWithinCharacter(this.#text, at)) return false;
    const owner = number * 2 + Number(text === undefined);
    this.#place(place, owner, clock, length);
    if (text !== undefined) {
      this.#text = applySplices(this.#text, [{ at, insert: text }]);
    }
    return true;
  }

  /** Deletes units of a client; all of them must be there. */
  #bury(client: number, span: TextSpan): boolean {
    const number = this.#numberOf(client);
    const end = endOf(span);
    if (end > this.#next(number)) return false;
    const splices: TextSplice[] = [];
    this.#at = this.#before = 0;
    for (let [at, shown] = [0, 0]; at < this.#count; at++) {
      const [from, length] = [this.#clocks[at]!, this.#lengths[at]!];
      if (
        this.#owners[at] === number * 2 && from < end &&
        from + length > span.clock
      ) {
        if (from < span.clock) this.#split(at, span.clock - from);
        else {
          if (from + length > end) this.#split(at, end - from);
          this.#owners[at]! |= 1;
          splices.push({ at: shown, delete: this.#lengths[at]! });
          shown += this.#lengths[at]!;
          continue;
        }
      }
      shown += this.#shownIn(at);
    }
    const text = this.#text;
    if (splices.some((one) => cutsCharacter(text, one))) return false;
    this.#text = applySplices(text, splices);
    return true;
  }

  /** The place behind a unit; negative where there is none. */
  #behind({ client, clock }: TextId): number {
    const number = this.#numbers.get(client);
    if (number === undefined) return -1;
    for (let at = 0; at < this.#count; at++) {
      if (this.#owners[at]! >>> 1 !== number) continue;
      const behind = clock - this.#clocks[at]! + 1;
      if (behind < 1 || behind > this.#lengths[at]!) continue;
      if (behind < this.#lengths[at]!) this.#split(at, behind);
      return at + 1;
    }
    return -1;
  }

  /** The characters shown before a piece, where the cursor is then. */
  #shownBefore(place: number): number {
    while (this.#at > place) this.#before -= this.#shownIn(--this.#at);
    while (this.#at < place) this.#before += this.#shownIn(this.#at++);
    return this.#before;
  }

  /** @param least pieces that are worth it */
  bytes(least: number = MANY_PIECES): Uint8Array | undefined {
    if (this.#count < least || !this.isLinear) return undefined;
    const w = new ByteWriter(this.#count * 5);
    w.varint(this.#count);
    for (const all of [this.#owners, this.#clocks, this.#lengths]) {
      writeColumn(w, all.subarray(0, this.#count));
    }
    for (const client of this.#clients) w.varint(client);
    return w.copy();
  }
}

type Column = Uint32Array<ArrayBuffer>;
type Columns = readonly [owners: Column, clocks: Column, lengths: Column];

const widths = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array } as const;

function writeColumn(w: ByteWriter, all: Column): void {
  const most = all.reduce((most, one) => Math.max(most, one), 0);
  const width = most < 2 ** 8 ? 1 : most < 2 ** 16 ? 2 : 4;
  w.u8(width);
  w.bytes(new Uint8Array(widths[width].from(all).buffer));
}

function readColumns(r: ByteReader): Columns {
  const count = r.varint();
  const column = () => {
    const width = r.u8();
    if (width !== 1 && width !== 2 && width !== 4) {
      throw new SyntaxError("Cannot decode: a text has no order");
    }
    const bytes = r.take(count * width).slice();
    return Uint32Array.from(new widths[width](bytes.buffer));
  };
  return [column(), column(), column()];
}

/** Does a splice leave half a character? Yjs shows another one in its place. */
export function cutsCharacter(
  text: string,
  { at, delete: length = 0, insert = "" }: TextSplice,
): boolean {
  return isWithinCharacter(text, at) || isWithinCharacter(text, at + length) ||
    !insert.isWellFormed();
}
