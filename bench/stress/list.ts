/**
 * The classic list: insert all players, create, read, update and delete some,
 * ask 27 questions, update 1,001, delete 101; one operation at a time, each
 * acknowledged before the next, or in transactions.
 *
 * Timed are the calls and their acknowledgement, with every field of every
 * answer read. Players are made, and answers held against the roster, outside.
 *
 * @module
 */

import { type Ask, asksOf } from "./asks.ts";
import {
  type Change,
  changeAt,
  difference,
  idOf,
  type Player,
  playerAt,
  playersBetween,
  touch,
  touchAll,
} from "./players.ts";
import type { Roster } from "./roster.ts";
import { type Findings, rows, steps } from "./rows.ts";
import type { PlayerStore } from "./store.ts";
import { sum, timed, timedNow } from "./timing.ts";

/** How the list is run. */
export interface ListOrder {
  /** Players inserted. */
  readonly size: number;
  /** Of these, the last so many one at a time; the others come before, untimed. 0: all in transactions. */
  readonly singles: number;
  /** After loading, untimed: what the engine's manual advises. */
  readonly learn: () => void;
}

/** Players that come and go again before the questions. */
export const passing = 100;
const updates = 1_001;
const deletes = 101;
/** Greater loads are several transactions. */
export const transactionPlayers = 10_000;

/** One step: the time of each of its calls, and what was wrong with an answer. */
interface Step {
  readonly samples: readonly number[];
  readonly wrong: string | undefined;
}

/** Runs the list on an empty store; `roster` knows afterwards what must be there. */
export async function runList(
  store: PlayerStore,
  roster: Roster,
  order: ListOrder,
  findings: Findings,
): Promise<void> {
  const isSingle = order.singles > 0;
  const insert = await insertAll(store, roster, order);
  order.learn();
  const crud = isSingle
    ? await crudSingly(store, order.size)
    : await crudTogether(store, order.size);
  const asked = askAll(store, roster, asksOf(order.size));
  const update = await updateSome(store, roster, order, isSingle);
  const remove = await removeSome(store, roster, order, isSingle);
  const taken = { insert, crud, update, remove };
  const isWhole = !isSingle || order.singles === order.size;
  for (const name of Object.keys(taken) as (keyof typeof taken)[]) {
    const { samples, wrong } = taken[name];
    const [total, each] = steps[name];
    if (name !== "insert" || isWhole) {
      findings.times(total, [sum(samples)], { wrong });
    }
    if (isSingle) findings.times(each, samples, { wrong });
  }
  const { samples, wrong } = asked;
  findings.times(rows.asks, [sum(samples)], { durability: "none", wrong });
  if (!isWhole) return;
  const all = [...Object.values(taken), asked];
  findings.times(rows.list, [sum(all.map((step) => sum(step.samples)))], {
    wrong: all.find((step) => step.wrong !== undefined)?.wrong,
  });
}

async function insertAll(
  store: PlayerStore,
  roster: Roster,
  { size, singles }: ListOrder,
): Promise<Step> {
  const samples: number[] = [];
  for (let from = 0; from < size - singles; from += transactionPlayers) {
    const to = Math.min(size - singles, from + transactionPlayers);
    const players = playersBetween(from, to);
    const ms = await timed(() => store.createMany(players));
    if (singles === 0) samples.push(ms);
  }
  for (const player of playersBetween(size - singles, size)) {
    samples.push(await timed(() => store.create(player)));
  }
  roster.add(0, size);
  const found = store.count();
  const wrong = found === size ? undefined : `${found} players, not ${size}`;
  return { samples, wrong };
}

