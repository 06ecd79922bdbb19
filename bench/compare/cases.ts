/**
 * The cases of the suite `compare`: three ways to insert, and after the third
 * reading in two new processes.
 *
 * @module
 */

import type { CaseSpec, Order } from "../harness/suite.ts";
import { entries, type Entry } from "./engines.ts";

/** What a case does. */
export type Work = "one" | "hundreds" | "all";

/** Who must make several transactions of one. */
const smaller = entries.flatMap(({ name, perTransactionMax: most }) =>
  most === undefined ? [] : [`${name}: ${most} in each`]
).join(", ");

/** Names of tables and rows. */
export const rows = {
  insert: "insert",
  read: "read",
  space: "memory and disk",
  one: "one at a time",
  hundreds: "100 in one transaction",
  all: `all in one transaction (${smaller})`,
  first: "first by id after open, new process",
  byId: "one by id, at random",
  coldEvery: "open and all, new process",
  every: "all, again and again in one process",
  resident: "resident memory, opened and one read",
  peak: "peak memory, all read",
  disk: "bytes on disk, inserted in one transaction",
  diskHundreds: "bytes on disk, inserted by hundreds",
} as const;

/** How many go into one transaction of the case `hundreds`. */
export const hundred = 100;

const sizeUsual = 20_000;
const sizeQuick = 1_000;
/**
 * Who takes many seconds for all of the usual number gets so many, in a race of
 * their own; these run beside them, so that they have somebody to be held
 * against.
 */
const sizeSlow = 5_000;
const besideSlow: readonly string[] = [
  "sheaf-default",
  "sheaf-fast",
  "sqlite-full",
  "sqlite-off",
];
/** Less than this gives no second batch of a hundred after the warm one. */
const sizeMin = 300;
/** The slowest rival needs a fifth of it on a machine with nothing else to do. */
const msMax = 120_000;

interface Row {
  readonly table: string;
  readonly operation: string;
}

/** The rows that each work gives; the first is the case's own. */
const rowsOf: Readonly<Record<Work, readonly [Row, ...Row[]]>> = {
  one: [{ table: rows.insert, operation: rows.one }],
  hundreds: [
    { table: rows.insert, operation: rows.hundreds },
    { table: rows.space, operation: rows.diskHundreds },
  ],
  all: [
    { table: rows.insert, operation: rows.all },
    { table: rows.read, operation: rows.first },
    { table: rows.read, operation: rows.byId },
    { table: rows.read, operation: rows.coldEvery },
    { table: rows.read, operation: rows.every },
    { table: rows.space, operation: rows.disk },
    { table: rows.space, operation: rows.resident },
    { table: rows.space, operation: rows.peak },
  ],
};

const works: readonly Work[] = ["one", "hundreds", "all"];

/** All cases that were ordered. */
export function casesOf(order: Order): CaseSpec[] {
  const chosen = entries.filter(({ name }) => isWanted(name, order));
  const asked = works.filter((work) => isAsked(work, order.filter));
  const racesOf = (size: number, who = chosen, what = asked): CaseSpec[] =>
    what.flatMap((work) =>
      who.map((entry) => specOf(work, entry, size, order.isQuick))
    );
  if (order.sizes.length > 0) {
    return order.sizes.flatMap((size) => racesOf(size));
  }
  if (order.isQuick) return racesOf(sizeQuick);
  const isSlow = ({ name, isSlow }: Entry) =>
    isSlow || besideSlow.includes(name);
  // Singles and hundreds end by time.
  const all = asked.filter((work) => work === "all");
  return [
    ...racesOf(sizeUsual, chosen, asked.filter((work) => work !== "all")),
    ...racesOf(sizeUsual, chosen.filter(({ isSlow }) => !isSlow), all),
    ...racesOf(sizeSlow, chosen.filter(isSlow), all),
  ];
}

function isWanted(name: string, { engines }: Order): boolean {
  return engines.length === 0 || engines.some((part) => name.includes(part));
}

function isAsked(work: Work, filter: string): boolean {
  return rowsOf[work].some(({ table, operation }) =>
    `${table} ${operation}`.includes(filter)
  );
}

function specOf(
  work: Work,
  { name, durability }: Entry,
  size: number,
  isQuick: boolean,
): CaseSpec {
  if (!Number.isSafeInteger(size) || size < sizeMin) {
    throw new RangeError(
      `the suite compare takes ${sizeMin} items or more, not ${size}`,
    );
  }
  const [row] = rowsOf[work];
  return {
    suite: "compare",
    name: `${work} ${size}`,
    table: row.table,
    operation: row.operation,
    engine: name,
    durability: durability,
    size,
    repetitions: isQuick ? 1 : 3,
    msMax,
    params: { work },
  };
}
