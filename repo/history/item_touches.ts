/**
 * Which operations touch an item, and where in the log they stand, and which
 * commits a commit had seen: for histories and pictures of the past, without
 * reading all of the log.
 *
 * What a checkpoint covers is read from it, a few pages for each question; what
 * stands in the log behind it is kept in memory, and gone on with as the log
 * grows. What is found is read and compared, a few hundred bytes each; who makes
 * hashes collide makes that slow, at worst as a pass over the log, and nothing
 * else.
 *
 * Void commits stay in it and are passed over: a refusal or a cut voids what
 * stands before it, and that is known when it is read.
 *
 * Architecture invariant: derived data is disposable (law 5); what comes out is
 * what reading the whole log would give.
 */

import type { Hlc } from "../../src/base/hlc.ts";
import { type Cell, isBlank, type Origin } from "../../src/schema/cell.ts";
import { ItemFold } from "../../src/schema/item_fold.ts";
import type { Operation } from "../../src/schema/patch.ts";
import type { View } from "../../src/schema/view.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { StoredTouches } from "../checkpoint/touches.ts";
import type { Position } from "../commit/commit.ts";
import type { Includes, LoggedCommits } from "./logged_commits.ts";
import { type CommitHead, CommitSpans, type Marks } from "./commit_spans.ts";
import type { Store } from "../log/store.ts";
import { RECORD_HEADER_BYTES } from "../log/format.ts";
import { visitRecord } from "../log/records.ts";
import { pastState } from "./past_state.ts";
import { type ItemName, State, type ViewOf } from "../state/state.ts";
import type { Table } from "../state/table.ts";
import type { TouchFiles, WriteTouches } from "../checkpoint/touches_writer.ts";
import { hashItem, type Link, TouchTail } from "./touch_tail.ts";
import type { VersionVector } from "../commit/version_vector.ts";
import { patchOf } from "../commit/batch.ts";
import { getOrMake } from "../../src/base/collections.ts";
import { lowerBound } from "../../src/base/lower_bound.ts";
import { hasCode } from "../../src/base/errors.ts";

export interface ItemCommit extends Position, Hlc {
  readonly parents: readonly Position[];
  /** Those on the item; at least one. */
  readonly operations: readonly Operation[];
}

/** Which of an item's commits. */
export interface ItemPage {
  /** At most so many, the newest ones. */
  readonly limit?: number;
  /** Only those that stand before this one, which touched the item, in the log. */
  readonly before?: Position;
}

interface Touch {
  readonly head: CommitHead;
  readonly operation: Operation;
}

/** Where operations with one hash stand, in the log's order. */
interface Places {
  readonly count: number;
  at(index: number): number;
}

/** Where so many pages began is kept. */
const KEPT = 256;
/** The log may grow by so much before it is gone on with, and so much of it is read at once. */
const STEP_BYTES = 1024 * 1024;
/** So much of the log is read in about a millisecond. */
const SLICE_BYTES = 128 * 1024;

export class ItemTouches implements Marks {
  readonly #commits: Pick<LoggedCommits, "isVoid">;
  readonly #log: Store;
  readonly #files: TouchFiles | undefined;
  /** What a checkpoint knows; nobody has looked yet while `isNew`. */
  #stored: StoredTouches | undefined;
  #isNew = true;
  #tail = new TouchTail(0, []);
  /** Where the log ended when it was looked at last. */
  #seen = 0;
  readonly #spans: CommitSpans;
  /** Where the pages of items began that were given last, among the places of their hash. */
  readonly #pages = new Map<string, number>();

  /** @param files checkpoints that know and shall know what it does; without any, all of the log is noted */
  constructor(
    commits: Pick<LoggedCommits, "isVoid">,
    log: Store,
    files?: TouchFiles,
  ) {
    this.#commits = commits;
    this.#log = log;
    this.#files = files;
    this.#spans = new CommitSpans(log, this);
  }

  /** Records of the log were overwritten: what was read of it is not so any more. */
  rewritten(): void {
    this.#spans.rewritten();
  }