/** What a passing player must be when it is read. */
function checkPassing(
  got: readonly (Player | undefined)[],
  wanted: readonly Player[],
): string | undefined {
  for (const [at, player] of wanted.entries()) {
    const wrong = difference(got[at], player);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

async function crudSingly(store: PlayerStore, size: number): Promise<Step> {
  const samples: number[] = [];
  let wrong: string | undefined;
  for (let index = size; index < size + passing; index++) {
    const [player, change] = [playerAt(index), changeAt(index, 1)];
    const got: (Player | undefined)[] = [];
    const read = () => {
      const found = store.get(player.id);
      if (found !== undefined) touch(found);
      got.push(found);
    };
    let ms = await timed(() => store.create(player));
    ms += timedNow(read);
    ms += await timed(() => store.update(change));
    ms += timedNow(read);
    ms += await timed(() => store.remove(player.id));
    ms += timedNow(read);
    samples.push(ms);
    wrong ??= checkPassing(got, [player, playerAt(index, 1)]);
    if (got[2] !== undefined) wrong ??= `player ${player.id} is still there`;
  }
  return { samples, wrong };
}

async function crudTogether(store: PlayerStore, size: number): Promise<Step> {
  const indexes = Array.from({ length: passing }, (_, at) => size + at);
  const players = indexes.map((index) => playerAt(index));
  const changes = indexes.map((index) => changeAt(index, 1));
  const ids = players.map(({ id }) => id);
  const samples: number[] = [];
  const got: (readonly Player[])[] = [];
  const read = () => {
    const found = store.getMany(ids);
    touchAll(found);
    got.push(found);
  };
  samples.push(await timed(() => store.createMany(players)));
  samples.push(timedNow(read));
  samples.push(await timed(() => store.updateMany(changes)));
  samples.push(timedNow(read));
  samples.push(await timed(() => store.removeMany(ids)));
  samples.push(timedNow(read));
  const sorted = got.map((found) =>
    found.toSorted((a, b) => a.createdAt - b.createdAt)
  );
  const wrong = checkPassing(sorted[0] ?? [], players) ??
    checkPassing(sorted[1] ?? [], indexes.map((index) => playerAt(index, 1))) ??
    (got[2]?.length === 0 ? undefined : "deleted players are still there");
  return { samples, wrong };
}

function askAll(
  store: PlayerStore,
  roster: Roster,
  asks: readonly Ask[],
): Step {
  const samples: number[] = [];
  const answers: (readonly Player[])[] = [];
  for (const ask of asks) {
    samples.push(timedNow(() => {
      const found = store.ask(ask);
      touchAll(found);
      answers.push(found);
    }));
  }
  let wrong: string | undefined;
  for (const [at, ask] of asks.entries()) {
    wrong ??= roster.check(ask, answers[at] ?? []);
  }
  return { samples, wrong };
}

/** `count` different numbers below `size`, evenly spread. */
function spread(count: number, size: number): number[] {
  const length = Math.min(count, size);
  return Array.from(
    { length },
    (_, at) => Math.floor(at * size / length),
  );
}

async function updateSome(
  store: PlayerStore,
  roster: Roster,
  { size }: ListOrder,
  isSingle: boolean,
): Promise<Step> {
  const chosen = spread(updates, size);
  const changes: Change[] = chosen.map((index) => changeAt(index, 1));
  const samples: number[] = [];
  if (isSingle) {
    for (const change of changes) {
      samples.push(await timed(() => store.update(change)));
    }
  } else samples.push(await timed(() => store.updateMany(changes)));
  let wrong: string | undefined;
  for (const index of chosen) {
    roster.change(index, 1);
    wrong ??= difference(store.get(idOf(index)), roster.player(index));
  }
  return { samples, wrong };
}

async function removeSome(
  store: PlayerStore,
  roster: Roster,
  { size }: ListOrder,
  isSingle: boolean,
): Promise<Step> {
  const chosen = spread(deletes, size);
  const ids = chosen.map((index) => idOf(index));
  const samples: number[] = [];
  if (isSingle) {
    for (const id of ids) samples.push(await timed(() => store.remove(id)));
  } else samples.push(await timed(() => store.removeMany(ids)));
  for (const index of chosen) roster.remove(index);
  const left = ids.find((id) => store.get(id) !== undefined);
  const found = store.count();
  if (left !== undefined) return { samples, wrong: `${left} is still there` };
  return {
    samples,
    wrong: found === roster.count
      ? undefined
      : `${found} players, not ${roster.count}`,
  };
}
