/**
 * Merging: folds one operation into what is known of its item.
 *
 * - **Generations.** An operation of an ended generation changes nothing; one of
 *   a later generation begins the cell anew; a delete of the present generation
 *   wins over everything else in it.
 * - **Registers.** The last writer wins for each field by (wall, count, chain).
 * - **Two creates** of one generation merge field by field. The later one is the
 *   cell's base; counters add up, sets, maps, lists and texts hold what both wrote.
 * - **Disagreeing writers.** Where writers give one field different merge classes,
 *   the greatest of register < counter < set < map < list < text holds it; changes
 *   of a lesser class are history, not state.
 *
 * Operations of one commit share a stamp and must be folded in their order;
 * commits may come in any order, each once (the caller drops repeated ones).
 *
 * Architecture invariant: same operations, same cell, in whatever order their
 * commits are folded (law 4). No clock, no schema decides anything here.
 */

import { getOrMake } from "../base/collections.ts";
import { compareStamps, type Stamp } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import {
  bareCell,
  type Cell,
  isThere,
  noStates,
  nowhere,
  type Origin,
  valueIn,
  WideCell,
  type Written,
} from "./cell.ts";
import { isRichClass, mergeClassOf, type RichClass } from "./kinds.ts";
import { lateRich } from "./late_rich.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type {
  CreateOperation,
  Item,
  MergeClass,
  Operation,
  Shape,
  ShapeField,
  UpdateOperation,
  Value,
} from "./patch.ts";
import type { RichState, StateOf } from "./rich_state.ts";
import type { DraftItem } from "./schema.ts";
import { isPartlyLater, type View } from "./view.ts";

/** What is known of an item after one more operation; `view` decides nothing about it. */
export function fold(
  cell: Cell | undefined,
  op: Operation,
  origin: Origin,
  createAt: number,
  view: View,
): Cell {
  if (cell === undefined || op.generation > cell.generation) {
    return begin(op, origin, createAt, view);
  }
  if (op.generation < cell.generation) return cell;
  if (op.what === "delete") return bury(cell, origin);
  if (!isThere(cell)) return cell;
  return op.what === "create"
    ? mergeCreate(cell, op, origin, view)
    : afterEdit(cell, editUpdate(cell, op, origin, view), view);
}

function begin(
  op: Operation,
  origin: Origin,
  createAt: number,
  view: View,
): Cell {
  const { id, generation, shape } = op;
  if (op.what === "update") {
    const item = view.build(id, orphanOf(shape), new Map());
    const orphan = bareCell(id, generation, item, orphanOf(shape), nowhere);
    return afterEdit(orphan, editUpdate(orphan, op, origin, view), view);
  }
  if (op.what === "delete") {
    return bareCell(id, generation, undefined, orphanOf(shape), origin);
  }
  return createdCell(op, origin, createAt, view);
}

/** The cell of an item that nothing but its create has written. */
export function createdCell(
  { id, generation, shape, item }: Omit<CreateOperation, "what">,
  origin: Origin,
  createAt: number,
  view: View,
): Cell {
  const shown = view.show(shape, item);
  const cell = bareCell(id, generation, shown, shape, origin, createAt);
  if (view.planFor(shape).isFitting) return cell;
  const values = shape.fields.map(({ name }) => [name, item[name]] as const);
  return { ...cell, hidden: view.hidden(shape, values) };
}

/**
 * Of several deletes the latest is kept, so that all replicas keep the same. The
 * shape that it came with is its author's word, and no field is written by it.
 */
function bury(cell: Cell, origin: Origin): Cell {
  const isKept = !isThere(cell) &&
    compareStamps(cell.origin, origin) >= 0;
  if (isKept) return cell;
  return bareCell(cell.id, cell.generation, undefined, cell.shape, origin);
}

const orphans = new WeakMap<Shape, Shape>();

/** The shape of an item whose create has not arrived: no fields. */
function orphanOf(shape: Shape): Shape {
  const { collection } = shape;
  return getOrMake(
    orphans,
    shape,
    () => Object.freeze({ collection, version: 0, fields: [] }),
  );
}

const precedence: Readonly<Record<MergeClass, number>> = {
  register: 0,
  counter: 1,
  set: 2,
  map: 3,
  list: 4,
  text: 5,
};

function shapeFieldOf(shape: Shape, name: string): ShapeField | undefined {
  const { fields } = shape;
  for (let i = 0; i < fields.length; i++) {
    if (fields[i]!.name === name) return fields[i];
  }
  return undefined;
}

/** How a field of a cell merges; `undefined` when nobody wrote it yet. */
export function mergeClassIn(cell: Cell, name: string): MergeClass | undefined {
  const state = cell.rich?.get(name);
  if (state !== undefined) return state.merge;
  const field = shapeFieldOf(cell.shape, name);
  if (field !== undefined) return mergeClassOf(field.kind);
  return cell.stamps?.has(name) ? "register" : undefined;
}

