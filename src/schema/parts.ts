/**
 * How much an operation takes: folding it, in parts (values, tags, elements and
 * runs that it touches, whatever else its item holds), and memory, in nodes (the
 * same, and all that stands inside JSON).
 */

import { isRich } from "./kinds.ts";
import type { Change, Operation, Shape, Value } from "./patch.ts";

/** Of a change that has many parts, besides them. */
const LIST_NODES = 3;

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

/** The nodes of one operation, some 100 bytes of memory each: no more than it has bytes. */
export function nodesOf(operation: Operation): number {
  let nodes = 1;
  if (operation.what === "create") {
    const { shape: { fields }, item } = operation;
    nodes += 1 + (fields.length >>> 4);
    for (let i = 0; i < fields.length; i++) {
      const value = item[fields[i]!.name];
      if (typeof value === "object") nodes += nodesIn(value);
    }
  } else if (operation.what === "update") {
    const { changes } = operation;
    for (let i = 0; i < changes.length; i++) {
      nodes += nodesOfChange(changes[i]!.change);
    }
  }
  return nodes;
}

export function nodesOfShape({ fields }: Shape): number {
  return 1 + fields.length;
}

function nodesIn(value: Value): number {
  if (typeof value !== "object" || value === null) return 1;
  if (value instanceof Date) return 2;
  if (value instanceof Uint8Array) return value.length > 0 ? 3 : 1;
  let nodes = 1;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) nodes += nodesIn(value[i]);
  } else {
    // Proof: nothing else is left of what a value may be.
    const record = value as { readonly [key: string]: Value };
    for (const key in record) nodes += 1 + nodesIn(record[key]);
  }
  return nodes;
}

function nodesOfChange(change: Change): number {
  switch (change.what) {
    case "set":
      return 1 + nodesIn(change.value);
    case "increment":
      return 2;
    case "remove":
      return LIST_NODES + change.values.length + partsOfChange(change);
    case "edit": {
      let nodes = LIST_NODES;
      for (const { runs, gone } of change.text.clients.values()) {
        nodes += 2 + 2 * runs.length + gone.length;
      }
      return nodes;
    }
    case "put":
      return change.entries.reduce(withNodesIn, LIST_NODES);
    case "replace":
      return change.values.reduce(withNodesIn, LIST_NODES);
    case "insert":
      return change.elements.reduce(
        (sum, { value }) => sum + nodesIn(value),
        LIST_NODES,
      );
    default:
      return LIST_NODES + partsOfChange(change);
  }
}

function withNodesIn(sum: number, [, value]: readonly [string, Value]): number {
  return sum + nodesIn(value);
}
