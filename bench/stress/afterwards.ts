/**
 * What such suites leave out: single operations on a full database, each
 * question again and again, eight tasks at once, versions.
 *
 * @module
 */

import { numbers } from "../harness/scramble.ts";
import { type Ask, asksOf } from "./asks.ts";
import {
  changeAt,
  difference,
  idOf,
  type Player,
  playersBetween,
  scoreOf,
  touch,
  touchAll,
  worlds,
} from "./players.ts";
import { transactionPlayers } from "./list.ts";
import type { Roster } from "./roster.ts";
import { type Findings, records, versions } from "./rows.ts";
import type { PlayerStore } from "./store.ts";
import { type Budget, sampled, timed, timedNow } from "./timing.ts";

const none = { durability: "none" } as const;
const warmUps = 20;
/** Reads of a microsecond are timed so many at a time. */
const burst = 10;
/** A page's clock has steps of 5 µs. */
const countBurst = 100;
const many = 100;
const pageLimit = 50;
const pages = 20;
const taskCount = 8;
/** Each question is asked in so many variants, and each first answer is checked. */
const variants = 3;
const versionCount = 10;
const versionPlayers = 8;

/** How long each row may take. */
export interface Pace {
  readonly record: Budget;
  readonly question: Budget;
  readonly tasksMs: number;
}

/** Numbers of players that are here, at random. */
function picker(roster: Roster, size: number, seed: number): () => number {
  const next = numbers(seed);
  return () => {
    for (;;) {
      const index = next(size);
      if (roster.has(index)) return index;
    }
  };
}

/** Single operations, reads first. */
export async function measureRecords(
  store: PlayerStore,
  roster: Roster,
  size: number,
  pace: Pace,
  findings: Findings,
): Promise<void> {
  await measureFinds(store, roster, size, pace.record, findings);
  await measurePages(store, roster, pace.record, findings);
  await measureCounts(store, roster, pace.record, findings);
  await measureSaves(store, roster, size, pace.record, findings);
  await measureTasks(store, roster, size, pace.tasksMs, findings);
  await measureSaveAll(store, roster, size, findings);
}

async function measureFinds(
  store: PlayerStore,
  roster: Roster,
  size: number,
  budget: Budget,
  findings: Findings,
): Promise<void> {
  const pick = picker(roster, size, 11);
  let wrong: string | undefined;
  const ones = await sampled(budget, warmUps, () => {
    const chosen = Array.from({ length: burst }, pick);
    const ids = chosen.map(idOf);
    const got: (Player | undefined)[] = [];
    const ms = timedNow(() => {
      for (const id of ids) {
        const player = store.get(id);
        if (player !== undefined) touch(player);
        got.push(player);
      }
    });
    for (const [at, index] of chosen.entries()) {
      wrong ??= difference(got[at], roster.player(index));
    }
    return ms / burst;
  });
  findings.times(records.find, ones, { ...none, wrong });
  let wrongMany: string | undefined;
  const manies = await sampled(budget, warmUps, () => {
    const chosen = new Set<number>();
    while (chosen.size < many) chosen.add(pick());
    const ids = [...chosen].map(idOf);
    let got: readonly Player[] = [];
    const ms = timedNow(() => {
      got = store.getMany(ids);
      touchAll(got);
    });
    const byId = new Map(got.map((player) => [player.id, player]));
    for (const index of chosen) {
      wrongMany ??= difference(byId.get(idOf(index)), roster.player(index));
    }
    return ms;
  });
  findings.times(records.findMany, manies, { ...none, wrong: wrongMany });
}

/** All players by score, as pages are cut from. */
const byScore: Ask = {
  name: "by score",
  ranges: [],
  order: { field: "score", isDown: true },
};

