/**
 * What commits did, in words that people on a board use.
 *
 * @module
 */

import type { CommitSummary, OperationSummary } from "@sheaf/sheaf/browser";
import { dayOf, dueWords } from "../data/days.ts";
import type { Team } from "../data/open.ts";

type FieldSummary = OperationSummary["fields"][number];

/** What an operation did, line by line. */
export function describeOperation(
  team: Team,
  operation: OperationSummary,
): string[] {
  const { collection, what, fields } = operation;
  if (collection === "comment") {
    return [what === "delete" ? "took a comment away" : "commented"];
  }
  if (collection !== "card") return [`changed a ${collection}`];
  if (what === "delete") return ["deleted the card"];
  if (what === "create") return [createWords(team, fields)];
  const lines = fields.flatMap((field) => fieldWords(team, field));
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

function fieldWords(team: Team, field: FieldSummary): string[] {
  const { name, change } = field;
  const value = valueOf(field);
  switch (name) {
    case "title":
      return [`named it “${value}”`];
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
      return elementWords(team, "label", change);
    case "assignees":
      return elementWords(team, "person", change);
    default:
      return [`changed ${name}`];
  }
}

function elementWords(
  team: Team,
  kind: "label" | "person",
  change: FieldSummary["change"],
): string[] {
  const names = (values: readonly unknown[]) =>
    values.map((value) => nameOf(team, kind, value)).join(", ");
  if (change.what === "add") {
    return kind === "label"
      ? [`labelled it ${names(change.values)}`]
      : [`gave it to ${names(change.values)}`];
  }
  if (change.what === "remove") {
    const gone = change.values.map(({ value }) => value);
    return kind === "label"
      ? [`took the label ${names(gone)} off`]
      : [`took it from ${names(gone)}`];
  }
  return [`changed the ${kind === "label" ? "labels" : "people"}`];
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
