/**
 * The query engines of one repository, or of one of its snapshots: one a
 * collection, made when it is first asked for.
 */

import type { World } from "../base/world.ts";
import { type EngineOptions, QueryEngine } from "../query/engine.ts";
import { copyForReader } from "../schema/reader.ts";
import type { FieldKind } from "../schema/patch.ts";
import type { Schema } from "../schema/schema.ts";
import type { State } from "../../repo/mod.ts";
import { Listeners } from "./listeners.ts";
import type { Schemas } from "./schemas.ts";

/** Who hears of slow queries, and of listeners that throw. */
export type QueryHooks = Pick<EngineOptions, "onSlow" | "onError">;

export class Engines {
  readonly schemas: Schemas;
  readonly #state: () => State;
  readonly #world: World;
  readonly #hooks: QueryHooks;
  readonly #engines = new Map<string, QueryEngine>();
  readonly #tasks: (() => void)[] = [];
  /** Told after each transaction, when all callbacks of queries ran. */
  readonly changes: Listeners;
  #isPublishing = false;
  #isMeasured = false;

  constructor(
    state: () => State,
    world: World,
    schemas: Schemas,
    hooks: QueryHooks = {},
  ) {
    this.#state = state;
    this.#world = world;
    this.schemas = schemas;
    this.#hooks = hooks;
    this.changes = new Listeners(hooks.onError);
  }

  of(schema: Schema): QueryEngine {
    return this.#engines.get(schema.name) ?? this.#add(schema);
  }

  #add(schema: Schema): QueryEngine {
    const table = this.#state().table(schema.name);
    const kinds = new Map<string, FieldKind>();
    for (const { name, kind } of schema.plan) kinds.set(name, kind);
    const engine = new QueryEngine(table, {
      name: schema.name,
      fields: kinds,
      indexes: schema.indexes,
      refs: refsOf(schema),
      related: (collection) => this.#related(collection),
      reader: (item) => copyForReader(item, table.view),
      deliver: (task) => this.#deliver(task),
      world: this.#world,
      ...this.#hooks,
    });
    if (this.#isMeasured) engine.measure(true);
    this.#engines.set(schema.name, engine);
    return engine;
  }

  /** Measures what live queries cost from now on, or no more. */
  measure(isOn: boolean): void {
    this.#isMeasured = isOn;
    for (const engine of this.#engines.values()) engine.measure(isOn);
  }

  all(): QueryEngine[] {
    return [...this.#engines.values()];
  }

  #related(collection: string): QueryEngine | undefined {
    const schema = this.schemas.find(collection);
    return schema === undefined ? undefined : this.of(schema);
  }

  /** Callbacks run when every collection has heard of a transaction. */
  #deliver(task: () => void): void {
    if (this.#isPublishing) this.#tasks.push(task);
    else task();
  }

  /** Publishes a transaction: first all engines hear of it, then callbacks run. */
  publish(tell: () => void): void {
    if (this.#isPublishing) return tell();
    this.#isPublishing = true;
    try {
      tell();
    } finally {
      this.#isPublishing = false;
      for (const task of this.#tasks.splice(0)) task();
      this.changes.tell();
    }
  }

  dispose(): void {
    for (const engine of this.#engines.values()) engine.dispose();
    this.#engines.clear();
    this.changes.clear();
  }
}

function refsOf(schema: Schema): ReadonlyMap<string, string> {
  const refs = new Map<string, string>();
  for (const [name, { definition }] of Object.entries(schema.fields)) {
    if (definition.target !== undefined) refs.set(name, definition.target);
  }
  return refs;
}
