/**
 * The past of single items: an item as a commit's author saw it.
 *
 * Where nothing else touched the item that is its present cell. Otherwise the
 * operations on it that the author had seen are folded anew; the result is kept
 * for the author's next commit, which has seen all of them too.
 *
 * Indexes are built from the log when they are first needed and go on with it.
 *
 * Architecture invariant: the answer depends on the commit's ancestors only,
 * whatever else is known here (law 7); derived data is disposable (law 5).
 *
 * @module
 */

import { assert } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { Cell } from "../src/schema/cell.ts";
import { fold } from "../src/schema/merge.ts";
import { visitOperations } from "../src/schema/patch_codec.ts";
import { Ancestry, type Vector } from "./ancestry.ts";
import { payloadOf } from "./batch.ts";
import type { Position } from "./commit.ts";
import type { CommitReader, LoggedBatch } from "./commit_reader.ts";
import type { Log } from "./log.ts";
import { OperationReader } from "./operation_reader.ts";
import type { State } from "./state.ts";
import type { Table } from "./table.ts";
import { type Touch, Touches } from "./touches.ts";

/** What the past is read from. */
export interface PastParts {
  readonly commits: CommitReader;
  readonly log: Log;
  readonly state: State;
}

/** A state of one item that an author had seen. */
interface PastCell {
  readonly vector: Vector;
  readonly cell: Cell | undefined;
}

/** Items as they were for somebody. */
export class Past {
  readonly #parts: PastParts;
  readonly #reader: OperationReader;
  #ancestry = new Ancestry();
  #touches = new Touches();
  /** By chain number: its name, and how many of its commits are indexed. */
  #chains: { readonly name: string; length: number }[] = [];
  #indexedTo = 0;
  #revision = 0;
  #cells = new Map<string, PastCell>();
  /** Of their vectors. */
  #bytes = 0;
  readonly #tables = new Map<Table, number>();

  constructor(parts: PastParts) {
    this.#parts = parts;
    this.#reader = new OperationReader(parts.commits, parts.log);
  }

  /** Commits were withdrawn: what was indexed may be among them. */
  #startOver(): void {
    this.#revision = this.#parts.commits.revision;
    this.#reader.forget();
    this.#ancestry = new Ancestry();
    this.#touches = new Touches();
    this.#chains = [];
    this.#cells = new Map();
    this.#bytes = 0;
    this.#indexedTo = 0;
  }

  /** What the first `count` commits of a chain had seen. Every known commit must be in the log. */
  vectorOf(chain: string, count: number): Vector {
    this.#extend();
    return this.#ancestry.vectorOf(chain, count);
  }

  /** What a commit has seen that names these parents too. */
  withParents(vector: Vector, parents: readonly Position[]): Vector {
    return this.#ancestry.withParents(vector, parents);
  }

  #extend(): void {
    const { log, commits } = this.#parts;
    if (this.#revision !== commits.revision) this.#startOver();
    const { end } = log;
    if (this.#indexedTo === end) return;
    commits.each((logged) => this.#index(logged), this.#indexedTo, end);
    this.#indexedTo = end;
  }

  #index({ batch, address }: LoggedBatch): void {
    const ordinal = this.#ancestry.ordinalOf(batch.chain);
    const chain = this.#chains[ordinal] ??= { name: batch.chain, length: 0 };
    for (let i = chain.length - batch.first; i < batch.commits.length; i++) {
      const commit = batch.commits[i]!;
      const number = batch.first + i;
      if (commit.parents.length > 0) {
        this.#ancestry.add(batch.chain, number, commit.parents);
      }
      const payload = payloadOf(batch, commit);
      const at = address + commit.payloadAt;
      visitOperations(payload, (operation, offset) => {
        const table = this.#parts.state.find(operation.shape.collection);
        const item = table?.ordinalOf(operation.id) ?? -1;
        if (table === undefined || item < 0) return;
        const touch = { chain: ordinal, number, address: at + offset };
        this.#touches.add(table, item, touch);
      });
    }
    chain.length = Math.max(chain.length, batch.first + batch.commits.length);
  }

  /** An item as `author`, a chain that had seen `vector`, saw it. */
  cellAt(
    table: Table,
    id: string,
    vector: Vector,
    author: string,
  ): Cell | undefined {
    const item = table.ordinalOf(id);
    if (item < 0) return undefined;
    if (this.#touches.isSeen(table, item, vector)) return table.cellAt(item);
    const key = `${this.#numberOf(table)}.${item}.${author}`;
    const known = this.#cells.get(key);
    const begin = known !== undefined && covers(vector, known.vector)
      ? known
      : undefined;
    const cell = this.#refold(table, item, vector, begin);
    this.#forgetCell(key);
    this.#cells.set(key, { vector, cell });
    this.#bytes += vector.byteLength;
    for (const oldest of this.#cells.keys()) {
      const fits = this.#cells.size <= limits.pastCellsMax &&
        this.#bytes <= limits.ancestryBytesMax;
      if (fits) break;
      this.#forgetCell(oldest);
    }
    return cell;
  }

  #forgetCell(key: string): void {
    const known = this.#cells.get(key);
    if (known === undefined) return;
    this.#bytes -= known.vector.byteLength;
    this.#cells.delete(key);
  }

  #numberOf(table: Table): number {
    let number = this.#tables.get(table);
    if (number === undefined) {
      number = this.#tables.size;
      this.#tables.set(table, number);
    }
    return number;
  }

  /** Folds what is in `vector` and not in an earlier state of the item yet. */
  #refold(
    table: Table,
    item: number,
    vector: Vector,
    begin: PastCell | undefined,
  ): Cell | undefined {
    let cell = begin?.cell;
    const fresh = (touch: Touch) => {
      const chain = this.#chains[touch.chain];
      assert(chain !== undefined, "a chain that was indexed has its name");
      const { number, address } = touch;
      const found = this.#reader.read(chain.name, number, address);
      cell = fold(cell, found.operation, found.origin, -1, table.view);
    };
    this.#touches.between(table, item, begin?.vector, vector, fresh);
    return cell;
  }
}

function covers(a: Vector, b: Vector): boolean {
  for (let i = 0; i < b.length; i++) if ((a[i] ?? 0) < b[i]!) return false;
  return true;
}