  /** Bytes that it keeps of what no checkpoint covers. */
  get bytes(): number {
    return this.#tail.bytes;
  }

  of(item: ItemName): ItemCommit[] {
    return this.page(item, {}) ?? [];
  }

  /** Some of an item's commits, in the log's order; `undefined` where `before` is none of them. */
  page(item: ItemName, page: ItemPage): ItemCommit[] | undefined {
    return this.#reading(() => this.#page(item, page));
  }

  #page(
    item: ItemName,
    { limit = Infinity, before }: ItemPage,
  ): ItemCommit[] | undefined {
    const hash = hashItem(item.collection, item.id);
    const places = this.#placesOf(hash);
    const from = before === undefined
      ? places.count
      : this.#placeBefore(places, item, hash, before);
    if (from === undefined) return undefined;
    const found: { head: CommitHead; operations: Operation[] }[] = [];
    let first = from;
    for (let i = from - 1; i >= 0; i--) {
      const touch = this.#touch(places.at(i), item, hash);
      if (touch === undefined) continue;
      const known = found.at(-1);
      const isMore = known !== undefined && isSame(known.head, touch.head);
      if (!isMore && found.length >= limit) break;
      if (isMore) known.operations.push(touch.operation);
      else found.push({ head: touch.head, operations: [touch.operation] });
      first = i;
    }
    const commits = found.reverse().map(({ head, operations }) =>
      commitOf(head, operations.reverse())
    );
    if (commits[0] !== undefined) this.#notePage(hash, commits[0], first);
    return commits;
  }

  #notePage(hash: number, first: Position, at: number): void {
    if (this.#pages.size >= KEPT) this.#pages.clear();
    this.#pages.set(pageName(hash, first), at);
  }

  /** Where the first operation of one of the item's commits stands, among the places of its hash. */
  #placeBefore(
    places: Places,
    item: ItemName,
    hash: number,
    before: Position,
  ): number | undefined {
    const noted = this.#pages.get(pageName(hash, before));
    if (noted !== undefined) {
      const touch = this.#touch(places.at(noted), item, hash);
      if (touch !== undefined && isSame(touch.head, before)) return noted;
    }
    let found: number | undefined;
    for (let i = this.#lastPlaceOf(places, before); i >= 0; i--) {
      if (isSame(this.#spans.find(places.at(i)), before)) {
        if (this.#touch(places.at(i), item, hash) !== undefined) found = i;
      } else if (found !== undefined) break;
    }
    return found;
  }

  /** The last place of a commit, or the last one of all where its number does not tell. */
  #lastPlaceOf({ count, at }: Places, { chain, number }: Position): number {
    let [low, high] = [0, count];
    let found = -1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      // Only those of its own chain ascend for sure.
      let place = middle;
      let spot = this.#spans.find(at(place));
      while (spot.chain !== chain && place > low) {
        spot = this.#spans.find(at(--place));
      }
      if (spot.chain !== chain || spot.number <= number) low = middle + 1;
      else high = place;
      if (spot.chain === chain && spot.number === number) found = place;
    }
    return found < 0 ? count - 1 : found;
  }

  /** An item as the chosen commits made it, of those that the log held when it ended at `to`. */
  cellOf(
    item: ItemName,
    view: View,
    includes: Includes,
    to?: number,
  ): Cell | undefined {
    return this.cellsOf([item], () => view, includes, to)[0];
  }

  /** As {@linkcode cellOf} of many items, in one pass over what touches them. */
  cellsOf(
    items: readonly ItemName[],
    viewOf: ViewOf,
    includes: Includes,
    to = Infinity,
  ): (Cell | undefined)[] {
    const hashes = items.map(({ collection, id }) => hashItem(collection, id));
    return this.#reading(() => {
      const folds = items.map(({ collection }) =>
        new ItemFold(viewOf(collection))
      );
      for (const { place, item } of this.#placesOfMany(hashes, to)) {
        const touch = this.#touch(place, items[item]!, hashes[item]!, to);
        if (touch === undefined) continue;
        const { chain, number, wall, count } = touch.head;
        if (!includes(chain, number, wall)) continue;
        // Nobody asks where it stands: no checkpoint is made of it.
        const origin: Origin = { wall, count, chain, operationsAt: -1 };
        folds[item]!.add(touch.operation, origin);
      }
      return folds.map(({ cell }) => cell);
    });
  }

  /** Where the log up to an address has operations with these hashes, in its order, and whose each is. */
  #placesOfMany(hashes: readonly number[], to: number) {
    const found: { readonly place: number; readonly item: number }[] = [];
    for (const [item, hash] of hashes.entries()) {
      const places = this.#placesOf(hash);
      for (let i = 0; i < places.count && places.at(i) < to; i++) {
        found.push({ place: places.at(i), item });
      }
    }
    return hashes.length === 1
      ? found
      : found.sort((a, b) => a.place - b.place);
  }

  /** The state of commits that were nearly all there are; `undefined` where they are not. */
  recentPast(past: RecentPast): State | undefined {
    return recentPast(this, past);
  }

  /** The state of the chosen commits, of those that the log held when it ended at `to`. */
  stateOf(...asked: Parameters<typeof pastState>): State {
    return pastState(...asked);
  }

  countOf({ collection, id }: ItemName): number {
    const hash = hashItem(collection, id);
    return this.#reading(() => this.#placesOf(hash).count);
  }

  /** Where the record of a batch starts, at or before an address in the log. */
  recordBefore(address: number): number {
    return this.#reading(() => {
      let mark = this.markOf(address);
      if (mark < 0) return 0;
      while (this.indexAt(mark) > 0) mark--;
      return this.markAt(mark) - RECORD_HEADER_BYTES;
    });
  }

  /** Does a commit that touches an item stand first in the batch at an address, and in none before? */
  isIn(body: number, commit: Position, item: ItemName): boolean {
    return this.#reading(() => {
      const places = this.#placesOf(hashItem(item.collection, item.id));
      const from = lowerBound(places.count, (i) => places.at(i) >= body);
      for (let i = from; i < places.count; i++) {
        const spot = this.#spans.find(places.at(i));
        if (spot.body !== body) return false;
        if (isSame(spot, commit)) return true;
      }
      return false;
    });
  }

  /** The version vector of a commit: its ancestors and itself. */
  ancestorsOf({ chain, number }: Position): VersionVector {
    return this.#reading(() => {
      const [tail, stored] = [this.#tail, this.#stored];
      const names = tail.chains();
      const counts = new Float64Array(names.length);
      counts[tail.chainOf(chain)] = number + 1;
      for (let i = tail.linked - 1; i >= 0; i--) follow(tail.linkAt(i), counts);
      for (let i = (stored?.linked ?? 0) - 1; i >= 0; i--) {
        follow(stored!.linkAt(i), counts);
      }
      const vector = new Map<string, number>();
      names.forEach(({ chain }, i) => {
        if (counts[i]! > 0) vector.set(chain, counts[i]!);
      });
      return vector;
    });
  }

  /** Reads with all of the log noted; again without the checkpoint where that is damaged. */
  #reading<T>(read: () => T): T {
    try {
      this.#extend();
      return read();
    } catch (error) {
      // Where it says that an operation stands there may be none.
      const isItsFault = error instanceof SyntaxError ||
        hasCode(error, "checkpoint-damaged");
      if (this.#stored === undefined || !isItsFault) throw error;
      this.#use(undefined);
      this.#extend();
      return read();
    }
  }

  /** Notes more of the log where it has grown by much: nobody shall wait for that when he asks. */
  keepUp(): void {
    const { end } = this.#log;
    const grown = end - this.#seen;
    this.#seen = end;
    if (this.#files === undefined || end - this.#tail.end <= STEP_BYTES) return;
    this.#noted(Math.max(STEP_BYTES, grown));
  }

  /** Notes nearly all of the log, in steps. */
  async settle(pause: () => Promise<void> | undefined): Promise<void> {
    while (this.#log.end - this.#tail.end > SLICE_BYTES) {
      if (this.#files === undefined || !this.#noted(SLICE_BYTES)) return;
      await pause();
    }
  }

  /**
   * Writes into a checkpoint what is known now; `undefined` where that is nobody's
   * wish, or not all of the log can be read.
   */
  picture(): WriteTouches | undefined {
    if (this.#files === undefined || !this.#noted(Infinity)) return undefined;
    const picture = { stored: this.#stored, tail: this.#tail.picture() };
    return this.#files.writing(picture, () => this.#use(undefined));
  }

  /** Goes on over a checkpoint that was written from a picture. */
  rebase(storage: Storage, path: string): void {
    const stored = this.#files?.rebase(storage, path);
    if (stored !== undefined) this.#use(stored);
  }

  close(): void {
    this.#files?.close();
  }

  /** Notes more of the log; `false` where it cannot be read, which who asks for a history is told. */
  #noted(bytes: number): boolean {
    try {
      this.#extend(bytes);
      return true;
    } catch {
      return false;
    }
  }

  #use(stored: StoredTouches | undefined): void {
    this.#stored = stored;
    this.#isNew = false;
    this.#tail = new TouchTail(stored?.covers ?? 0, stored?.chains ?? []);
  }

  #extend(bytes = Infinity): void {
    if (this.#isNew) this.#use(this.#files?.open());
    const tail = this.#tail;
    const { end } = this.#log;
    const to = tail.end + bytes;
    if (tail.end === end) return;
    tail.end = this.#log.records(tail.end, end, (kind, body, address) => {
      visitRecord(tail, kind, body, address);
      tail.end = address + body.length;
      return tail.end >= to;
    });
  }

  #placesOf(hash: number): Places {
    const stored = this.#stored;
    const tail = this.#tail.placesOf(hash);
    if (stored === undefined) {
      return { count: tail.length, at: (i) => tail[i]! };
    }
    const [from, to] = stored.rangeOf(hash);
    const before = to - from;
    return {
      count: before + tail.length,
      at: (i) => i < before ? stored.placeAt(from + i) : tail[i - before]!,
    };
  }

  /** The operation at a place, if it is one on this item, and its commit, if that is not void. */
  #touch(
    place: number,
    { collection, id }: ItemName,
    hash: number,
    to?: number,
  ): Touch | undefined {
    const spot = this.#spans.find(place);
    const { chain, number, body } = spot;
    if (this.#commits.isVoid(chain, number, body, to)) return undefined;
    const head = this.#spans.headOf(spot);
    const operation = this.#spans.operationAt(place, spot, head);
    const named = operation.shape.collection;
    if (operation.id === id && named === collection) return { head, operation };
    // Another item than was noted here: the bytes are not what they were.
    if (hashItem(named, operation.id) !== hash) this.#spans.checkRecord(body);
    return undefined;
  }

  /** Marks count on from those of the checkpoint. */
  markOf(place: number): number {
    const stored = this.#stored;
    const [from, to] = place < (stored?.covers ?? 0)
      ? [0, stored!.marked]
      : [this.#storedMarks, this.#storedMarks + this.#tail.marked];
    const isBehind = (i: number) => this.markAt(from + i) > place;
    return from + lowerBound(to - from, isBehind) - 1;
  }

  get #storedMarks(): number {
    return this.#stored?.marked ?? 0;
  }

  markAt(mark: number): number {
    const at = mark - this.#storedMarks;
    return at < 0 ? this.#stored!.markAt(mark) : this.#tail.markAt(at);
  }

  indexAt(mark: number): number {
    const at = mark - this.#storedMarks;
    return at < 0 ? this.#stored!.indexAt(mark) : this.#tail.indexAt(at);
  }
}

