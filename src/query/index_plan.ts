/**
 * Choosing an index. The ids have one like declared ones, for ranges of them and
 * for pages in their order.
 *
 * Among the indexes that apply, the one with the fewest entries to read wins;
 * one that yields rows in the wanted order may stop early when there is a
 * limit, so only that many entries count.
 *
 * An index answers leading fields that are bound by equality, each `in` fanning
 * out into several, then at most one range.
 */

import {
  type Condition,
  type Equal,
  type In,
  type Prefix,
  type Range,
  textAfter,
} from "./condition.ts";
import type { OrderTerm } from "./order.ts";
import type { KeyRange, OrderedIndex } from "./ordered_index.ts";
import { type IndexPlan, type Reading, type Request, without } from "./plan.ts";
import type { Key } from "./value.ts";

/** Entries of an index that a condition turns away cost a look at the item. */
const residualFactor = 8;

/** An ordered index without any bound field is read up to this share. */
const walkShare = 16;

export interface IndexOption {
  readonly fields: readonly string[];
  /** The index, if it is there or worth building now. */
  want(): OrderedIndex | undefined;
}

/** The index that answers a request over `count` items best, if any does. */
export function chooseIndex(
  request: Request,
  options: readonly IndexOption[],
  count: number,
): IndexPlan | undefined {
  let best: IndexPlan | undefined;
  let bestCost = Infinity;
  for (let i = 0; i < options.length; i++) {
    const plan = planIndex(request, options[i]!, count);
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
  option: IndexOption,
  count: number,
): IndexPlan | undefined {
  const { parts } = request;
  const { fields } = option;
  const binding = bind(fields, parts);
  const reading = readingOf(request.order, fields, binding);
  const bound = binding.used.length > 0;
  const walks = reading !== "unordered" && request.limit < Infinity;
  if (!bound && !walks) return undefined;
  // Rows in order of their ids are wanted often, and seldom for what else is
  // asked: columns then find them sooner than a walk.
  if (!bound && fields[0] === "id" && parts.length > 0) return undefined;
  const index = option.want();
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
    budget: mayGiveUp ? Math.ceil(count / walkShare) : Infinity,
  };
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

/** More ranges than this are no better than a scan. */
const rangesMax = 1_024;

export interface Binding {
  readonly ranges: readonly KeyRange[];
  /** Leading fields that have one value in all that is found. */
  readonly single: number;
  /** Conditions that hold for everything in the ranges. */
  readonly used: readonly Condition[];
}

/** Binds conditions, joined by "and", to the leading fields of an index. */
export function bind(
  fields: readonly string[],
  parts: readonly Condition[],
): Binding {
  let prefixes: Key[][] = [[]];
  const used: Condition[] = [];
  let single = 0;
  let at = 0;
  for (; at < fields.length; at++) {
    const leaf = findEqual(parts, fields[at]!);
    if (leaf === undefined) break;
    const keys = leaf.what === "equal" ? [leaf.key] : leaf.keys;
    if (prefixes.length * keys.length > rangesMax) break;
    prefixes = extend(prefixes, keys);
    used.push(leaf);
    if (keys.length === 1 && single === at) single++;
  }
  const range = at < fields.length ? findRange(parts, fields[at]!) : undefined;
  if (range !== undefined) used.push(range);
  const ranges = prefixes.map((prefix) => rangeFrom(prefix, range));
  return { ranges, single, used };
}

function findEqual(
  parts: readonly Condition[],
  field: string,
): Equal | In | undefined {
  for (const part of parts) {
    if (
      (part.what === "equal" || part.what === "in") && part.field === field
    ) return part;
  }
  return undefined;
}

function findRange(
  parts: readonly Condition[],
  field: string,
): Range | Prefix | undefined {
  for (const part of parts) {
    if (
      (part.what === "range" || part.what === "prefix") && part.field === field
    ) return part;
  }
  return undefined;
}

/** An index never holds -Infinity: nothing there equals it. */
function extend(prefixes: readonly Key[][], keys: readonly Key[]): Key[][] {
  const extended: Key[][] = [];
  for (const prefix of prefixes) {
    for (const key of keys) {
      if (key !== -Infinity) extended.push([...prefix, key]);
    }
  }
  return extended;
}

function rangeFrom(
  prefix: readonly Key[],
  leaf: Range | Prefix | undefined,
): KeyRange {
  if (leaf === undefined) {
    return { low: prefix, lowAfter: false, high: prefix, highAfter: true };
  }
  if (leaf.what === "prefix") return textRange(prefix, leaf.text);
  const { low, high } = leaf;
  return {
    // An open start lies behind the absent ones, which no range matches.
    low: [...prefix, low],
    lowAfter: low === undefined || low === -Infinity || leaf.lowOpen,
    high: high === undefined ? prefix : [...prefix, high],
    highAfter: high === undefined || high === -Infinity || !leaf.highOpen,
  };
}

function textRange(prefix: readonly Key[], text: string): KeyRange {
  const end = textAfter(text);
  return {
    low: [...prefix, text],
    lowAfter: false,
    high: end === undefined ? prefix : [...prefix, end],
    highAfter: end === undefined,
  };
}
