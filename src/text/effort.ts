/**
 * The order of a text without Yjs, by the same steps, as far as no piece waits for
 * another; and how many of them Yjs would take: that is known before it runs.
 *
 * It looks for the place of each piece among those that lie between the
 * neighbours which the piece claims. Honest pieces have few there; pieces that
 * lie can have all others, which makes the square of their number. Where no piece
 * has any there, whichever comes first, the text has one order only.
 *
 * Architecture invariant: what is said is a function of the state alone, so all
 * replicas agree which texts take too long (law 4).
 */

import { lowerBound } from "../base/lower_bound.ts";
import { limits } from "../base/limits.ts";
import type { Piece } from "./line.ts";
import type { TextId, TextRun, TextState } from "../schema/text_state.ts";

export interface PieceOrder {
  /** Would it take Yjs more than `textStepsMax` steps? */
  readonly isTooMuch: boolean;
  /** Has every piece its place, which is the one that Yjs finds? */
  readonly isKnown: boolean;
  /**
   * Can its pieces be put in, one after the other, each between two that stand
   * side by side? Then it has one order only, whichever of them comes first; and
   * so it is with what is typed next into a document of it.
   */
  readonly isLinear: boolean;
  /** What it shows, if it is known. */
  show(): string;
  /** How many pieces {@linkcode pieces} gives. */
  readonly count: number;
  /** Its pieces as they follow each other, if it is known. */
  pieces(): Iterable<Piece>;
}

/** The order of a text, as far as it is known without Yjs. */
export function orderOf({ clients }: TextState): PieceOrder {
  return new Line(clients);
}

/** Of pieces: there is none; or none that is known. */
const NONE = -1;
const UNKNOWN = -2;

/** The pieces of one client: units that are never torn apart, up to the first one that is missing. */
interface Pieces {
  readonly client: number;
  readonly runs: readonly TextRun[];
  /** The clock of each piece's first unit, and the one behind the last piece. */
  readonly clocks: Float64Array;
  /** The number of the first piece. */
  readonly first: number;
  placed: number;
  /** The next piece to be placed. */
  next: number;
}

/** Pieces as Yjs would link them, by number. In arrays, because a text has many of them. */
class Line implements PieceOrder {
  readonly isTooMuch: boolean;
  readonly isKnown: boolean;
  readonly isLinear: boolean;
  readonly #clients = new Map<number, Pieces>();
  /** Whose it is. */
  readonly #owners: Pieces[] = [];
  /** Neighbours as they are claimed. */
  readonly #origins: Int32Array;
  readonly #rights: Int32Array;
  readonly #nexts: Int32Array;
  /** The last search that came by, and the last one that had it in its way. */
  readonly #seen: Int32Array;
  readonly #inWay: Int32Array;
  #first = NONE;
  #placed = 0;
  #isTwisted = false;
  /** Runs whose neighbours stood side by side when they came. */
  #between = 0;
  #steps = 0;
  #stamp = 0;

  constructor(clients: TextState["clients"]) {
    const cuts = cutsOf(clients);
    const descending = [...clients].sort(([a], [b]) => b - a);
    let runs = 0;
    for (const [client, { runs: known }] of descending) {
      const clocks = clocksOf(known, cuts.get(client));
      const first = this.#owners.length;
      const pieces = {
        client,
        runs: known,
        clocks,
        first,
        placed: 0,
        next: first,
      };
      this.#clients.set(client, pieces);
      for (let i = 1; i < clocks.length; i++) this.#owners.push(pieces);
      runs += known.length;
    }
    const count = this.#owners.length;
    this.#origins = new Int32Array(count);
    this.#rights = new Int32Array(count);
    this.#nexts = new Int32Array(count);
    this.#seen = new Int32Array(count);
    this.#inWay = new Int32Array(count);
    for (const pieces of this.#clients.values()) this.#placeAll(pieces);
    const isLong = this.#steps > limits.textStepsMax;
    // So few pieces are done in time, whatever they say.
    this.isTooMuch = isLong && runs > limits.textRunsMax;
    this.isLinear = !isLong && this.#between === runs;
    this.isKnown = this.isLinear ||
      !isLong && !this.#isTwisted && this.#placed === runs;
  }

  show(): string {
    const texts = this.#texts();
    const shown: string[] = [];
    for (let o = this.#first; o !== NONE; o = this.#nexts[o]!) {
      shown.push(texts[o]!);
    }
    return shown.join("");
  }

  get count(): number {
    return this.#owners.length;
  }

  *pieces(): Generator<Piece> {
    const texts = this.#texts();
    for (let o = this.#first; o !== NONE; o = this.#nexts[o]!) {
      const { client, clocks, first } = this.#owners[o]!;
      const clock = clocks[o - first]!;
      const length = clocks[o - first + 1]! - clock;
      yield { client, clock, length, isDeleted: texts[o] === "" };
    }
  }

  /** Characters of what was placed, by piece. */
  #texts(): string[] {
    const texts: string[] = [];
    for (const { runs, clocks, placed } of this.#clients.values()) {
      let i = 0;
      for (const { clock, length, text = "" } of runs.slice(0, placed)) {
        for (; clocks[i]! < clock + length; i++) {
          const part = text.slice(clocks[i]! - clock, clocks[i + 1]! - clock);
          texts.push(part.toWellFormed());
        }
      }
    }
    return texts;
  }