function commitOf(
  { shapes: _, ...commit }: CommitHead,
  operations: readonly Operation[],
): ItemCommit {
  return { ...commit, operations };
}

function isSame(a: Position, b: Position): boolean {
  return a.number === b.number && a.chain === b.chain;
}

function pageName(hash: number, { chain, number }: Position): string {
  return `${hash} ${number} ${chain}`;
}

/** Who had seen a commit had seen its parents. Parents stand before their children: backwards, one pass is enough. */
function follow(
  { chain, number, parent, parentNumber }: Link,
  counts: Float64Array,
): void {
  if (number >= counts[chain]!) return;
  counts[parent] = Math.max(counts[parent]!, parentNumber + 1);
}

/** So much of the log's end is looked through at first. */
const TAIL_BYTES = 256 * 1024;
/** Where more than this part of all that is known was changed, folding everything takes no longer. */
const CHANGED_FRACTION = 1 / 8;

/** The present, and which part of it is asked for. */
export interface RecentPast {
  readonly commits: LoggedCommits;
  /** The state now, in which nothing is that the log lacks. */
  readonly present: State;
  readonly known: number;
  readonly viewOf: ViewOf;
  readonly includes: Includes;
  /** Where the log ended when the picture was taken; nothing became void since. */
  readonly to: number;
  /** Where it ends now. */
  readonly end: number;
}