async function measurePages(
  store: PlayerStore,
  roster: Roster,
  budget: Budget,
  findings: Findings,
): Promise<void> {
  const all = roster.answer(byScore);
  const checkPage = (got: readonly Player[], from: number) => {
    const wanted = all.slice(from, from + pageLimit);
    if (got.length !== wanted.length) {
      return `${got.length} players on a page, not ${wanted.length}`;
    }
    return wanted.map((index, at) => difference(got[at], roster.player(index)))
      .find((wrong) => wrong !== undefined);
  };
  let wrong: string | undefined;
  let page: readonly Player[] = [];
  const walked = Math.min(pages, Math.floor(all.length / pageLimit));
  const behind = await sampled(budget, warmUps, (turn) => {
    const number = turn % walked;
    const last = number === 0 ? undefined : page.at(-1);
    const ms = timedNow(() => {
      page = store.pageAfter(last, pageLimit);
      touchAll(page);
    });
    wrong ??= checkPage(page, number * pageLimit);
    return ms;
  });
  findings.times(records.page, behind, { ...none, wrong });
  const middle = Math.floor(all.length / 2);
  let wrongAt: string | undefined;
  const at = await sampled(budget, 2, (turn) => {
    const offset = middle - (turn % 8);
    let got: readonly Player[] = [];
    const ms = timedNow(() => {
      got = store.pageAt(offset, pageLimit);
      touchAll(got);
    });
    wrongAt ??= checkPage(got, offset);
    return ms;
  });
  findings.times(records.pageAt, at, { ...none, wrong: wrongAt });
}

async function measureCounts(
  store: PlayerStore,
  roster: Roster,
  budget: Budget,
  findings: Findings,
): Promise<void> {
  let wrong: string | undefined;
  const counts = await sampled(budget, 2, () => {
    let found = 0;
    const ms = timedNow(() => {
      for (let turn = 0; turn < countBurst; turn++) found += store.count();
    });
    if (found !== countBurst * roster.count) {
      wrong = `${found / countBurst}, not ${roster.count}`;
    }
    return ms / countBurst;
  });
  findings.times(records.count, counts, { ...none, wrong });
  const asks = worlds.map((world): Ask => (
    { name: "of a world", worlds: [world], active: true, ranges: [] }
  ));
  const wanted = asks.map((ask) => roster.answer(ask).length);
  let wrongOf: string | undefined;
  const counted = await sampled(budget, warmUps, (turn) => {
    const at = turn % asks.length;
    const ask = asks[at] ?? byScore;
    let found = 0;
    const ms = timedNow(() => found = store.countOf(ask));
    if (found !== wanted[at]) wrongOf = `${found}, not ${wanted[at]}`;
    return ms;
  });
  findings.times(records.countOf, counted, { ...none, wrong: wrongOf });
}

