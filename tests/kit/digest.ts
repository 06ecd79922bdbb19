/**
 * What tests compare replicas by: hashes of a state, equal on two replicas exactly
 * where they hold the same, byte for byte, whatever their schemas and orders of
 * arrival; and heads.
 *
 * @module
 */

import { sha256 } from "../../crypto/mod.ts";
import type { Position } from "../../repo/commit/commit.ts";
import type { Graph } from "../../repo/graph/graph.ts";
import type { State } from "../../repo/state/state.ts";
import type { Table } from "../../repo/state/table.ts";
import { ByteWriter, encodeText } from "../../src/base/bytes.ts";
import { type Cell, isBlank } from "../../src/schema/cell.ts";
import { cellDigestBytes } from "../../src/schema/cell_digest.ts";

/** The digest of a whole state. */
export function digestOf(state: State): Uint8Array {
  const digests: Uint8Array[] = [];
  const tables = state.tables().sort((a, b) => a.name < b.name ? -1 : 1);
  for (const table of tables) {
    const cells = cellsOf(table);
    if (cells.length === 0) continue; // Nobody made anything that was not taken back.
    digests.push(sha256(encodeText(table.name)), digestOfCells(cells));
  }
  return sha256(...digests);
}

/** The digest of one table. */
export function digestOfTable(table: Table): Uint8Array {
  return digestOfCells(cellsOf(table));
}

function cellsOf(table: Table): Cell[] {
  const cells = Array.from({ length: table.size }, (_, i) => table.cellAt(i));
  return cells.filter((cell) => !isBlank(cell))
    .sort((a, b) => a.id < b.id ? -1 : 1);
}

function digestOfCells(cells: readonly Cell[]): Uint8Array {
  const writer = new ByteWriter(4096);
  for (const cell of cells) {
    const bytes = cellDigestBytes(cell);
    writer.varint(bytes.length);
    writer.bytes(bytes);
  }
  return sha256(writer.view());
}

/** The positions that no known commit names as parent, in order of chain. */
export function headsOf(graph: Graph): Position[] {
  return [...graph.chains()].filter(({ isHead }) => isHead)
    .map(({ name, length }) => ({ chain: name, number: length - 1 }))
    .sort((a, b) => a.chain < b.chain ? -1 : 1);
}