/** The commit that wrote a register; `undefined` when nobody did. */
export function stampIn(cell: Cell, name: string): Stamp | undefined {
  return cell.stamps?.get(name) ?? createStampIn(cell, name);
}

function createStampIn({ shape, origin }: Cell, name: string) {
  return shapeFieldOf(shape, name) === undefined ? undefined : origin;
}

/** The state of a rich field, also where only its create wrote it. */
export function stateIn<C extends RichClass>(
  cell: Cell,
  name: string,
  merge: C,
): StateOf<C> {
  const known = cell.rich?.get(name);
  const state = known?.merge === merge ? known : begunIn(cell, name, merge);
  return state as StateOf<C>; // proof: it is of this class
}

function begunIn(cell: Cell, name: string, merge: RichClass): RichState {
  const field = shapeFieldOf(cell.shape, name);
  return field === undefined || mergeClassOf(field.kind) !== merge
    ? lateRich.code.kinds[merge].empty
    : lateRich.code.beginState(merge, valueIn(cell, name), cell.origin);
}

const noStamps = /* @__PURE__ */ OrderedMap.of<string, Stamp>(compareText);

function unlessEmpty<M extends { readonly size: number }>(
  map: M,
): M | undefined {
  return map.size > 0 ? map : undefined;
}

/** What updates change, gathered before the new cell is made. */
export interface Edit {
  readonly registers: Map<string, Value>;
  readonly states: Map<string, RichState>;
  stamps: OrderedMap<string, Stamp>;
}

function editOf({ stamps = noStamps }: Cell): Edit {
  return { registers: new Map(), states: new Map(), stamps };
}

export function editUpdate(
  cell: Cell,
  op: UpdateOperation,
  origin: Origin,
  view: View,
  edit: Edit = editOf(cell),
): Edit {
  for (let i = 0; i < op.changes.length; i++) {
    const { field, change } = op.changes[i]!;
    const merge = mergeFor(cell, edit, field);
    if (merge === undefined) continue;
    view.meet(field.kind);
    if (isRichClass(merge)) {
      const before = stateFor(cell, edit, field.name, merge);
      const { changeState } = lateRich.code;
      editState(edit, field.name, changeState(before, change, origin));
    } else if (change.what === "set") {
      editRegister(cell, edit, field.name, change.value, origin);
    }
  }
  return edit;
}

export function afterEdit(cell: Cell, edit: Edit, view: View): Cell {
  const isChanged = edit.registers.size + edit.states.size > 0;
  return isChanged ? withEdit(cell, edit, cell, view) : cell;
}

/** The cell after an edit, whose base is this create from then on. */
function withEdit(
  cell: Cell,
  edit: Edit,
  { shape, origin }: Pick<Cell, "shape" | "origin">,
  view: View,
): Cell {
  let rich = cell.rich ?? noStates;
  for (const [name, state] of edit.states) rich = rich.with(name, state);
  const { id, generation } = cell;
  const stamps = unlessEmpty(edit.stamps);
  const hidden = hiddenAfter(cell, edit, view);
  const width = shape.fields.length + edit.stamps.size + rich.size;
  if (width > limits.fieldsShownAtOnceMax) {
    const after = { id, generation, shape, origin, stamps, hidden };
    return widened(cell, edit, { ...after, rich: unlessEmpty(rich) }, view);
  }
  return {
    id,
    generation,
    item: withChanged(cell, edit, shape, rich, view),
    shape,
    origin,
    createAt: -1,
    stamps,
    rich: unlessEmpty(rich),
    hidden,
  };
}

function mergeFor(
  cell: Cell,
  { states }: Edit,
  { name, kind }: ShapeField,
): MergeClass | undefined {
  const known = states.get(name)?.merge ?? mergeClassIn(cell, name);
  const merge = mergeClassOf(kind);
  return known === undefined || precedence[merge] >= precedence[known]
    ? merge
    : undefined;
}

function stateFor(
  cell: Cell,
  { states }: Edit,
  name: string,
  merge: RichClass,
): RichState {
  const state = states.get(name);
  return state?.merge === merge ? state : stateIn(cell, name, merge);
}

function editRegister(
  cell: Cell,
  edit: Edit,
  name: string,
  value: Value,
  origin: Origin,
): void {
  const stamp = edit.stamps.get(name) ?? createStampIn(cell, name);
  if (stamp !== undefined && compareStamps(origin, stamp) < 0) return;
  edit.registers.set(name, value);
  // A create that is changed by its own commit keeps its one stamp.
  if (stamp !== undefined && compareStamps(origin, stamp) === 0) return;
  edit.stamps = edit.stamps.with(name, origin);
}

function editState(edit: Edit, name: string, state: RichState): void {
  edit.states.set(name, state);
  edit.registers.delete(name);
  edit.stamps = edit.stamps.without(name);
}