/** The state of the chosen commits; `undefined` where much was changed since. */
export function recentPast(
  touches: ItemTouches,
  past: RecentPast,
): State | undefined {
  const { present, viewOf, includes, to } = past;
  const changed = changedItems(touches, past);
  if (changed === undefined) return undefined;
  const state = new State(viewOf);
  for (const table of present.tables()) {
    const { name } = table;
    const ids = [...changed.get(name) ?? []];
    const items = ids.map((id) => ({ collection: name, id }));
    const cells = touches.cellsOf(items, viewOf, includes, to);
    const before = new Map(ids.map((id, i) => [id, cells[i]]));
    for (const cell of cellsOf(table)) {
      const { id } = cell;
      const then = before.has(id) ? before.get(id) : cell;
      if (then !== undefined && !isBlank(then)) state.put(name, then);
    }
  }
  return state;
}

/** The cells of a table, which keeps no more of them in memory for that. */
function* cellsOf(table: Table): Generator<Cell> {
  const cells = table.picture();
  const { base } = table;
  base?.loadAll(cells, true);
  for (let ordinal = 0; ordinal < cells.size; ordinal++) {
    yield cells.get(ordinal) ?? base!.cellAt(ordinal, cells);
  }
}

/** Ids by collection of what other commits than the chosen ones changed. */
function changedItems(
  touches: ItemTouches,
  past: RecentPast,
): Map<string, Set<string>> | undefined {
  const { known, includes, end } = past;
  const missing = known - (includes.count ?? 0);
  let room = known * CHANGED_FRACTION;
  if (missing > room) return undefined;
  for (let bytes = TAIL_BYTES;; bytes *= 4) {
    const from = bytes < end ? touches.recordBefore(end - bytes) : 0;
    const found = otherItems(past, from);
    if (found.commits < missing && from > 0) continue;
    for (const [collection, ids] of found.items) {
      for (const id of ids) room -= touches.countOf({ collection, id });
    }
    return room < 0 ? undefined : found.items;
  }
}

/** What stands in the log from an address on, and is none of the chosen commits. */
function otherItems({ commits, includes }: RecentPast, from: number) {
  const items = new Map<string, Set<string>>();
  const note = ({ collection, id }: ItemName) => {
    getOrMake(items, collection, () => new Set()).add(id);
  };
  let count = 0;
  commits.each(({ batch, from }) => {
    for (let i = from; i < batch.commits.length; i++) {
      const commit = batch.commits[i]!;
      if (includes(batch.chain, batch.first + i, commit.wall)) continue;
      count++;
      const { operations } = patchOf(batch, commit);
      for (const { id, shape } of operations) {
        note({ collection: shape.collection, id });
      }
    }
  }, from);
  return { items, commits: count };
}
