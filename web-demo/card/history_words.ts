/**
 * What commits did, in words that people on a board use.
 *
 * @module
 */

import type { CommitSummary, OperationSummary } from "@sheaf/sheaf/browser";
import { dayOf, dueWords } from "../data/days.ts";
import type { Team } from "../data/open.ts";

type FieldSummary = OperationSummary["fields"][number];

/** What an operation of somebody did, line by line. */
export function describeOperation(
  team: Team,
  operation: OperationSummary,
  author?: string,
): string[] {
  const { collection, what, fields } = operation;
  if (collection === "comment") {
    return [what === "delete" ? "took a comment away" : "commented"];
  }
  if (collection !== "card") return [`changed a ${collection}`];
  if (what === "delete") return ["deleted the card"];
  if (what === "create") return [createWords(team, fields)];
  const lines = fields.flatMap((field) => fieldWords(team, field, author));
  // A move between columns gives a new position as well, which is no news.
  const moved = lines.length > 1
    ? lines.filter((line) => line !== ORDER)
    : lines;
  return moved;
}

const ORDER = "moved it within its column";

function createWords(team: Team, fields: readonly FieldSummary[]): string {
  const column = fields.find(({ name }) => name === "column");
  const title = fields.find(({ name }) => name === "title");
  const where = column && nameOf(team, "column", valueOf(column));
  return `added “${valueOf(title)}”${where ? ` to ${where}` : ""}`;
}

function valueOf(field: FieldSummary | undefined): unknown {
  return field?.change.what === "set" ? field.change.value : undefined;
}

function fieldWords(
  team: Team,
  field: FieldSummary,
  author: string | undefined,
): string[] {
  const { name, change } = field;
  const value = valueOf(field);
  switch (name) {
    case "title":
      return ["wrote in the title"];
    case "column":
      return [`moved it to ${nameOf(team, "column", value)}`];
    case "position":
      return [ORDER];
    case "board":
      return ["moved it to another board"];
    case "note":
      return ["wrote in the note"];
    case "due":
      return [
        typeof value === "string"
          ? `made it due ${dueWords(value, dayOf(Date.now()))}`
          : "took the due date away",
      ];
    case "labels":
      return labelWords(team, change);
    case "assignees":
      return peopleWords(team, change, author);
    default:
      return [`changed ${name}`];
  }
}

function labelWords(team: Team, change: FieldSummary["change"]): string[] {
  const names = (ids: readonly unknown[]) => namesOf(team, "label", ids);
  if (change.what === "add") return [`labelled it ${names(change.values)}`];
  if (change.what !== "remove") return ["changed the labels"];
  return [
    `took the label ${names(change.values.map(({ value }) => value))} off`,
  ];
}

function peopleWords(
  team: Team,
  change: FieldSummary["change"],
  author: string | undefined,
): string[] {
  if (change.what !== "add" && change.what !== "remove") {
    return ["changed the people"];
  }
  const isAdded = change.what === "add";
  const ids: readonly unknown[] = change.what === "add"
    ? change.values
    : change.values.map(({ value }) => value);
  const others = ids.filter((id) => id !== author);
  const lines: string[] = [];
  if (others.length < ids.length) {
    lines.push(isAdded ? "took it" : "gave it up");
  }
  if (others.length > 0) {
    const names = namesOf(team, "person", others);
    lines.push(isAdded ? `gave it to ${names}` : `took it from ${names}`);
  }
  return lines;
}

function namesOf(
  team: Team,
  kind: "label" | "person",
  ids: readonly unknown[],
): string {
  return ids.map((id) => nameOf(team, kind, id)).join(", ");
}

/** The name of something that a card refers to. */
export function nameOf(
  team: Team,
  kind: "column" | "label" | "person",
  id: unknown,
): string {
  if (typeof id !== "string") return "nothing";
  const item = kind === "column"
    ? team.columns.get(id)
    : kind === "label"
    ? team.labels.get(id)
    : team.people.get(id);
  return item?.name ?? "something that is gone";
}

/** Who last set each field of an item. */
export interface Blame {
  readonly user: string;
  readonly at: number;
}

/** Who last set each field, by name. */
export function blameOf(
  commits: readonly CommitSummary[],
): ReadonlyMap<string, Blame> {
  const blame = new Map<string, Blame>();
  for (const { user = "", at, operations } of commits) {
    for (const { fields } of operations) {
      for (const { name } of fields) {
        blame.set(name, { user, at: at.getTime() });
      }
    }
  }
  return blame;
}
