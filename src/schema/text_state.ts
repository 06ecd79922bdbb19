/**
 * Texts: every character that was ever typed, by name, and how two texts join.
 *
 * See docs/format-text.md. A change of a text is a small state, and a state is
 * the join of all changes. Nothing here knows the order of characters: that is
 * asked of a {@linkcode TextEngine} when somebody reads the text.
 *
 * A state keeps runs as they came beside the names of deleted units. It takes its
 * one form, in which deleted units have no characters, when somebody reads or
 * writes it whole.
 *
 * Architecture invariant: joining is commutative, associative and idempotent,
 * whatever the changes claim (law 4). It costs in proportion to the change and
 * to the runs here that the change brings again, however many units it deletes.
 */

import { OrderedMap } from "./ordered_map.ts";
import { endOf, SpanSet, type TextSpan } from "./span_set.ts";

export type { TextSpan } from "./span_set.ts";

/** The name of a unit: the stretch of editing that it was typed in, and its number there. */
export interface TextId {
  readonly client: number;
  readonly clock: number;
}

/** Units typed one after the other, all with one right neighbour, all there or all deleted. */
export interface TextRun extends TextSpan {
  /** Left of the first unit; each other one has its predecessor there. */
  readonly left: TextId | undefined;
  readonly right: TextId | undefined;
  readonly text: string | undefined;
}

/** What is known of one client: both in ascending order, as long as can be. */
export interface TextClient {
  readonly runs: readonly TextRun[];
  /** Deleted units that are not among the runs. */
  readonly gone: readonly TextSpan[];
}

/** One splice of a text; `at` counts UTF-16 units of the text before all splices of the change. */
export interface TextSplice {
  readonly at: number;
  /** Units to delete there. */
  readonly delete?: number;
  /** What to insert there. */
  readonly insert?: string;
}

/** Knows the order of characters. */
export interface TextEngine {
  /** What readers see. Never throws. */
  show(state: TextState): string;
  /** The change that makes a text another one, or splices it; it may go on under a client of its own. */
  edit(
    state: TextState,
    change: string | readonly TextSplice[],
    newClient: () => number,
  ): TextState;
}

/**
 * The order of a text's pieces, for an engine that goes on with it where the text
 * grows. It moves on, and only who has seen it last may go on from there.
 */
export interface TextOrder {
  /** Counts its moves. */
  readonly version: number;
  /** Moves on by changes, in their order, if all of them fit. */
  take(changes: readonly TextState[]): boolean;
  /** Bytes that an engine reads again; `undefined` where they are not worth their room. */
  bytes(): Uint8Array | undefined;
}

/** An order as a checkpoint has it, and what the text shows. */
export class SavedOrder implements TextOrder {
  readonly version = 0;

  constructor(readonly saved: Uint8Array, readonly text: string) {}

  take(changes: readonly TextState[]): boolean {
    return changes.length === 0;
  }

  bytes(): Uint8Array {
    return this.saved;
  }
}

/** An order, as a text knows it: where it stood, and the changes since. */
interface Known {
  readonly order: TextOrder;
  readonly version: number;
  readonly changes: readonly TextState[];
}

/** So many changes are kept until an order is asked to move on by them: behind more, it is found anew. */
const CHANGES_MAX = 64;

/** A text that has not been read yet. */
export interface UnreadText {
  /** More than its characters are. */
  readonly bytes: number;
  /** Clients that are named in it. */
  names(): ReadonlySet<number>;
  read(): ReadonlyMap<number, TextClient>;
}

/** What may know what a text shows, as long as it is a document of that. */
export interface TextView {
  readonly text: string;
  shows(state: TextState): boolean;
  /** Its order, as {@linkcode TextOrder.bytes} gives it. */
  bytes(): Uint8Array | undefined;
}

export interface Units {
  /** Units that have come, by the clock of their first one; deleted ones may still have text. */
  readonly runs: OrderedMap<number, TextRun>;
  /** Those that have come and those that were deleted. */
  readonly known: SpanSet;
  readonly deleted: SpanSet;
}

