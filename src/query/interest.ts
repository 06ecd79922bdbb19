/**
 * What can touch the rows of a live query, read from what it asks: values of
 * some fields, or a span of values of one, or both. Of alternatives each says its
 * own. Where nothing of that kind is asked for, anything can.
 *
 *     author = ada, rank from 3 to 9            (author "ada", rank 3 … 9)
 *     done = false, ten by rank                 (done "0", rank … the last one here)
 *     author = ada or title starts with "a"     (author "ada"), (title "a" … "b")
 *
 * Architecture invariant: whatever may enter the result lies within. What lies
 * within may still not enter: a live result tests what it is told of.
 */

import { limits } from "../base/limits.ts";
import type { FieldKind, Value } from "../schema/patch.ts";
import type { Source } from "../schema/source.ts";
import {
  type Condition,
  type Contains,
  type Prefix,
  type Range,
  textAfter,
} from "./condition.ts";
import type { Request } from "./plan.ts";
import { everything, intersection, type Span } from "./spans.ts";
import { isNumeric, type Key } from "./value.ts";

export type NamedField = readonly [name: string, kind: FieldKind];

/** Items with some values, and with one within a span. */
export interface Route {
  readonly fields: readonly NamedField[];
  /** {@linkcode jointKey}s of these fields: any of them. */
  readonly keys: readonly string[];
  /** Whose value lies within the span. */
  readonly spanned?: NamedField | undefined;
  readonly span: Span;
  /** Does the window's reach count, too? */
  readonly isCut: boolean;
}

/** Items by ordinal, as a live result has them; who is told of each hears of no other. */
export class Held<T> extends Map<number, T> {
  #hold: ((ordinal: number) => void) | undefined;
  #release: ((ordinal: number) => void) | undefined;

  /** Tells of each ordinal that is held, and then of those that come and go. */
  watch(
    hold: (ordinal: number) => void,
    release: (ordinal: number) => void,
  ): void {
    for (const ordinal of this.keys()) hold(ordinal);
    this.#hold = hold;
    this.#release = release;
  }

  /** Tells that none is held, and of nothing more. */
  unwatch(): void {
    for (const ordinal of this.keys()) this.#release?.(ordinal);
    this.#hold = this.#release = undefined;
  }

  override set(ordinal: number, value: T): this {
    this.#hold?.(ordinal);
    return super.set(ordinal, value);
  }

  override delete(ordinal: number): boolean {
    this.#release?.(ordinal);
    return super.delete(ordinal);
  }

  override clear(): void {
    for (const ordinal of this.keys()) this.#release?.(ordinal);
    super.clear();
  }
}

/** A window over ordered rows. */
export interface Cut {
  /** The first field that it is ordered by. */
  readonly by: NamedField;
  /** Values of that field which matter now. */
  reach(): Span;
}

/** What can touch a live result. */
export interface Interest {
  /** Any of them. */
  readonly routes: readonly Route[];
  /** Items that it has, whatever their values are now; absent where ids alone say it. */
  readonly held?: Held<unknown>;
  readonly cut?: Cut | undefined;
}

/** One text for a key of each field. Two may have the same: a live result tests what it is told of. */
export function jointKey(keys: readonly Key[]): string {
  return keys.join("\0");
}

/** Has a field of this kind many elements, or keys? */
export function hasElements(kind: FieldKind): boolean {
  return kind === "set" || kind === "list" || kind === "map";
}

function asksForElement(part: Condition): part is Contains {
  return part.what === "contains" && hasElements(part.kind);
}

/** The same for elements that are the same. */
function elementKey(value: Value): string {
  if (typeof value !== "object") return `${typeof value} ${value}`;
  return value instanceof Date ? `${value.getTime()}` : "object";
}

/** The keys of all elements of a set or list, or of all keys of a map. */
export function elementKeys(value: Value): string[] {
  if (typeof value !== "object" || value === null) return [];
  const elements = Array.isArray(value) ? value : Object.keys(value);
  return [...new Set(elements.map(elementKey))];
}

/**
 * A result of so many items, and of more than this share of all, is touched by
 * most writes: to note who has which would cost more than to hear of each.
 */
const largeCount = 4_096;
const largeShare = 8;

/** What can touch the rows of a request; `undefined` for anything. */
export function interestOf(
  { count }: Source,
  request: Request,
  held: Held<unknown>,
  cut?: Cut,
): Interest | undefined {
  const { size } = held;
  if (size >= largeCount && size * largeShare > count) return undefined;
  const isCut = request.limit < Infinity || request.after !== undefined;
  const window = isCut ? cut : undefined;
  const routes = routesOf(request.parts, window?.by);
  if (window === undefined) return routes && { routes, held };
  const [first = anything, ...others] = routes ?? [];
  // Of many places all would move with the window.
  const isOne = others.length === 0 && first.keys.length === 1;
  const isMatched = routes === undefined || routes.length > 0;
  return isMatched && isOne && !isClosed(first, window.by)
    ? { routes: [cutBy(first, window.by)], held, cut: window }
    : { routes: routes!, held };
}

