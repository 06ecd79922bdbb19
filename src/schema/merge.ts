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
 *
 * @module
 */

import { compareStamps, type Stamp } from "../base/hlc.ts";
import { type Cell, type Origin, valueIn } from "./cell.ts";
import { mergeClassOf } from "./kinds.ts";
import { hiddenAfter, withChanged } from "./merge_item.ts";
import {
  beginState,
  changeState,
  emptyState,
  isRichClass,
  type RichClass,
  stateOfCreate,
} from "./merge_rich.ts";
import { compareText, noStates, type RichState } from "./merge_state.ts";
import { OrderedMap } from "./ordered_map.ts";
import type {
  CreateOperation,
  FieldChange,
  Item,
  MergeClass,
  Operation,
  Shape,
  ShapeField,
  UpdateOperation,
  Value,
} from "./patch.ts";
import type { View } from "./view.ts";

export type { RichState } from "./merge_state.ts";

/** A commit before all others: where a create has not arrived. */
export const nowhere: Origin = Object.freeze({
  wall: 0,
  count: 0,
  chain: "",
  operationsAt: -1,
});

/**
 * What is known of an item after one more operation.
 *
 * @param cell what was known before
 * @param op the operation
 * @param origin the commit that it came in
 * @param createAt where a create lies, from the first operation of its payload
 * @param view what readers see here; decides nothing about the state
 */
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
  if (cell.item === undefined) return cell;
  return op.what === "create"
    ? mergeCreate(cell, op, origin, view)
    : applyUpdate(cell, cell.item, op, origin, view);
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
    const orphan = cellOf(id, generation, item, orphanOf(shape), nowhere, -1);
    return applyUpdate(orphan, item, op, origin, view);
  }
  if (op.what === "delete") {
    return cellOf(id, generation, undefined, orphanOf(shape), origin, -1);
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
  const cell = cellOf(id, generation, shown, shape, origin, createAt);
  if (view.planFor(shape).isFitting) return cell;
  const values = shape.fields.map(({ name }) => [name, item[name]] as const);
  return { ...cell, hidden: view.hidden(shape, values) };
}

function cellOf(
  id: string,
  generation: number,
  item: Item | undefined,
  shape: Shape,
  origin: Origin,
  createAt: number,
): Cell {
  return {
    id,
    generation,
    item,
    shape,
    origin,
    createAt,
    stamps: undefined,
    rich: undefined,
    hidden: undefined,
  };
}

/**
 * Of several deletes the latest is kept, so that all replicas keep the same. The
 * shape that it came with is its author's word, and no field is written by it.
 */
function bury(cell: Cell, origin: Origin): Cell {
  const isKept = cell.item === undefined &&
    compareStamps(cell.origin, origin) >= 0;
  if (isKept) return cell;
  return cellOf(cell.id, cell.generation, undefined, cell.shape, origin, -1);
}

const orphans = new WeakMap<Shape, Shape>();

