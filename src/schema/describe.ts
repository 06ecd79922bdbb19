/** Operations and differences, as a history shows them to people. */

import { copyValue, equalValues } from "./json.ts";
import type { Change, Item, Operation, Value } from "./patch.ts";

/** What one field went through. */
export interface FieldDescription {
  readonly name: string;
  /** Values in it belong to the caller. */
  readonly change: ChangeDescription;
}

/** What a change does; of a text, what was inserted, and how much deleted. */
export type ChangeDescription =
  | Exclude<Change, { readonly what: "edit" }>
  | {
    readonly what: "edit";
    readonly inserted: string;
    /** Units of text. */
    readonly deleted: number;
  };

export interface OperationDescription {
  readonly what: Operation["what"];
  /** Empty for a delete. */
  readonly fields: readonly FieldDescription[];
}

export function describeOperation(operation: Operation): OperationDescription {
  switch (operation.what) {
    case "create":
      return { what: "create", fields: describeItem(operation.item) };
    case "update":
      return {
        what: "update",
        fields: operation.changes.map(({ field, change }) => ({
          name: field.name,
          change: describeChange(change),
        })),
      };
    case "delete":
      return { what: "delete", fields: [] };
  }
}

function describeChange(change: Change): ChangeDescription {
  if (change.what === "set") {
    return { what: "set", value: copyValue(change.value) };
  }
  if (change.what !== "edit") return change;
  let inserted = "";
  let deleted = 0;
  for (const { runs, gone } of change.text.clients.values()) {
    for (const { text } of runs) inserted += text ?? "";
    for (const { length } of gone) deleted += length;
  }
  return { what: "edit", inserted, deleted };
}

function describeItem(item: Item): FieldDescription[] {
  const fields: FieldDescription[] = [];
  for (const [name, value] of Object.entries(item)) {
    if (name === "id" || value === undefined) continue;
    fields.push({ name, change: { what: "set", value: copyValue(value) } });
  }
  return fields;
}

/** One field that two states of an item disagree on. */
export interface FieldDifference {
  readonly name: string;
  readonly before: Value;
  readonly after: Value;
}

/** The fields that differ between two states of an item; `undefined` where it was not there. */
export function diffItems(
  before: Item | undefined,
  after: Item | undefined,
): FieldDifference[] {
  const names = new Set([
    ...Object.keys(before ?? {}),
    ...Object.keys(after ?? {}),
  ]);
  const differences: FieldDifference[] = [];
  for (const name of names) {
    const old = before?.[name];
    const now = after?.[name];
    if (name === "id" || equalValues(old, now)) continue;
    differences.push({
      name,
      before: copyValue(old),
      after: copyValue(now),
    });
  }
  return differences;
}