const anything: Route = {
  fields: [],
  keys: [""],
  span: everything,
  isCut: false,
};

/** One item, whatever becomes of it. */
export function routeOfId(id: string): Route {
  return { ...anything, fields: [["id", "string"]], keys: [jointKey([id])] };
}

/** Is it bound at both ends by another field than the window's? */
function isClosed({ spanned, span }: Route, by: NamedField): boolean {
  return spanned !== undefined && spanned[0] !== by[0] && hasEnds(span);
}

function cutBy(route: Route, by: NamedField): Route {
  const span = route.spanned?.[0] === by[0] ? route.span : everything;
  return { ...route, spanned: by, span, isCut: true };
}

/**
 * `undefined` when anything may satisfy these. Where alternatives stand beside
 * others one of them is enough: together they could be too many.
 */
function routesOf(
  parts: readonly Condition[],
  by: NamedField | undefined,
): Route[] | undefined {
  const certain = parts.filter((part) => part.what !== "any");
  for (const part of parts) {
    if (part.what !== "any") continue;
    const routes = alternatives(certain, part.parts, by);
    if (routes !== undefined) return routes;
  }
  const own = routeOf(certain, by);
  return own && [own];
}

function alternatives(
  certain: readonly Condition[],
  options: readonly Condition[],
  by: NamedField | undefined,
): Route[] | undefined {
  const all: Route[] = [];
  let keys = 0;
  for (const option of options) {
    const more = option.what === "all" ? option.parts : [option];
    const routes = routesOf([...certain, ...more], by);
    if (routes === undefined) return undefined;
    for (const route of routes) keys += route.keys.length;
    if (keys > limits.elementsMax) return undefined;
    all.push(...routes);
  }
  return all;
}

/** What conditions that hold together say. */
function routeOf(
  parts: readonly Condition[],
  by: NamedField | undefined,
): Route | undefined {
  const { fields, keys } = boundBy(parts);
  const { spanned, span } = spannedBy(parts, by);
  if (fields.length === 0 && spanned === undefined) return undefined;
  return { fields, keys, spanned, span, isCut: false };
}

/** All fields with one value, and last the one with the fewest of several, or one with an element. */
function boundBy(parts: readonly Condition[]): Pick<Route, "fields" | "keys"> {
  const equal = parts.filter((part) => part.what === "equal");
  const some = parts.filter((part) => part.what === "in")
    .sort((a, b) => a.keys.length - b.keys.length).at(0);
  const last = some ?? parts.find(asksForElement);
  const bound = last === undefined ? equal : [...equal, last];
  const fields = bound.map(({ field, kind }) => [field, kind] as const);
  const keys = equal.map(({ key }) => key);
  if (last === undefined) return { fields, keys: [jointKey(keys)] };
  const any = last.what === "in" ? last.keys : [elementKey(last.value)];
  const joint = any.map((key) => jointKey([...keys, key]));
  return { fields, keys: [...new Set(joint)] };
}

/** Of spans of several fields the one with two ends, or that of `by`, or the first. */
function spannedBy(
  parts: readonly Condition[],
  by: NamedField | undefined,
): Pick<Route, "spanned" | "span"> {
  const spans = new Map<string, { spanned: NamedField; span: Span }>();
  for (const part of parts) {
    if (part.what !== "range" && part.what !== "prefix") continue;
    const { field, kind } = part;
    const known = spans.get(field)?.span ?? everything;
    const span = intersection(known, spanOf(part));
    spans.set(field, { spanned: [field, kind], span });
  }
  const all = [...spans.values()];
  return all.find(({ span }) => hasEnds(span)) ??
    (by && spans.get(by[0])) ?? all[0] ?? { span: everything };
}

/** Nothing absent satisfies a range or a prefix. */
function spanOf(part: Range | Prefix): Span {
  if (part.what === "prefix") {
    return { low: part.text, high: textAfter(part.text) ?? null };
  }
  const { kind, low, high } = part;
  return { low: low ?? (isNumeric(kind) ? -Infinity : ""), high: high ?? null };
}

function hasEnds({ low, high }: Span): boolean {
  return low !== undefined && low !== "" && low !== -Infinity &&
    high !== null && high !== Infinity;
}
