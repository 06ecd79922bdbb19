/**
 * How far counters count. Sums are exact at any size, but a sum beyond
 * `limits.countMax` is shown rounded: bounds, rules and readers would not see
 * that it changes. Asked of own writes and at the gate.
 */

import { limits } from "../base/limits.ts";
import type { Operation } from "./patch.ts";

/** May a counter go there? From too far away it may come nearer. */
export function mayCount(from: bigint, to: bigint): boolean {
  const size = sizeOf(to);
  return size <= limits.countMax || size < sizeOf(from);
}

function sizeOf(sum: bigint): bigint {
  return sum < 0n ? -sum : sum;
}

/** What an operation adds to counters, by field, in its order. */
export function countedBy(operation: Operation): readonly [string, number][] {
  const counted: [string, number][] = [];
  if (operation.what === "create") {
    for (const { name, kind } of operation.shape.fields) {
      const value = kind === "counter" ? operation.item[name] : undefined;
      if (typeof value === "number" && value !== 0) counted.push([name, value]);
    }
  } else if (operation.what === "update") {
    for (const { field: { name }, change } of operation.changes) {
      if (change.what === "increment") counted.push([name, change.amount]);
    }
  }
  return counted;
}