export const noUnits: Units = {
  runs: /* @__PURE__ */ OrderedMap.of<number, TextRun>(byNumber),
  known: /* @__PURE__ */ SpanSet.of(),
  deleted: /* @__PURE__ */ SpanSet.of(),
};

/** By client; it weighs what is there. */
type UnitsByClient = OrderedMap<number, Units>;

export class TextState {
  readonly merge = "text";
  /** It is put in order when somebody reads it. */
  readonly isShownLater = true;
  #clients: ReadonlyMap<number, TextClient> | undefined;
  #units: UnitsByClient | undefined;
  #shown: string | undefined;
  #view: TextView | undefined;
  #known: Known | undefined;
  readonly #unread: UnreadText | undefined;
  /** What came to a text that nobody has read yet. */
  readonly #later: Later | undefined;

  /**
   * @param known what is known, by client; what is unread is read when it is asked first
   * @param shown what readers with an engine see, where it is known
   */
  constructor(
    known:
      | ReadonlyMap<number, TextClient>
      | UnitsByClient
      | UnreadText
      | Later,
    shown?: string,
  ) {
    if (known instanceof OrderedMap) this.#units = known;
    else if (known instanceof Map) this.#clients = known;
    else if ("read" in known) this.#unread = known;
    else this.#later = known as Later;
    this.#shown = shown;
  }