/** What is wrong with players that were changed, if anything. */
function checkChanged(
  store: PlayerStore,
  roster: Roster,
  changed: Iterable<number>,
): string | undefined {
  for (const index of changed) {
    const wrong = difference(store.get(idOf(index)), roster.player(index));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

async function measureSaves(
  store: PlayerStore,
  roster: Roster,
  size: number,
  budget: Budget,
  findings: Findings,
): Promise<void> {
  const pick = picker(roster, size, 12);
  const changed = new Set<number>();
  const samples = await sampled(budget, warmUps, async () => {
    const index = pick();
    const turn = roster.nextTurn(index);
    const change = changeAt(index, turn);
    const ms = await timed(() => store.update(change));
    roster.change(index, turn);
    changed.add(index);
    return ms;
  });
  const wrong = checkChanged(store, roster, changed);
  findings.times(records.save, samples, { wrong });
}

/** Eight tasks of one program, each with players of its own; counted are their rounds. */
async function measureTasks(
  store: PlayerStore,
  roster: Roster,
  size: number,
  msMax: number,
  findings: Findings,
): Promise<void> {
  const changed = new Set<number>();
  let wrong: string | undefined;
  let rounds = 0;
  const start = performance.now();
  const isOver = () => performance.now() - start > msMax;
  const task = async (number: number) => {
    const pick = picker(roster, size, 20 + number);
    while (!isOver()) {
      let index = pick();
      while (index % taskCount !== number) index = pick();
      const turn = roster.nextTurn(index);
      // Awaited even where there is nothing to wait for, so that all take turns.
      await store.update(changeAt(index, turn));
      roster.change(index, turn);
      changed.add(index);
      const found = store.get(idOf(index));
      wrong ??= difference(found, roster.player(index));
      const top = store.ask(topOf(worlds[rounds % worlds.length] ?? ""));
      wrong ??= falling(top);
      rounds++;
    }
  };
  await Promise.all(Array.from({ length: taskCount }, (_, at) => task(at)));
  const seconds = (performance.now() - start) / 1_000;
  wrong ??= checkChanged(store, roster, changed);
  for (const world of worlds) {
    wrong ??= roster.check(topOf(world), store.ask(topOf(world)));
  }
  findings.rate(records.tasks, rounds / seconds, wrong);
}

/** What a game does when it ends: all that are here, in transactions as they were loaded. */
async function measureSaveAll(
  store: PlayerStore,
  roster: Roster,
  size: number,
  findings: Findings,
): Promise<void> {
  const here = Array.from({ length: size }, (_, index) => index)
    .filter((index) => roster.has(index));
  let ms = 0;
  for (let from = 0; from < here.length; from += transactionPlayers) {
    const some = here.slice(from, from + transactionPlayers);
    for (const index of some) roster.change(index, roster.nextTurn(index));
    const players = some.map((index) => roster.player(index));
    ms += await timed(() => store.saveAll(players));
  }
  const wrong = checkChanged(store, roster, here) ??
    (store.count() === here.length ? undefined : "players came or went");
  findings.times(records.saveAll, [ms], { wrong });
}

function topOf(world: string): Ask {
  const order = { field: "score", isDown: true } as const;
  return {
    name: "top 10 of a world",
    worlds: [world],
    active: true,
    ranges: [],
    order,
    limit: 10,
  };
}

/** While others write, only the order of an answer can be checked. */
function falling(players: readonly Player[]): string | undefined {
  touchAll(players);
  const isFalling = players.every((player, at) =>
    at === 0 || player.score < (players[at - 1]?.score ?? Infinity)
  );
  return isFalling ? undefined : "the top players are in no order";
}

/** Each of the 27 questions again, in several variants. */
export async function measureQuestions(
  store: PlayerStore,
  roster: Roster,
  size: number,
  { question: budget }: Pace,
  findings: Findings,
): Promise<void> {
  const pick = picker(roster, size, 13);
  const asks = Array.from(
    { length: variants },
    (_, at) => asksOf(size, at + 1, roster.player(pick()).score),
  );
  for (const [at, { name }] of (asks[0] ?? []).entries()) {
    let wrong: string | undefined;
    const samples = await sampled(budget, variants, (turn) => {
      const ask = asks[turn % variants]?.[at];
      if (ask === undefined) throw new RangeError(`no question ${at}`);
      let got: readonly Player[] = [];
      const ms = timedNow(() => {
        got = store.ask(ask);
        touchAll(got);
      });
      if (turn < variants) wrong ??= roster.check(ask, got);
      return ms;
    });
    findings.times(name, samples, { ...none, wrong });
  }
}

/** Ten versions of a few players among `size`: written, and read. */
export async function measureVersions(
  store: PlayerStore,
  size: number,
  pace: Pace,
  findings: Findings,
): Promise<void> {
  const slice = 10_000;
  for (let from = 0; from < size; from += slice) {
    const players = playersBetween(from, Math.min(size, from + slice));
    const done = store.createMany(players);
    if (done !== undefined) await done;
  }
  const chosen = Array.from(
    { length: versionPlayers },
    (_, at) => Math.floor((at + 0.5) * size / versionPlayers),
  );
  const saves: number[] = [];
  for (let turn = 1; turn < versionCount; turn++) {
    for (const index of chosen) {
      const change = changeAt(index, turn);
      saves.push(await timed(() => store.update(change)));
    }
  }
  findings.times(versions.save, saves);
  let wrong: string | undefined;
  const reads = await sampled(pace.record, 2, (turn) => {
    const index = chosen[turn % versionPlayers] ?? 0;
    const id = idOf(index);
    let got: readonly number[] = [];
    const ms = timedNow(() => got = store.scoresOf(id));
    const wanted = Array.from(
      { length: versionCount },
      (_, version) => scoreOf(index, version),
    );
    if (got.join() !== wanted.join()) {
      wrong = `player ${id} had the scores ${got.join()}, not ${wanted.join()}`;
    }
    return ms;
  });
  findings.times(versions.read, reads, { ...none, wrong });
}
