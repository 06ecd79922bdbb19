/**
 * Turns the boards of `boards.ts` into a story: who did what, when, over the
 * last weeks, so that history, blame and the slider have something to tell.
 *
 * The same plan gives the same story, but for the day that it ends.
 *
 * @module
 */

import { dayOf } from "../data/days.ts";
import type { Team } from "../data/open.ts";
import { rankBetween, ranks } from "../data/rank.ts";
import { team as members } from "../data/team.ts";
import { boards, labels } from "./boards.ts";
import type { BoardPlan, CardPlan } from "./plan.ts";

/** What a step works with: the collections of whoever does it. */
export type Desk = Pick<
  Team,
  "repo" | "people" | "boards" | "columns" | "labels" | "cards" | "comments"
>;

/** One thing that somebody did. */
export interface Step {
  readonly at: number;
  readonly who: string;
  readonly run: (desk: Desk, at: number) => void;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const DAYS = 24;

/** A small generator of numbers: the story is the same each time. */
function diceOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** The whole story, in order, ending shortly before `now`. */
export function storyOf(now: number): Step[] {
  const dice = diceOf(20_261);
  const begin = now - DAYS * DAY_MS;
  const steps: Step[] = [founding(begin)];
  for (const board of boards) {
    const places = ranks(board.cards.length, dice);
    for (const [at, card] of board.cards.entries()) {
      const id = `${board.id}-${at + 1}`;
      const place = { board, card, id, rank: places[at]! };
      steps.push(...cardSteps(place, begin, now, dice));
    }
  }
  return steps.sort((a, b) => a.at - b.at);
}

function founding(begin: number): Step {
  return {
    at: begin - HOUR_MS,
    who: "maya",
    run: ({ repo, people, boards: all, columns, labels: known }) => {
      repo.transact((tx) => {
        for (const member of members) {
          tx.collection(people.schema).create(member);
        }
        for (const [id, [name, hue]] of Object.entries(labels)) {
          tx.collection(known.schema).create({ id, name, hue });
        }
        const places = ranks(boards.length, diceOf(3));
        for (const [at, { id, name, purpose }] of boards.entries()) {
          const position = places[at]!;
          tx.collection(all.schema).create({ id, name, purpose, position });
        }
        for (const plan of boards) {
          for (const column of columnsOf(plan)) {
            tx.collection(columns.schema).create(column);
          }
        }
      });
    },
  };
}

const columnId = (board: BoardPlan, at: number) => `${board.id}.${at + 1}`;

function columnsOf(board: BoardPlan) {
  const places = ranks(board.columns.length, diceOf(5));
  return board.columns.map(({ name, limit = 0, isDone = false }, at) => ({
    id: columnId(board, at),
    board: board.id,
    position: places[at]!,
    name,
    limit,
    isDone,
  }));
}

interface CardPlace {
  readonly board: BoardPlan;
  readonly card: CardPlan;
  readonly id: string;
  readonly rank: string;
}

/** A moment of a working day, not after `latest`. */
function workMoment(at: number, latest: number, dice: () => number): number {
  const date = new Date(at);
  date.setHours(8 + Math.floor(dice() * 9), Math.floor(dice() * 60), 0, 0);
  while (date.getDay() === 0 || date.getDay() === 6) {
    date.setDate(date.getDate() - 1);
  }
  return Math.min(date.getTime(), latest - Math.floor(dice() * 6 * HOUR_MS));
}

/** The life of one card. */
function cardSteps(
  place: CardPlace,
  begin: number,
  now: number,
  dice: () => number,
): Step[] {
  const { board, card, id, rank } = place;
  const isDone = board.columns[card.column]?.isDone === true;
  // What is done was begun first, and was done a while ago.
  const quiet = isDone ? (0.08 + dice() * 0.5) * DAYS * DAY_MS : 12 * 60_000;
  const latest = now - quiet;
  const share = isDone ? 0.12 : 0.12 + 0.5 * dice();
  const born = begin + dice() * share * DAYS * DAY_MS;
  const acts = actsOf(place, now);
  const span = (latest - born) / (acts.length + 1);
  // A weekend's moment goes back to Friday, but not to before there is a board.
  let last = Math.max(begin, workMoment(born, latest - HOUR_MS, dice));
  const steps: Step[] = [{
    at: last,
    who: card.by,
    run: ({ cards }, at) => {
      const column = columnId(board, 0);
      const { title, by } = card;
      cards.create({
        id,
        board: board.id,
        column,
        position: rank,
        title,
        by,
        at,
      });
    },
  }];
  for (const [i, { who, run }] of acts.entries()) {
    const about = born + span * (i + 1 + dice() * 0.5);
    last = Math.max(last + 90_000, workMoment(about, latest, dice));
    steps.push({ at: Math.min(last, latest + i * 60_000), who, run });
  }
  return steps;
}

type Act = Omit<Step, "at">;

/** What happens to a card after it was written, in order. */
function actsOf({ board, card, id, rank }: CardPlace, now: number): Act[] {
  const { column, people = [], talk = [] } = card;
  const mover = people.find((who) => who !== "sam") ?? "maya";
  const change = (
    who: string,
    update: Parameters<Desk["cards"]["update"]>[1],
  ): Act => ({ who, run: ({ cards }) => void cards.update(id, update) });
  const acts: Act[] = [];
  if (card.labels) {
    acts.push(change(card.by, { labels: { add: [...card.labels] } }));
  }
  if (people.length > 0) {
    acts.push(change("maya", { assignees: { add: [...people] } }));
  }
  const says: Act[] = talk.map(([who, text]) => ({
    who,
    run: ({ comments }, at) =>
      void comments.create({ card: id, by: who, at, text }),
  }));
  for (let at = 1; at <= column; at++) {
    const to = columnId(board, at);
    const position = at === column ? rank : rankBetween(rank, undefined);
    acts.push(change(mover, { column: to, position }));
    const said = says.shift();
    if (said) acts.push(said);
    if (at === 1) acts.push(...detailsOf(card, mover, change, now));
  }
  if (column === 0) acts.push(...detailsOf(card, mover, change, now));
  return [...acts, ...says];
}

function detailsOf(
  { due, note }: CardPlan,
  who: string,
  change: (who: string, update: Parameters<Desk["cards"]["update"]>[1]) => Act,
  now: number,
): Act[] {
  const acts: Act[] = [];
  if (due !== undefined) {
    acts.push(change("maya", { due: dayOf(now + due * DAY_MS) }));
  }
  if (note !== undefined) {
    const [first] = note.split("\n\n");
    if (first !== note) acts.push(change(who, { note: first! }));
    acts.push(change(who, { note }));
  }
  return acts;
}
