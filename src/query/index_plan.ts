/**
 * Choosing an index. The ids have one like declared ones, for ranges of them and
 * for pages in their order.
 *
 * Among the indexes that apply, the one with the fewest entries to read wins;
 * one that yields rows in the wanted order may stop early when there is a
 * limit, so only that many entries count.
 *
 * @module
 */

import { bind, type Binding } from "./bind.ts";
import type { DeclaredIndex, IndexSet } from "./index_set.ts";
import type { OrderTerm } from "./order.ts";
import { type IndexPlan, type Reading, type Request, without } from "./plan.ts";
import type { Source } from "./source.ts";

/** Entries of an index that a condition turns away cost a look at the item. */
const residualFactor = 8;

/** An ordered index without any bound field is read up to this share. */
const walkShare = 16;

/** The index that answers a request best, if any does. */
export function chooseIndex(
  request: Request,
  indexes: IndexSet,
  source: Source,
): IndexPlan | undefined {
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
  return best;
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