function mergeCreate(
  cell: Cell,
  op: CreateOperation,
  origin: Origin,
  view: View,
): Cell {
  const edit = editOf(cell);
  const isLater = compareStamps(origin, cell.origin) >= 0;
  if (isLater) tellBase(cell, edit);
  for (const field of op.shape.fields) {
    const { name, kind } = field;
    const value = op.item[name];
    const merge = mergeFor(cell, edit, field);
    if (merge === undefined) continue;
    view.meet(kind);
    if (isRichClass(merge)) {
      const before = stateFor(cell, edit, name, merge);
      const { create } = lateRich.code.kinds[merge];
      editState(edit, name, create(before, value, origin));
    } else editRegister(cell, edit, name, value, origin);
  }
  if (!isLater) return withEdit(cell, edit, cell, view);
  for (const { name } of op.shape.fields) {
    const stamp = edit.stamps.get(name);
    const isImplied = stamp && compareStamps(stamp, origin) === 0;
    if (isImplied) edit.stamps = edit.stamps.without(name);
  }
  return withEdit(cell, edit, { shape: op.shape, origin }, view);
}

/** Says what follows from the create that a cell begins with. */
function tellBase(cell: Cell, edit: Edit): void {
  for (const { name, kind } of cell.shape.fields) {
    if (cell.rich?.has(name) || edit.stamps.has(name)) continue;
    const merge = mergeClassOf(kind);
    if (isRichClass(merge)) edit.states.set(name, stateIn(cell, name, merge));
    else edit.stamps = edit.stamps.with(name, cell.origin);
  }
}

export interface Changed {
  readonly registers: ReadonlyMap<string, Value>;
  readonly states: ReadonlyMap<string, RichState>;
}

/**
 * The item with other values; a field that is new to it may take its place among others.
 *
 * @param shape of the create that it begins with now
 * @param rich all states of the cell, the changed ones too
 */
export function withChanged(
  cell: Cell,
  changed: Changed,
  shape: Shape,
  rich: OrderedMap<string, RichState>,
  view: View,
): Item {
  const item = cell.item!;
  const copy = cell.shape === shape ? copyWith(item, changed, view) : undefined;
  return copy ?? rebuild(shape, item, changed.registers, rich, view);
}

const nothing = /* @__PURE__ */ OrderedMap.of<string, Written>(compareText);

/** The cell after a change, whose item is put together when somebody reads it. */
export function widened(
  cell: Cell,
  { registers }: Changed,
  after: Omit<Cell, "item" | "createAt">,
  view: View,
): Cell {
  const isWide = cell instanceof WideCell;
  let since = isWide && cell.since || nothing;
  for (const [name, value] of registers) since = since.with(name, { value });
  const show = ({ shape, base, since, rich }: WideCell) => {
    const written = new Map<string, Value>();
    for (const [name, { value }] of since ?? []) {
      if (!rich?.has(name)) written.set(name, value);
    }
    return rebuild(shape, base, written, rich ?? noStates, view);
  };
  return new WideCell(after, isWide ? cell.base : cell.item!, since, show);
}

/** A copy, where it reads nothing that is shown later, and nothing is new, hidden or to be told. */
function copyWith(
  item: Item,
  { registers, states }: Changed,
  view: View,
): Item | undefined {
  if (isPartlyLater(item)) return undefined;
  const draft: DraftItem = { ...item };
  for (const [name, value] of registers) {
    const isPlain = Object.hasOwn(draft, name) &&
      view.fits(name, "register", value);
    if (!isPlain) return undefined;
    draft[name] = value;
  }
  for (const [name, state] of states) {
    const isPlain = Object.hasOwn(draft, name) && !state.isShownLater &&
      view.fits(name, state.merge) &&
      (state.merge !== "counter" || !state.isOver);
    if (!isPlain) return undefined;
    draft[name] = state.show();
  }
  return Object.freeze(draft);
}

function rebuild(
  shape: Shape,
  item: Item,
  registers: ReadonlyMap<string, Value>,
  rich: OrderedMap<string, RichState>,
  view: View,
): Item {
  const values = new Map<string, Value>();
  for (const name of Object.keys(item)) {
    if (name !== "id" && !rich.has(name)) values.set(name, item[name]);
  }
  for (const [name, value] of registers) values.set(name, value);
  return view.build(item.id, shape, values, rich);
}

/** What readers do not see after the change. */
export function hiddenAfter(
  { hidden }: Cell,
  { registers, states }: Changed,
  view: View,
): ReadonlyMap<string, Value> | undefined {
  let after: Map<string, Value> | undefined;
  for (const [name, value] of registers) {
    const fits = view.fitsAsWritten(name, "register", value);
    if (fits && !hidden?.has(name)) continue;
    after ??= new Map(hidden);
    if (fits) after.delete(name);
    else after.set(name, value);
  }
  for (const name of states.keys()) {
    if (hidden?.has(name)) (after ??= new Map(hidden)).delete(name);
  }
  return after === undefined ? hidden : after.size > 0 ? after : undefined;
}
