/**
 * How long Yjs would take to put a text in order: counted before it does so.
 *
 * It looks for the place of each piece among those that lie between the
 * neighbours which the piece claims. Honest pieces have few there; pieces that
 * lie can have all others, which makes the square of their number.
 *
 * Architecture invariant: the count is a function of the state alone, so all
 * replicas agree which texts take too long (law 4).
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import type { TextId, TextRun, TextState } from "../schema/text_state.ts";

/** Units that are never torn apart; knows its place in the line once it has one. */
interface Piece {
  readonly client: number;
  readonly run: TextRun;
  isPlaced: boolean;
  /** Neighbours as they are claimed. */
  origin: Piece | undefined;
  right: Piece | undefined;
  next: Piece | undefined;
  /** The last search that came by, and the last one that had it in its way. */
  seen: number;
  inWay: number;
}

/** The pieces of one client. */
interface Pieces {
  readonly runs: readonly (readonly Piece[])[];
  readonly byStart: ReadonlyMap<number, Piece>;
  readonly byEnd: ReadonlyMap<number, Piece>;
  /** Runs that were placed. */
  placed: number;
}

/** Would it take Yjs more than `textStepsMax` steps to show this text? */
export function isTooMuch({ clients }: TextState): boolean {
  let count = 0;
  for (const { runs } of clients.values()) count += runs.length;
  // So few pieces are done in time, whatever they say.
  return count > limits.textRunsMax && new Line(clients).isTooMuch();
}

/**
 * Can its pieces be put in, one after the other, each between two that stand side
 * by side? Then it has one order only, whichever of them comes first; and so it
 * is with what is typed next into a document of it.
 */
export function isLinear({ clients }: TextState): boolean {
  return new Line(clients).isLinear();
}

/** Pieces as Yjs would link them. */
class Line {
  readonly #clients = new Map<number, Pieces>();
  #first: Piece | undefined;
  #runs = 0;
  /** Runs whose neighbours stood side by side when they came. */
  #between = 0;
  #steps = 0;
  #stamp = 0;

  constructor(clients: TextState["clients"]) {
    const cuts = cutsOf(clients);
    const descending = [...clients].sort(([a], [b]) => b - a);
    for (const [client, { runs }] of descending) {
      this.#clients.set(client, piecesOf(client, runs, cuts.get(client)));
      this.#runs += runs.length;
    }
  }

  isTooMuch(): boolean {
    for (const client of this.#clients.keys()) {
      this.#placeAll(client);
      if (this.#steps > limits.textStepsMax) return true;
    }
    return false;
  }

  /** Was each run put between two that stand side by side? */
  isLinear(): boolean {
    return !this.isTooMuch() && this.#between === this.#runs;
  }

  /** Places a client's runs, and before each what it stands beside. */
  #placeAll(client: number): void {
    const path: { readonly client: number; readonly isDone: () => boolean }[] =
      [{ client, isDone: () => false }];
    while (path.length > 0 && this.#steps <= limits.textStepsMax) {
      const { client, isDone } = path.at(-1)!;
      const pieces = this.#clients.get(client)!;
      const run = pieces.runs[pieces.placed];
      if (run === undefined || isDone()) {
        path.pop();
        continue;
      }
      const lacks = this.#lacks(run[0]!);
      if (lacks === undefined) {
        this.#place(run);
        pieces.placed++;
      } else if (
        lacks === "unknown" || path.some((one) => one.client === lacks.client)
      ) {
        return; // It waits, and all that waits for it.
      } else path.push({ client: lacks.client, isDone: () => lacks.isPlaced });
    }
  }

  /** The neighbour that has no place yet. */
  #lacks({ run: { left, right } }: Piece): Piece | "unknown" | undefined {
    for (
      const [id, piece] of [[left, this.#endAt(left)], [
        right,
        this.#startAt(right),
      ]] as const
    ) {
      if (id === undefined || piece?.isPlaced) continue;
      return piece ?? "unknown";
    }
  }

  #endAt(id: TextId | undefined): Piece | undefined {
    return id && this.#clients.get(id.client)?.byEnd.get(id.clock);
  }

  #startAt(id: TextId | undefined): Piece | undefined {
    return id && this.#clients.get(id.client)?.byStart.get(id.clock);
  }

  /** What `Item.integrate` of Yjs does. */
  #place(run: readonly Piece[]): void {
    const [{ client, run: { left, right } }] = run as [Piece];
    const origin = this.#endAt(left);
    const end = this.#startAt(right);
    const next = origin ? origin.next : this.#first;
    if (next === end) this.#between++;
    const search = ++this.#stamp;
    let place = origin;
    for (let o = next; o && o !== end; o = o.next) {
      if (++this.#steps > limits.textStepsMax) return;
      o.seen = search;
      o.inWay = this.#stamp;
      const isAfter = o.origin === origin
        ? o.client < client
        : o.origin?.seen === search && o.origin.inWay !== this.#stamp;
      const isEnd = o.origin === origin
        ? !isAfter && o.right === end
        : o.origin === undefined || o.origin.seen < search;
      if (isEnd) break;
      if (!isAfter) continue;
      place = o;
      this.#stamp++;
    }
    this.#link(run, place, origin, end);
  }

  #link(
    run: readonly Piece[],
    place: Piece | undefined,
    origin: Piece | undefined,
    right: Piece | undefined,
  ): void {
    for (const piece of run) {
      piece.origin = origin;
      piece.right = right;
      piece.isPlaced = true;
      piece.next = place === undefined ? this.#first : place.next;
      if (place === undefined) this.#first = piece;
      else place.next = piece;
      place = origin = piece;
    }
  }
}

/** Clocks before which runs are torn apart, by client. */
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

/** A client's units up to the first one that is missing. */
function piecesOf(
  client: number,
  runs: readonly TextRun[],
  cuts: readonly number[] = [],
): Pieces {
  const ascending = cuts.toSorted((a, b) => a - b);
  const byStart = new Map<number, Piece>();
  const byEnd = new Map<number, Piece>();
  const all: Piece[][] = [];
  let at = 0;
  let next = 0;
  for (const run of runs) {
    if (run.clock !== at) break;
    const pieces: Piece[] = [];
    const end = at + run.length;
    while (at < end) {
      while (next < ascending.length && ascending[next]! <= at) next++;
      const to = Math.min(end, ascending[next] ?? end);
      const piece = newPiece(client, run);
      byStart.set(at, piece);
      byEnd.set(to - 1, piece);
      pieces.push(piece);
      at = to;
    }
    all.push(pieces);
  }
  return { runs: all, byStart, byEnd, placed: 0 };
}

function newPiece(client: number, run: TextRun): Piece {
  const [origin, right, next] = [undefined, undefined, undefined];
  return {
    client,
    run,
    isPlaced: false,
    origin,
    right,
    next,
    seen: 0,
    inWay: 0,
  };
}