  /** Places a client's runs, and before each what it stands beside. */
  #placeAll(all: Pieces): void {
    const path = [{ pieces: all, last: Infinity }];
    while (path.length > 0 && this.#steps <= limits.textStepsMax) {
      const { pieces, last } = path.at(-1)!;
      const { runs, clocks, first, placed, next } = pieces;
      if (next === first + clocks.length - 1 || next > last) {
        path.pop();
        continue;
      }
      const run = runs[placed]!;
      const origin = this.#pieceOf(run.left);
      const right = this.#pieceOf(run.right);
      const lacks = this.#lacks(origin) ? origin : right;
      if (!this.#lacks(lacks)) this.#place(pieces, run, origin, right);
      else {
        const owner = this.#owners[lacks];
        if (owner === undefined || path.some((one) => one.pieces === owner)) {
          return; // It waits, and all that waits for it.
        }
        path.push({ pieces: owner, last: lacks });
      }
    }
  }

  /** Is a neighbour not in its place yet? */
  #lacks(piece: number): boolean {
    return piece === UNKNOWN ||
      piece !== NONE && piece >= this.#owners[piece]!.next;
  }

  /** The piece of a unit: it begins or ends with it, as it was named. */
  #pieceOf(id: TextId | undefined): number {
    if (id === undefined) return NONE;
    const pieces = this.#clients.get(id.client);
    return pieces === undefined ? UNKNOWN : pieceAt(pieces, id.clock);
  }

  /** What `Item.integrate` of Yjs does. */
  #place(
    pieces: Pieces,
    run: TextRun,
    origin: number,
    right: number,
  ): void {
    const { client } = pieces;
    const [origins, seen, inWay] = [this.#origins, this.#seen, this.#inWay];
    const next = origin === NONE ? this.#first : this.#nexts[origin]!;
    if (next === right) this.#between++;
    if (this.#isWithin(run)) this.#isTwisted = true;
    const search = ++this.#stamp;
    let place = origin;
    for (let o = next; o !== NONE && o !== right; o = this.#nexts[o]!) {
      if (++this.#steps > limits.textStepsMax) return;
      seen[o] = search;
      inWay[o] = this.#stamp;
      const its = origins[o]!;
      const isAfter = its === origin
        ? this.#owners[o]!.client < client
        : its !== NONE && seen[its] === search && inWay[its] !== this.#stamp;
      const isEnd = its === origin
        ? !isAfter && this.#rights[o] === right
        : its === NONE || seen[its]! < search;
      if (isEnd) break;
      if (!isAfter) continue;
      place = o;
      this.#stamp++;
    }
    this.#link(pieces, run, place, origin, right);
  }

  /**
   * Does a run claim to stand behind a unit of another run, and before that or an
   * earlier unit of it? Where Yjs puts it depends on how it has torn that one.
   */
  #isWithin({ left, right }: TextRun): boolean {
    const isBackwards = left !== undefined && left.client === right?.client &&
      left.clock >= right.clock;
    if (!isBackwards) return false;
    const { runs } = this.#clients.get(left.client)!;
    const behind = ({ clock }: TextId) =>
      lowerBound(runs.length, (i) => runs[i]!.clock > clock);
    return behind(left) === behind(right!);
  }

  #link(
    pieces: Pieces,
    run: TextRun,
    place: number,
    origin: number,
    right: number,
  ): void {
    const { clocks, first } = pieces;
    const end = run.clock + run.length;
    for (; clocks[pieces.next - first]! < end; pieces.next++) {
      const piece = pieces.next;
      this.#origins[piece] = origin;
      this.#rights[piece] = right;
      this.#nexts[piece] = place === NONE ? this.#first : this.#nexts[place]!;
      if (place === NONE) this.#first = piece;
      else this.#nexts[place] = piece;
      place = origin = piece;
    }
    pieces.placed++;
    this.#placed++;
  }
}

/** The piece that a unit is in. */
function pieceAt({ clocks, first }: Pieces, clock: number): number {
  if (clock >= clocks[clocks.length - 1]!) return UNKNOWN;
  let [low, high] = [0, clocks.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (clocks[middle]! <= clock) low = middle;
    else high = middle;
  }
  return first + low;
}

function cutsOf(clients: TextState["clients"]): Map<number, number[]> {
  const cuts = new Map<number, number[]>();
  const cut = (id: TextId | undefined, more: number) => {
    if (id === undefined) return;
    const clocks = cuts.get(id.client);
    if (clocks === undefined) cuts.set(id.client, [id.clock + more]);
    else clocks.push(id.clock + more);
  };
  for (const { runs } of clients.values()) {
    for (const { left, right } of runs) {
      cut(left, 1);
      cut(right, 0);
    }
  }
  return cuts;
}

/** Where a client's pieces begin, up to the first unit that is missing, and where the last one ends. */
function clocksOf(
  runs: readonly TextRun[],
  cuts: readonly number[] = [],
): Float64Array {
  const ascending = Float64Array.from(cuts).sort();
  const clocks = [0];
  let next = 0;
  for (const { clock, length } of runs) {
    const last = clocks.length - 1;
    if (clock !== clocks[last]) break;
    const end = clock + length;
    for (; ascending[next]! < end; next++) {
      if (ascending[next]! > clocks.at(-1)!) clocks.push(ascending[next]!);
    }
    clocks.push(end);
  }
  return Float64Array.from(clocks);
}
