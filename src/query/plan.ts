/**
 * Choosing how to find rows: by id, by an index, or by a scan. The ids have an
 * index like declared ones, for ranges of them and for pages in their order.
 *
 * Among the indexes that apply, the one with the fewest entries to read wins;
 * one that yields rows in the wanted order may stop early when there is a
 * limit, so only that many entries count.
 *
 * @module
 */

import { bind, type Binding } from "./bind.ts";
import type { Condition } from "./condition.ts";
import type { DeclaredIndex, IndexSet } from "./index_set.ts";
import type { OrderTerm, Place } from "./order.ts";
import type { KeyRange, OrderedIndex } from "./ordered_index.ts";
import type { Source } from "./source.ts";

/** What a query asks, checked. */
export interface Request {
  /** Joined by "and". */
  readonly parts: readonly Condition[];
  readonly order: readonly OrderTerm[];
  /** Rows behind this place only. */
  readonly after: Place | undefined;
  readonly offset: number;
  /** Infinity: no limit. */
  readonly limit: number;
  /** Nobody asked for an order: rows may come as they are found. */
  readonly isFree?: true;
}

/** Which way entries of an index are read to give rows in order. */
export type Reading = "up" | "down" | "unordered";

/** Look these ids up. */
export interface IdPlan {
  readonly what: "ids";
  readonly ids: readonly string[];
  readonly residual: readonly Condition[];
}

/** Read ranges of an index. */
export interface IndexPlan {
  readonly what: "index";
  readonly index: OrderedIndex;
  readonly ranges: readonly KeyRange[];
  /** Leading fields that are equal in all entries read. */
  readonly single: number;
  readonly reading: Reading;
  readonly residual: readonly Condition[];
  /** Entries to read before giving up for a scan. */
  readonly budget: number;
}

/** Look at every item, by columns where they are. */
export interface ScanPlan {
  readonly what: "scan";
}

/** A way to find rows. */
export type Plan = IdPlan | IndexPlan | ScanPlan;

/** The plan for everything that no index helps with. */
const scanPlan: ScanPlan = { what: "scan" };

/** Entries of an index that a condition turns away cost a look at the item. */
const residualFactor = 8;

/** An ordered index without any bound field is read up to this share. */
const walkShare = 16;

/** Chooses a plan. */
export function choosePlan(
  request: Request,
  indexes: IndexSet,
  source: Source,
): Plan {
  const byId = planIds(request.parts);
  if (byId !== undefined) return byId;
  const { declared } = indexes;
  let best: IndexPlan | undefined;
  let bestCost = Infinity;
  for (let i = 0; i < declared.length; i++) {
    const plan = planIndex(request, declared[i]!, indexes, source);
    if (plan === undefined) continue;
    const cost = costOf(plan, request);
    if (cost >= bestCost) continue;
    best = plan;
    bestCost = cost;
  }
  return best ?? scanPlan;
}

function planIds(parts: readonly Condition[]): IdPlan | undefined {
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    if (part.what !== "equal" && part.what !== "in") continue;
    if (part.field !== "id") continue;
    const keys = part.what === "equal" ? [part.key] : part.keys;
    const ids = keys.filter((key) => typeof key === "string");
    return { what: "ids", ids, residual: without(parts, [part]) };
  }
  return undefined;
}

function planIndex(
  request: Request,
  declared: DeclaredIndex,
  indexes: IndexSet,
  source: Source,
): IndexPlan | undefined {
  const { parts } = request;
  const binding = bind(declared.fields, parts);
  const reading = readingOf(request.order, declared.fields, binding);
  const bound = binding.used.length > 0;
  const walks = reading !== "unordered" && request.limit < Infinity;
  if (!bound && !walks) return undefined;
  // Rows in order of their ids are wanted often, and seldom for what else is
  // asked: columns then find them sooner than a walk.
  if (!bound && isOfIds(declared) && parts.length > 0) return undefined;
  const index = indexes.want(declared);
  if (index === undefined) return undefined;
  const residual = without(parts, binding.used);
  const mayGiveUp = !bound && residual.length > 0;
  return {
    what: "index",
    index,
    ranges: binding.ranges,
    single: binding.single,
    reading,
    residual,
    budget: mayGiveUp ? Math.ceil(source.count / walkShare) : Infinity,
  };
}

function isOfIds({ fields }: DeclaredIndex): boolean {
  return fields[0] === "id";
}

function without(
  parts: readonly Condition[],
  used: readonly Condition[],
): readonly Condition[] {
  if (used.length === 0) return parts;
  return parts.filter((part) => !used.includes(part));
}

/** Do entries come in the wanted order: the rest of the fields, all one way? */
function readingOf(
  order: readonly OrderTerm[],
  fields: readonly string[],
  binding: Binding,
): Reading {
  if (binding.ranges.length !== 1) return "unordered";
  let at = binding.single;
  let reading: Reading = "up";
  let first = true;
  for (const { field, descending } of order) {
    const fixed = fields.indexOf(field);
    if (fixed >= 0 && fixed < binding.single) continue;
    if (fields[at] !== field) return "unordered";
    const way = descending ? "down" : "up";
    if (!first && way !== reading) return "unordered";
    reading = way;
    first = false;
    at++;
  }
  // Ids are the order within equals, upwards, also where nobody names them.
  if (fields[at] === "id" && reading === "up") at++;
  return at === fields.length ? reading : "unordered";
}

function costOf(plan: IndexPlan, request: Request): number {
  let entries = 0;
  for (const range of plan.ranges) entries += plan.index.countIn(range);
  if (plan.reading === "unordered") return entries * 2 + 1;
  if (plan.residual.length === 0) {
    return Math.min(entries, request.offset + request.limit);
  }
  const need = (request.offset + request.limit) * residualFactor;
  return Math.min(entries * 2, need) + (plan.budget < Infinity ? need : 0);
}
