/**
 * The kv suite: Sheaf's key-value face beside what people use as key-value
 * stores.
 *
 * One process does one part for one engine: the same keys, values and order of
 * operations, and every answer is checked, outside of the time. Long rows end
 * by time, so that an engine that is slow has fewer samples, not a longer bench.
 *
 * @module
 */

import { durabilityOf, isEmbedded } from "../engines/names.ts";
import type { CaseSpec, Order, Suite } from "../harness/suite.ts";
import { type EngineName, engineNamed, engineNames } from "./open.ts";
import { askedOf, type Part, parts, tables } from "./rows.ts";
import { runTask } from "./run.ts";

const repetitions = 3;
/** One has no spread, which a gate goes by. */
const repetitionsQuick = 2;
const sizeFull = 10_000;
const sizeQuick = 2_000;
/** Less and there is no half to delete, no wave without a key twice. */
const sizeMin = 100;
const sizeMax = 10_000_000;
const msMax = 120_000;
/** Between the rows of `params.asked`; no row has one in its name. */
const separator = "|";

function sizesOf(order: Order): readonly number[] {
  if (order.sizes.length === 0) return [order.isQuick ? sizeQuick : sizeFull];
  for (const size of order.sizes) {
    if (!Number.isInteger(size) || size < sizeMin || size > sizeMax) {
      throw new RangeError(
        `kv: sizes are ${sizeMin} to ${sizeMax}, not ${size}`,
      );
    }
  }
  return order.sizes;
}

/** Engines behind an address take part when there is one. */
function isHere(engine: EngineName, { addresses }: Order): boolean {
  return isEmbedded(engine) || addresses[engine] !== undefined;
}

/** Parts whose data are the same, whatever size is asked for. */
function isSized(part: Part): boolean {
  return part !== "scan" && part !== "beside";
}

function cases(order: Order): CaseSpec[] {
  const specs: CaseSpec[] = [];
  for (const [nth, size] of sizesOf(order).entries()) {
    for (const part of parts) {
      if (nth > 0 && !isSized(part)) continue;
      for (const engine of engineNames) {
        const asked = askedOf(order, part, engine);
        const [operation] = asked;
        if (operation === undefined || !isHere(engine, order)) continue;
        specs.push({
          suite: "kv",
          name: `${part}, ${size}`,
          table: tables[part],
          operation,
          engine,
          durability: isEmbedded(engine) ? durabilityOf(engine) : "none",
          size,
          repetitions: order.isQuick ? repetitionsQuick : repetitions,
          msMax,
          params: { part, asked: asked.join(separator) },
        });
      }
    }
  }
  return specs;
}

function partOf(value: unknown): Part {
  const part = parts.find((one) => one === value);
  if (part === undefined) throw new RangeError(`kv has no part ${value}`);
  return part;
}

/** The key-value stores. */
export const suite: Suite = {
  name: "kv",
  peers: ["lmdb", "classic-level", "ioredis", "pg"],
  cases,
  run: (spec, stage) =>
    runTask({
      part: partOf(spec.params["part"]),
      engine: engineNamed(spec.engine),
      size: spec.size,
      stage,
      asked: String(spec.params["asked"]).split(separator),
    }),
};