  /** What is known, by number, in its one form. Takes time in proportion to it when it is asked first. */
  get clients(): ReadonlyMap<number, TextClient> {
    return this.#clients ??= this.#unread?.read() ?? new Map(
      Array.from(this.units.entries(), ([client, { runs, deleted }]) => {
        const ascending = Array.from(runs.entries(), ([, run]) => run);
        return [client, bury(client, ascending, deleted)];
      }),
    );
  }

  /** The same, for joins. */
  get units(): UnitsByClient {
    if (this.#later !== undefined) {
      const { before, changes } = this.#later;
      return this.#units ??= joinAll(before.units, changes);
    }
    return this.#units ??= OrderedMap.of(
      byNumber,
      Array.from(
        this.clients,
        ([client, known]) => [client, unitsOf(known)] as const,
      ),
      ({ known, deleted }) => known.size - deleted.size,
    );
  }

  /** Characters that are there: an upper bound of what is shown. */
  get length(): number {
    return this.units.size;
  }

  /** Not less than {@linkcode length}, and known without reading. */
  get lengthMax(): number {
    if (this.#later !== undefined && this.#units === undefined) {
      const { before, changes } = this.#later;
      return before.lengthMax + changes.length;
    }
    return this.#isRead ? this.length : this.#unread!.bytes;
  }

  get #isRead(): boolean {
    return this.#unread === undefined || this.#clients !== undefined ||
      this.#units !== undefined;
  }

  /** May a client have units here? Known without reading. */
  mayHave(client: number): boolean {
    if (this.#later !== undefined && this.#units === undefined) {
      const { before, changes } = this.#later;
      return changes.mayHave(client) || before.mayHave(client);
    }
    return this.#isRead
      ? this.endOf(client) > 0
      : this.#unread!.names().has(client);
  }

  /** This and a change, which is joined when somebody asks for units: that takes reading first. */
  later(change: TextState): Later | undefined {
    const { before, changes } = this.#later ??
      { before: this, changes: emptyText };
    if (before.#isRead || this.#units !== undefined) return undefined;
    return { before, changes: joinTexts(changes, change) };
  }

  /** How many units of a client are known, as far as none is missing. */
  endOf(client: number): number {
    return this.units.get(client)?.known.end ?? 0;
  }

  covers(client: number, span: TextSpan): boolean {
    return this.units.get(client)?.known.covers(span) === true;
  }

  /** What readers see; `undefined` where that takes an engine and there is none. */
  show(engine: TextEngine | undefined): string | undefined {
    if (engine === undefined) return this.#plain();
    return this.#shown ??= this.shown ??
      (this.#known === undefined ? this.#plain() : undefined) ??
      engine.show(this);
  }

  /** What readers with an engine see, where that is known without asking one. */
  get shown(): string | undefined {
    if (this.#view?.shows(this)) this.#shown ??= this.#view.text;
    return this.#shown;
  }

  /**
   * The order of its pieces, where one is known that goes on to this text.
   * @param parse reads what a checkpoint has: without it, that goes on to no change
   */
  order(
    parse?: (saved: SavedOrder) => TextOrder | undefined,
  ): TextOrder | undefined {
    const known = this.#known;
    if (known === undefined) return undefined;
    const isSaved = known.order instanceof SavedOrder;
    const order = isSaved && parse !== undefined
      ? parse(known.order as SavedOrder)
      : known.order;
    const isThere = isSaved || order?.version === known.version;
    if (isThere && order?.take(known.changes)) {
      this.keepOrder(order);
      return order;
    }
    this.#known = undefined;
  }

  /** Its order as bytes, where it is known and worth them. */
  orderBytes(): Uint8Array | undefined {
    const view = this.#view;
    return view?.shows(this) ? view.bytes() : this.order()?.bytes();
  }

  /** @param shown what it shows then */
  keepOrder(order: TextOrder, shown?: string): void {
    this.#known = { order, version: order.version, changes: [] };
    this.#shown ??= shown;
  }

  /** Goes on with the order that another one has, from which this came by a change. */
  growFrom(before: TextState, change: TextState): this {
    const known = before.#known;
    if (known === undefined) return this;
    const changes = [...known.changes, change];
    if (changes.length <= CHANGES_MAX) this.#known = { ...known, changes };
    return this;
  }

  /** Has it shown from a view, until the next one. */
  showFrom(view: TextView): void {
    this.#view = view;
  }

  /** Lets go of the view, and goes on showing what that showed. */
  keepShown(): void {
    this.#shown = this.shown;
    this.#view = undefined;
  }

  /** What has its order without asking. */
  #plain(): string | undefined {
    if (this.#units !== undefined) return plainOf(this.#units);
    // Most texts are read before they are written: that needs no tree of units.
    let [runs, isEmpty] = [0, true];
    for (const known of this.clients.values()) {
      runs += known.runs.length;
      isEmpty &&= known.runs.every(({ text }) => text === undefined);
    }
    if (isEmpty) return "";
    return runs > 1 ? undefined : plainOf(this.units);
  }
}

/** A text that nobody has read yet, and what came to it. */
interface Later {
  readonly before: TextState;
  readonly changes: TextState;
}

function byNumber(a: number, b: number): number {
  return a - b;
}

function unitsOf({ runs, gone }: TextClient): Units {
  const deleted = runs.filter(({ text }) => text === undefined);
  return {
    runs: OrderedMap.of(byNumber, runs.map((run) => [run.clock, run])),
    known: SpanSet.of([...runs, ...gone]),
    deleted: SpanSet.of([...deleted, ...gone]),
  };
}

export const emptyText: TextState = new TextState(new Map());

/** A text without characters, or of one run, has its order without asking. */
function plainOf(units: UnitsByClient): string | undefined {
  if (units.size === 0) return "";
  const [client, { runs, deleted }] = units.floor(Infinity)!;
  const isOne = units.floor(client - 1) === undefined &&
    runs.size === 1 && deleted.size === 0;
  const run = isOne ? runs.get(0) : undefined;
  if (run?.left !== undefined || run?.right !== undefined) return undefined;
  return run?.text?.toWellFormed();
}

/** Clients are below 2^35: what fits five bytes. */
const HIGH = 2 ** 32;

/** The client that a text names: every device gets the same. */
export function clientOf(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  }
  return (hash >>> 0) + HIGH * (text.charCodeAt(text.length - 1) % 8);
}

/**
 * The text of a create. Its client follows from nothing but the text, so a
 * commit that is written again keeps it, and the log need not hold it.
 */
export function textOfCreate(text: string): TextState {
  if (text === "") return emptyText;
  if (created?.text === text) return created.state;
  const run = { clock: 0, length: text.length, left: undefined };
  const runs = [{ ...run, right: undefined, text }];
  const state = new TextState(new Map([[clientOf(text), { runs, gone: [] }]]));
  created = { text, state };
  return state;
}

/** The last one: who prepares a write asks for it several times. */
let created: { readonly text: string; readonly state: TextState } | undefined;

/** What became of changes that were made here, by change. */
const joined = /* @__PURE__ */ new WeakMap<
  TextState,
  { readonly before: TextState; readonly after: TextState }
>();

/** Joins a change that will be folded into this very text: the fold gets the same object. */
export function joinAhead(before: TextState, change: TextState): TextState {
  const after = joinTexts(before, change);
  joined.set(change, { before, after });
  return after;
}

/** Everything that either knows; `b` is the lesser one. */
export function joinTexts(a: TextState, b: TextState): TextState {
  if (a === emptyText) return b;
  const known = joined.get(b);
  if (known?.before === a) return known.after;
  const after = new TextState(a.later(b) ?? joinAll(a.units, b));
  return after.growFrom(a, b);
}

function joinAll(units: UnitsByClient, { clients }: TextState): UnitsByClient {
  for (const [client, theirs] of clients) {
    const ours = units.get(client) ?? noUnits;
    units = units.with(client, joinUnits(client, ours, theirs));
  }
  return units;
}

/** The same text in its one form: whatever else `clients` says, runs are as long as can be. */
export function normalText(clients: ReadonlyMap<number, TextClient>) {
  const normal = new Map<number, TextClient>();
  for (const [client, { runs, gone }] of clients) {
    const deleted = SpanSet.of(gone);
    normal.set(client, bury(client, overlay(client, runs, []), deleted));
  }
  return new TextState(normal);
}

function joinUnits(
  client: number,
  { runs, known, deleted }: Units,
  theirs: TextClient,
): Units {
  for (const run of theirs.runs) {
    runs = lay(client, runs, run);
    known = known.with(run);
    if (run.text === undefined) deleted = deleted.with(run);
  }
  const { gone } = theirs;
  return { runs, known: known.withAll(gone), deleted: deleted.withAll(gone) };
}

/** The runs with one more, which may go on with its neighbours or bring what is there already. */
function lay(client: number, runs: Units["runs"], run: TextRun): Units["runs"] {
  const before = runs.floor(run.clock - 1)?.[1];
  const beside = before === undefined ? [] : [before];
  const alone = beside.length;
  for (const [clock, one] of runs.entries(run.clock)) {
    if (clock > endOf(run)) break;
    beside.push(one);
  }
  if (beside.length > alone) {
    runs = runs.withoutRange(run.clock, endOf(run));
  }
  for (const one of overlay(client, beside, [run])) {
    if (one !== before) runs = runs.with(one.clock, one);
  }
  return runs;
}

/** Do both name one unit, or none? */
export function isSameId(
  a: TextId | undefined,
  b: TextId | undefined,
): boolean {
  return a === b || (a?.client === b?.client && a?.clock === b?.clock);
}

/** Appends a run, to the last one where it goes on with it. */
function push(out: TextRun[], client: number, run: TextRun): void {
  const last = out.at(-1);
  const goesOn = last !== undefined && endOf(last) === run.clock &&
    run.left?.client === client && run.left.clock === run.clock - 1 &&
    isSameId(last.right, run.right) &&
    (last.text === undefined) === (run.text === undefined);
  if (!goesOn) out.push(run);
  else {
    const text = run.text === undefined ? undefined : last.text! + run.text;
    out[out.length - 1] = { ...last, length: last.length + run.length, text };
  }
}

/** The units of a run from one clock to another. */
export function cut(
  client: number,
  run: TextRun,
  from: number,
  to: number,
): TextRun {
  if (from === run.clock && to === endOf(run)) return run;
  const start = from - run.clock;
  return {
    clock: from,
    length: to - from,
    left: start === 0 ? run.left : { client, clock: from - 1 },
    right: run.right,
    text: run.text?.slice(start, to - run.clock),
  };
}

/** Two ascending lists of runs as one. */
function overlay(
  client: number,
  a: readonly TextRun[],
  b: readonly TextRun[],
): TextRun[] {
  const out: TextRun[] = [];
  let [i, j] = [0, 0];
  let [x, y] = [a[0], b[0]];
  while (x !== undefined || y !== undefined) {
    const xTo = x === undefined ? -1 : Math.min(endOf(x), y?.clock ?? Infinity);
    const yTo = y === undefined ? -1 : Math.min(endOf(y), x?.clock ?? Infinity);
    if (x !== undefined && xTo > x.clock) {
      push(out, client, cut(client, x, x.clock, xTo));
      x = xTo < endOf(x) ? cut(client, x, xTo, endOf(x)) : a[++i];
    } else if (y !== undefined && yTo > y.clock) {
      push(out, client, cut(client, y, y.clock, yTo));
      y = yTo < endOf(y) ? cut(client, y, yTo, endOf(y)) : b[++j];
    } else if (x !== undefined && y !== undefined) {
      const to = Math.min(endOf(x), endOf(y));
      const [one, other] = [x, y].map((run) => cut(client, run, run.clock, to));
      push(out, client, greater(one!, other!));
      x = to < endOf(x) ? cut(client, x, to, endOf(x)) : a[++i];
      y = to < endOf(y) ? cut(client, y, to, endOf(y)) : b[++j];
    }
  }
  return out;
}

/** The same units from two sides: equal, unless somebody gave one name to two of them. */
function greater(a: TextRun, b: TextRun): TextRun {
  return {
    clock: a.clock,
    length: a.length,
    left: greaterId(a.left, b.left),
    right: greaterId(a.right, b.right),
    text: a.text === undefined || b.text === undefined
      ? undefined
      : greaterText(a.text, b.text),
  };
}

function greaterId(a: TextId | undefined, b: TextId | undefined) {
  if (a === undefined || b === undefined) return a ?? b;
  return (a.client - b.client || a.clock - b.clock) >= 0 ? a : b;
}

function greaterText(a: string, b: string): string {
  if (a === b) return a;
  let text = "";
  for (let i = 0; i < a.length; i++) text += a[i]! > b[i]! ? a[i] : b[i];
  return text;
}

/** Deletes units: those among the runs there, the others stay to be deleted when they come. */
function bury(
  client: number,
  runs: readonly TextRun[],
  deleted: SpanSet,
): TextClient {
  const out: TextRun[] = [];
  const gone: TextSpan[] = [];
  let next = 0;
  let run = runs[0];
  for (const span of deleted) {
    let at = span.clock;
    const end = endOf(span);
    while (run !== undefined && run.clock < end) {
      const from = Math.min(Math.max(at, run.clock), endOf(run));
      const to = Math.min(end, endOf(run));
      if (run.clock < from) {
        push(out, client, cut(client, run, run.clock, from));
      }
      if (from < to) {
        if (at < from) gone.push({ clock: at, length: from - at });
        const part = cut(client, run, from, to);
        push(out, client, { ...part, text: undefined });
        at = to;
      }
      run = to < endOf(run) ? cut(client, run, to, endOf(run)) : runs[++next];
    }
    if (at < end) gone.push({ clock: at, length: end - at });
  }
  for (; run !== undefined; run = runs[++next]) push(out, client, run);
  return { runs: out, gone };
}

/** Does this place stand within a character? */
export function isWithinCharacter(text: string, at: number): boolean {
  const [high, low] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}
