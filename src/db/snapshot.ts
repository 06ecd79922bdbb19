/**
 * A repository as it was: read-only collections at a commit or a moment.
 *
 * Items that are asked for by their ids are folded one by one, from their own
 * commits; a query, or many items, folds all that there was. So does the first
 * read where nothing finds an item's commits, as in a page.
 *
 * Architecture invariant: a picture never changes, whatever is written, comes or
 * becomes void after it was taken: it is of a prefix of the log.
 */

import { refuseOptions } from "../base/known_options.ts";
import type { World } from "../base/world.ts";
import { type Cell, isThere } from "../schema/cell.ts";
import { stateIn } from "../schema/merge.ts";
import type { Infer, Schema } from "../schema/schema.ts";
import type { TextState } from "../schema/text_state.ts";
import type { View } from "../schema/view.ts";
import {
  cellOf,
  type Includes,
  type ItemName,
  type Replica,
  type State,
  stateOf,
} from "../../repo/mod.ts";
import { Engines } from "./engines.ts";
import { includesOf } from "./history.ts";
import { ReadableCollection } from "./readable_collection.ts";
import type { Schemas } from "./schemas.ts";

/** Items are folded one by one until that has read this part of all commits. */
const SPARSE_FRACTION = 1 / 4;

interface PastParts {
  readonly replica: Replica;
  readonly schemas: Schemas;
  readonly world: World;
  /** Which commits. */
  readonly includes: Includes;
  /** Where the log ended when it was taken. */
  readonly to: number;
  /** Which refusals and cuts there had been. */
  readonly revision: number;
}

/** What was at one point of the history, as far as somebody has asked. */
class Past {
  readonly #parts: PastParts;
  readonly #cells = new Map<string, Map<string, Cell | undefined>>();
  /** Operations that may still be read for single items. */
  #left: number;
  #whole: { state: State; engines: Engines } | undefined;

  constructor(parts: PastParts) {
    this.#parts = parts;
    this.#left = parts.replica.graph.commits * SPARSE_FRACTION;
  }

  /** All of it. */
  whole(): { state: State; engines: Engines } {
    return this.#whole ??= this.#fold();
  }

  #fold(): { state: State; engines: Engines } {
    const { replica, schemas, world, includes, to } = this.#parts;
    replica.check();
    replica.flush();
    const viewOf = (name: string) => schemas.viewOf(name);
    const state = this.#recent(viewOf) ??
      stateOf(replica.commits, viewOf, includes, to);
    const engines = new Engines(() => state, world, schemas);
    this.#cells.clear();
    return { state, engines };
  }

  /** From the present, where that is nearly the same: where it is made of what the log says, and of what it said then. */
  #recent(viewOf: (name: string) => View): State | undefined {
    const { replica, includes, to, revision } = this.#parts;
    const { commits, loaded, graph, state } = replica;
    if (loaded.salvage !== undefined || commits.revision !== revision) return;
    return commits.touches?.recentPast({
      ...{ commits, viewOf, includes, to },
      present: state,
      known: graph.commits,
      end: loaded.log.end,
    });
  }

  cellOf(name: ItemName): Cell | undefined {
    const { collection, id } = name;
    const known = this.#cells.get(collection);
    if (known?.has(id)) return known.get(id);
    if (!this.#isSparse(name)) {
      return this.whole().state.cellOf(collection, id);
    }
    const { replica, schemas, includes, to } = this.#parts;
    const viewOf = () => schemas.viewOf(collection);
    const cell = cellOf(replica.commits, viewOf, includes, name, to);
    if (known !== undefined) known.set(id, cell);
    else this.#cells.set(collection, new Map([[id, cell]]));
    return cell;
  }

  /** Is an item found for less than all of them? */
  #isSparse(name: ItemName): boolean {
    if (this.#whole !== undefined) return false;
    const { replica } = this.#parts;
    replica.check();
    const { touches } = replica.commits;
    if (touches === undefined) return false;
    this.#left -= 1 + touches.countOf(name);
    return this.#left >= 0;
  }
}

/** The items of one schema at one point of the history. */
class PastCollection<S extends Schema> extends ReadableCollection<S> {
  readonly #past: Past;

  constructor(past: Past, schema: S, schemas: Schemas) {
    super({
      schema,
      view: schemas.viewOf(schema.name),
      get table() {
        return past.whole().state.table(schema.name);
      },
      get engine() {
        return past.whole().engines.of(schema);
      },
      check: () => {},
    });
    this.#past = past;
  }

  #cellOf(id: string): Cell | undefined {
    const cell = this.#past.cellOf({ collection: this.name, id });
    return cell !== undefined && isThere(cell) ? cell : undefined;
  }

  override get(id: string): Infer<S> | undefined {
    const item = this.#cellOf(id)?.item;
    return item && this.row(item);
  }

  override has(id: string): boolean {
    return this.#cellOf(id) !== undefined;
  }

  override getMany(ids: Iterable<string>): (Infer<S> | undefined)[] {
    return Array.from(ids, (id) => this.get(id));
  }

  override textOf(id: string, field: string): TextState | undefined {
    const cell = this.#cellOf(id);
    return cell && stateIn(cell, field, "text");
  }
}

/** The state at one point of the history; it never changes. */
export class Snapshot {
  readonly #past: Past;
  readonly #schemas: Schemas;

  /** Use `repository.at(point)`. */
  constructor(parts: PastParts) {
    refuseOptions(this);
    this.#past = new Past(parts);
    this.#schemas = parts.schemas;
  }

  /**
   * A collection as it was. What nobody has read when the repository is closed
   * cannot be read any more: `closed`.
   */
  collection<S extends Schema>(schema: S): ReadableCollection<S> {
    this.#schemas.check(schema);
    return new PastCollection(this.#past, schema, this.#schemas);
  }
}

/** A picture of a point: which commits make it is found now, what they made when it is read. */
export function openSnapshot(
  replica: Replica,
  schemas: Schemas,
  world: World,
  point: string | Date,
): Snapshot {
  const includes = includesOf(replica, point);
  const { commits: { revision }, loaded: { log } } = replica;
  const parts = { replica, schemas, world, includes, to: log.end, revision };
  return new Snapshot(parts);
}
