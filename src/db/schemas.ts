/** The schemas of one database, by collection. */

import { DatabaseError } from "../base/errors.ts";
import { lateIndexes } from "../query/late_indexes.ts";
import { isRich } from "../schema/kinds.ts";
import { lateRich } from "../schema/late_rich.ts";
import type { Schema } from "../schema/schema.ts";
import type { SchemaField } from "../schema/validate.ts";
import type { TextEngine } from "../schema/text_state.ts";
import { createView, type OnUnfit, type View } from "../schema/view.ts";

lateRich.by(async () => (await import("./rich.ts")).rich);
lateIndexes.by(async () => (await import("./indexes.ts")).indexes);

/** The collections that an app declared. */
export class Schemas {
  readonly #schemas = new Map<string, Schema>();
  readonly #views = new Map<string, View>();
  readonly #engine: TextEngine | undefined;

  constructor(schemas: readonly Schema[], engine?: TextEngine) {
    this.#engine = engine;
    if (!Array.isArray(schemas) || !schemas.every(isSchema)) {
      throw new DatabaseError(
        "invalid-schema",
        "`schemas` must be a list of what defineSchema() gave",
      );
    }
    for (const schema of schemas) {
      if (this.#schemas.has(schema.name)) {
        throw new DatabaseError(
          "invalid-schema",
          `Two schemas are named "${schema.name}"`,
        );
      }
      this.#schemas.set(schema.name, schema);
    }
    for (const { name, plan } of schemas as readonly Schema[]) {
      for (const field of plan) this.#checkTarget(name, field);
    }
  }

  /** What a field refers to is a collection that the app knows. */
  #checkTarget(name: string, field: SchemaField): void {
    const { target } = field.inner ?? field;
    if (target === undefined || this.#schemas.has(target)) return;
    throw new DatabaseError(
      "invalid-schema",
      `"${name}.${field.name}" refers to "${target}", of which there is no schema: ` +
        "correct the name, or give openDatabase() that schema, too",
    );
  }

  /** Has any of them a field of a rich kind? */
  get isRich(): boolean {
    return this.all().some(({ plan }) => plan.some(({ kind }) => isRich(kind)));
  }

  /** Loads what is not here yet of the code that they take. */
  async prepare(): Promise<void> {
    if (this.isRich) await lateRich.load();
    const isIndexed = this.all().some(({ indexes }) => indexes.length > 0);
    if (isIndexed) await lateIndexes.load();
  }

  all(): Schema[] {
    return [...this.#schemas.values()];
  }

  find(collection: string): Schema | undefined {
    return this.#schemas.get(collection);
  }

  viewOf(collection: string): View {
    const known = this.#views.get(collection);
    if (known !== undefined) return known;
    const schema = this.#schemas.get(collection);
    const view = createView(schema, schema ? undefined : this.#engine);
    this.#views.set(collection, view);
    return view;
  }

  /** As `viewOf`, for one repository; `unfit` hears of fields that hold what is none of their kind. */
  viewsFor(unfit: OnUnfit): (collection: string) => View {
    const views = new Map<string, View>();
    return (collection) => {
      const schema = this.#schemas.get(collection);
      if (schema === undefined) return this.viewOf(collection);
      const view = views.get(collection) ??
        createView(schema, undefined, unfit);
      views.set(collection, view);
      return view;
    };
  }

  /** Fails when `schema` is not the one that was declared under its name. */
  check(schema: Schema): void {
    if (isSchema(schema) && this.#schemas.get(schema.name) === schema) return;
    throw new DatabaseError("unknown-collection", this.#whyNot(schema));
  }

  #whyNot(schema: unknown): string {
    if (!isSchema(schema)) {
      return "A collection is asked for by its schema: what defineSchema() gave";
    }
    const { name } = schema;
    return this.#schemas.has(name)
      ? `openDatabase() was given another schema named "${name}": define it once, and use that one object`
      : `The schema "${name}" was not given to openDatabase(): add it to \`schemas\``;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && "fields" in value;
}
