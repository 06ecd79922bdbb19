/**
 * How much folding an operation takes, in parts: values, tags, elements and runs
 * that it touches, whatever else its item holds.
 *
 * @module
 */

import { isRich } from "./kinds.ts";
import type { Change, Operation, Value } from "./patch.ts";

/** The parts of one operation: 1 at least. */
export function partsOf(operation: Operation): number {
  let parts = 1;
  if (operation.what === "create") {
    const { shape: { fields }, item } = operation;
    for (let i = 0; i < fields.length; i++) {
      const { name, kind } = fields[i]!;
      if (isRich(kind)) parts += sizeOf(item[name]);
    }
  } else if (operation.what === "update") {
    const { changes } = operation;
    for (let i = 0; i < changes.length; i++) {
      parts += partsOfChange(changes[i]!.change);
    }
  }
  return parts;
}

function sizeOf(value: Value): number {
  if (typeof value !== "object" || value === null) return 0;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function partsOfChange(change: Change): number {
  switch (change.what) {
    case "add":
    case "replace":
      return change.values.length;
    case "remove":
      return change.values.reduce((sum, { tags }) => sum + 1 + tags.length, 0);
    case "put":
      return change.entries.length;
    case "drop":
      return change.keys.length;
    case "insert":
    case "delete":
      return change.elements.length;
    case "move":
      return change.moves.length;
    case "edit": {
      let parts = 0;
      for (const { runs, gone } of change.text.clients.values()) {
        parts += runs.length + gone.length;
      }
      return parts;
    }
    default:
      return 1;
  }
}
