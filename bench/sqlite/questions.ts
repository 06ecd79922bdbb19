/**
 * The questions that reading and opening workloads ask.
 *
 * A question's timed part takes the whole answer: plain objects with every
 * field in place. What it gives adds up all their fields (see `touch`) outside
 * the timed part, and that sum is held against the model after every run; its
 * check compares whole items, field by field.
 *
 * @module
 */

import { numbers } from "../harness/scramble.ts";
import type { Database } from "./engine.ts";
import {
  authorCount,
  authorName,
  difference,
  idOf,
  type Item,
  rankEnd,
  touch,
  touchAll,
} from "../harness/items.ts";
import type { Model } from "./model.ts";

/** One question that can be asked again and again. */
export interface Question {
  /** Answers in one asking. */
  readonly burst: number;
  /** Chooses what is asked next. */
  choose(): void;
  /** Timed: takes the whole answer. What it gives adds the answer up, untimed. */
  ask(database: Database): () => number;
  /** The sum that the asking must have given. */
  expected(): number;
  /** Compares an answer in full; says what is wrong with it. */
  check(database: Database): string | undefined;
}

/** The names of all questions. */
export type QuestionName = keyof typeof makers;

/** A question about what `model` describes. */
export function question(name: QuestionName, model: Model): Question {
  return makers[name](model);
}

const makers = {
  "get": (model: Model): Question => getOne(model, 100),
  "get-first": (model: Model): Question => getOne(model, 100, eachOnce(model)),
  "first": (model: Model): Question => getOne(model, 1),
  "thousand": (model: Model): Question => getOne(model, 1_000),
  "get-many": getMany,
  "few": (model: Model): Question =>
    rankRange(model, 10 / Math.max(model.size, 10)),
  "some": (model: Model): Question => rankRange(model, 0.03),
  "top": topOpen,
  "count": count,
  "keys": keys,
  "all": all,
};

/** Different inputs are chosen among this many, so that their sums are computed once. */
const variantCount = 8;

/** Numbers of items, any of them at any time. */
function atRandom({ size }: Model): () => number {
  const next = numbers(1);
  return () => next(size);
}

/** Numbers of items, far apart: each comes once before any comes again. */
function eachOnce({ size }: Model): () => number {
  const isCoprime = (a: number, b: number): boolean =>
    b === 0 ? a === 1 : isCoprime(b, a % b);
  let step = Math.max(1, Math.round(size * 0.618));
  while (!isCoprime(step, size)) step++;
  let at = 0;
  return () => at = (at + step) % size;
}

function getOne(
  model: Model,
  burst: number,
  next = atRandom(model),
): Question {
  let picks: number[] = [];
  let ids: string[] = [];
  return {
    burst,
    choose() {
      picks = Array.from({ length: burst }, next);
      ids = picks.map(idOf);
    },
    ask(database) {
      const items: (Item | undefined)[] = new Array(ids.length);
      for (let i = 0; i < ids.length; i++) items[i] = database.get(ids[i]!);
      return () => touchAll(items.filter((item) => item !== undefined));
    },
    expected: () => sumOf(model, picks),
    check(database) {
      if (database.get("no-such-item") !== undefined) {
        return "an id that nobody wrote was found";
      }
      return compareAll(
        picks.map((at, place) => database.get(ids[place] ?? idOf(at))),
        model,
        picks,
      );
    },
  };
}

function getMany(model: Model): Question {
  const next = numbers(2);
  const wanted = Math.min(100, model.size);
  let picks: number[] = [];
  let ids: string[] = [];
  return {
    burst: 1,
    choose() {
      const chosen = new Set<number>();
      while (chosen.size < wanted) chosen.add(next(model.size));
      picks = [...chosen];
      ids = picks.map(idOf);
    },
    ask(database) {
      const items = database.getMany(ids);
      return () => touchAll(items);
    },
    expected: () => sumOf(model, picks),
    check: (database) => compareSet(database.getMany(ids), model, picks),
  };
}