/** The shape of an item whose create has not arrived: no fields. */
function orphanOf(shape: Shape): Shape {
  let orphan = orphans.get(shape);
  if (orphan === undefined) {
    const { collection } = shape;
    orphan = Object.freeze({ collection, version: 0, fields: [] });
    orphans.set(shape, orphan);
  }
  return orphan;
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
export function stateIn(cell: Cell, name: string, merge: RichClass): RichState {
  const state = cell.rich?.get(name);
  if (state?.merge === merge) return state;
  const field = shapeFieldOf(cell.shape, name);
  if (field === undefined || mergeClassOf(field.kind) !== merge) {
    return emptyState(merge);
  }
  return beginState(merge, valueIn(cell, name), cell.origin);
}

const noStamps = /* @__PURE__ */ OrderedMap.of<string, Stamp>(compareText);

function unlessEmpty<M extends { readonly size: number }>(
  map: M,
): M | undefined {
  return map.size > 0 ? map : undefined;
}

/** What an update changes, gathered before the new cell is made. */
interface Edit {
  readonly registers: Map<string, Value>;
  readonly states: Map<string, RichState>;
  stamps: OrderedMap<string, Stamp>;
}

function applyUpdate(
  cell: Cell,
  item: Item,
  op: UpdateOperation,
  origin: Origin,
  view: View,
): Cell {
  const edit: Edit = {
    registers: new Map(),
    states: new Map(),
    stamps: cell.stamps ?? noStamps,
  };
  for (let i = 0; i < op.changes.length; i++) {
    const change = op.changes[i]!;
    const known = edit.states.get(change.field.name)?.merge ??
      mergeClassIn(cell, change.field.name);
    const merge = mergeClassOf(change.field.kind);
    if (known !== undefined && precedence[merge] < precedence[known]) continue;
    view.meet(change.field.kind);
    if (isRichClass(merge)) editState(cell, edit, change, merge, origin);
    else editRegister(cell, edit, change, origin);
  }
  const { registers, states, stamps } = edit;
  if (registers.size + states.size === 0) return cell;
  let rich = cell.rich ?? noStates;
  for (const [name, state] of states) rich = rich.with(name, state);
  return {
    id: cell.id,
    generation: cell.generation,
    item: withChanged(cell, item, edit, rich, view),
    shape: cell.shape,
    origin: cell.origin,
    createAt: -1,
    stamps: unlessEmpty(stamps),
    rich: unlessEmpty(rich),
    hidden: hiddenAfter(cell, edit, view),
  };
}

function editRegister(
  cell: Cell,
  edit: Edit,
  { field, change }: FieldChange,
  origin: Origin,
): void {
  if (change.what !== "set") return;
  const { name } = field;
  const stamp = edit.stamps.get(name) ?? createStampIn(cell, name);
  if (stamp !== undefined && compareStamps(origin, stamp) < 0) return;
  edit.registers.set(name, change.value);
  // A create that is changed by its own commit keeps its one stamp.
  if (stamp !== undefined && compareStamps(origin, stamp) === 0) return;
  edit.stamps = edit.stamps.with(name, origin);
}

function editState(
  cell: Cell,
  edit: Edit,
  { field, change }: FieldChange,
  merge: RichClass,
  origin: Origin,
): void {
  const { name } = field;
  const state = edit.states.get(name);
  const before = state?.merge === merge ? state : stateIn(cell, name, merge);
  edit.states.set(name, changeState(before, change, origin));
  edit.registers.delete(name);
  edit.stamps = edit.stamps.without(name);
}

/** A register with the commit that wrote it. */
export interface Register {
  readonly stamp: Stamp;
  readonly value: Value;
}

/** A cell with nothing left implicit. */
export interface Expanded {
  readonly registers: Map<string, Register>;
  readonly rich: Map<string, RichState>;
}

/** Every field that anybody wrote, with its own stamp or state. */
export function expand(cell: Cell): Expanded {
  const registers = new Map<string, Register>();
  const rich = new Map<string, RichState>(cell.rich);
  for (const [name, stamp] of cell.stamps ?? []) {
    registers.set(name, { stamp, value: valueIn(cell, name) });
  }
  for (const { name, kind } of cell.shape.fields) {
    if (rich.has(name) || registers.has(name)) continue;
    const merge = mergeClassOf(kind);
    if (isRichClass(merge)) rich.set(name, stateIn(cell, name, merge));
    else {
      const value = valueIn(cell, name);
      registers.set(name, { stamp: cell.origin, value });
    }
  }
  return { registers, rich };
}

function mergeCreate(
  cell: Cell,
  op: CreateOperation,
  origin: Origin,
  view: View,
): Cell {
  const all = expand(cell);
  for (const field of op.shape.fields) {
    mergeField(all, field, op.item[field.name], origin);
  }
  const isLater = compareStamps(origin, cell.origin) >= 0;
  const shape = isLater ? op.shape : cell.shape;
  const base = isLater ? origin : cell.origin;
  for (const field of shape.fields) view.meet(field.kind);
  const values = new Map<string, Value>();
  for (const [name, { value }] of all.registers) values.set(name, value);
  const rich = OrderedMap.of(compareText, [...all.rich]);
  return {
    id: cell.id,
    generation: cell.generation,
    item: view.build(cell.id, shape, values, rich),
    shape,
    origin: base,
    createAt: -1,
    stamps: compress(all.registers, shape, base),
    rich: unlessEmpty(rich),
    hidden: view.hidden(shape, values),
  };
}

function mergeField(
  all: Expanded,
  { name, kind }: ShapeField,
  value: Value,
  origin: Origin,
): void {
  const merge = mergeClassOf(kind);
  const state = all.rich.get(name);
  if (state !== undefined && precedence[merge] < precedence[state.merge]) {
    return;
  }
  if (isRichClass(merge)) {
    const before = state?.merge === merge ? state : emptyState(merge);
    all.rich.set(name, stateOfCreate(before, value, origin));
    all.registers.delete(name);
    return;
  }
  const register = all.registers.get(name);
  const isLost = register !== undefined &&
    compareStamps(register.stamp, origin) > 0;
  if (!isLost) all.registers.set(name, { stamp: origin, value });
}

/** Only the stamps that do not follow from the base. */
function compress(
  registers: ReadonlyMap<string, Register>,
  shape: Shape,
  base: Stamp,
): OrderedMap<string, Stamp> | undefined {
  const stamps: [string, Stamp][] = [];
  for (const [name, { stamp }] of registers) {
    const isImplied = compareStamps(stamp, base) === 0 &&
      shapeFieldOf(shape, name) !== undefined;
    if (!isImplied) stamps.push([name, stamp]);
  }
  return unlessEmpty(OrderedMap.of(compareText, stamps));
}
