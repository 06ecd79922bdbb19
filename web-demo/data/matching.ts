/**
 * Which cards a filter shows.
 *
 * @module
 */

import type { Filter } from "../state/ui.ts";
import { daysBetween } from "./days.ts";
import type { Directory } from "./directory.tsx";
import type { CardItem } from "./schema.ts";

/** What a filter asks of a card. */
export type Match = (card: CardItem) => boolean;

/** The names of labels and people, by id. */
export type Names = Pick<Directory, "labels" | "people">;

/** Makes the question that a filter asks; `undefined` shows every card. */
export function matcherOf(
  filter: Filter,
  today: string,
  names: Names,
): Match | undefined {
  const tests = [
    textTest(filter, names),
    setTests(filter),
    dueTest(filter, today),
  ];
  const asked = tests.filter((test) => test !== undefined);
  if (asked.length === 0) return undefined;
  return (card) => asked.every((test) => test(card));
}

/** Every word must be in title, note, or a name of a label or of somebody who has the card; in any case and order. */
function textTest(
  { text }: Filter,
  { labels, people }: Names,
): Match | undefined {
  const words = wordsOf(text);
  if (words.length === 0) return undefined;
  return (card) => {
    const named = [
      ...[...card.labels].map((id) => labels.get(id)?.name),
      ...[...card.assignees].map((id) => people.get(id)?.name),
    ];
    const whole = [card.title, card.note, ...named].join("\n")
      .toLocaleLowerCase();
    return words.every((word) => whole.includes(word));
  };
}

/** The words of a search. */
export function wordsOf(text: string): string[] {
  return text.toLocaleLowerCase().split(/\s+/).filter((word) => word !== "");
}

function setTests({ labels, people }: Filter): Match | undefined {
  if (labels.size + people.size === 0) return undefined;
  return (card) =>
    (labels.size === 0 || [...card.labels].some((id) => labels.has(id))) &&
    (people.size === 0 || [...card.assignees].some((id) => people.has(id)));
}

function dueTest({ due }: Filter, today: string): Match | undefined {
  switch (due) {
    case "any":
      return undefined;
    case "none":
      return (card) => card.due === undefined;
    case "overdue":
      return (card) => card.due !== undefined && card.due < today;
    case "week":
      return (card) => {
        if (card.due === undefined) return false;
        const days = daysBetween(today, card.due);
        return days >= 0 && days < 7;
      };
  }
}