function rankRange(model: Model, share: number): Question {
  const next = numbers(3);
  const width = Math.ceil(share * rankEnd);
  const starts = Array.from(
    { length: variantCount },
    () => next(rankEnd - width),
  );
  const sums = new Map<number, number>();
  let from = starts[0] ?? 0;
  return {
    burst: 1,
    choose() {
      from = starts[next(variantCount)] ?? 0;
    },
    ask(database) {
      const items = database.inRankRange(from, from + width);
      return () => touchAll(items);
    },
    expected: () =>
      remembered(
        sums,
        from,
        () => sumOf(model, model.inRankRange(from, from + width)),
      ),
    check: (database) =>
      compareSet(
        database.inRankRange(from, from + width),
        model,
        model.inRankRange(from, from + width),
      ),
  };
}

function topOpen(model: Model): Question {
  const next = numbers(4);
  const limit = 50;
  const sums = new Map<number, number>();
  let author = 0;
  return {
    burst: 1,
    choose() {
      author = next(Math.min(variantCount, authorCount));
    },
    ask(database) {
      const items = database.topOpen(authorName(author), limit);
      return () => touchAll(items);
    },
    expected: () =>
      remembered(
        sums,
        author,
        () => sumOf(model, model.topOpen(authorName(author), limit)),
      ),
    check(database) {
      const wanted = model.topOpen(authorName(author), limit);
      return compareAll(
        database.topOpen(authorName(author), limit),
        model,
        wanted,
      );
    },
  };
}

function count(model: Model): Question {
  return {
    burst: 10,
    choose() {},
    ask(database) {
      let sum = 0;
      for (let turn = 0; turn < 10; turn++) sum += database.count();
      return () => sum;
    },
    expected: () => 10 * model.size,
    check: (database) =>
      database.count() === model.size
        ? undefined
        : `count is ${database.count()}, not ${model.size}`,
  };
}

function keys(model: Model): Question {
  return {
    burst: 1,
    choose() {},
    ask(database) {
      const keys = database.keys();
      return () => keys.reduce((sum, key) => sum + key.length, 0);
    },
    expected: () => model.size * idOf(0).length,
    check(database) {
      const found = new Set(database.keys());
      if (found.size !== model.size) {
        return `${found.size} keys, not ${model.size}`;
      }
      for (let at = 0; at < model.size; at++) {
        if (!found.has(idOf(at))) return `key ${idOf(at)} is missing`;
      }
      return undefined;
    },
  };
}

function all(model: Model): Question {
  const indexes = (): number[] =>
    Array.from({ length: model.size }, (_, at) => at);
  let sum: number | undefined;
  return {
    burst: 1,
    choose() {},
    ask(database) {
      const items = database.all();
      return () => touchAll(items);
    },
    expected: () => sum ??= sumOf(model, indexes()),
    check: (database) => compareSet(database.all(), model, indexes()),
  };
}

function remembered(
  sums: Map<number, number>,
  key: number,
  compute: () => number,
): number {
  const known = sums.get(key);
  if (known !== undefined) return known;
  const sum = compute();
  sums.set(key, sum);
  return sum;
}

function sumOf(model: Model, indexes: readonly number[]): number {
  let sum = 0;
  for (const index of indexes) sum += touch(model.item(index));
  return sum;
}

/** Compares answers one by one, in order. */
export function compareAll(
  got: readonly (Item | undefined)[],
  model: Model,
  wanted: readonly number[],
): string | undefined {
  if (got.length !== wanted.length) {
    return `${got.length} items, not ${wanted.length}`;
  }
  for (let at = 0; at < wanted.length; at++) {
    const wrong = difference(got[at], model.item(wanted[at] ?? 0));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** Compares answers whatever their order. */
function compareSet(
  got: readonly Item[],
  model: Model,
  wanted: readonly number[],
): string | undefined {
  if (got.length !== wanted.length) {
    return `${got.length} items, not ${wanted.length}`;
  }
  const byId = new Map(got.map((item) => [item.id, item]));
  for (const index of wanted) {
    const item = model.item(index);
    const wrong = difference(byId.get(item.id), item);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
