/**
 * What accepted operations may name: kinds as they were declared, and tags,
 * elements and characters that some accepted operation has brought; or named,
 * since what comes back unjudged after a loss may lack what it stands on.
 *
 * @module
 */

import type { Stamp } from "../../../src/base/hlc.ts";
import { mergeClassOf } from "../../../src/schema/kinds.ts";
import { rich } from "../../../src/schema/rich.ts";
import type {
  Change,
  MergeClass,
  Operation,
  Shape,
  ShapeField,
  Value,
} from "../../../src/schema/patch.ts";
import type { TextState } from "../../../src/schema/text_state.ts";
import { releases } from "../collections.ts";

/** What is known in the order so far. */
export class Names {
  /** Merge classes by collection and field. */
  readonly #classes = new Map<string, MergeClass>();
  readonly #stamps = new Set<string>();
  /** Adds that were removed without being there, by item, generation, field and value. */
  readonly #tags = new Set<string>();
  /** By item, generation and field. */
  readonly #elements = new Set<string>();
  /** By item, generation, field and client: how many characters it typed. */
  readonly #texts = new Map<string, number>();

  /** @param hasRules whether the gate knows the rules' schemas: else who writes a field first decides what it is */
  constructor(hasRules: boolean) {
    for (const { schemas } of hasRules ? releases : []) {
      for (const { shape } of schemas) {
        for (const field of shape.fields) this.#isDeclared(shape, field);
      }
    }
  }

  /** A commit begins. */
  begin(origin: Stamp): void {
    this.#stamps.add(stampName(origin));
  }

  /** What an operation names that is not there; learns what it brings. */
  fault(operation: Operation, origin: Stamp): string | undefined {
    if (operation.what === "delete") return undefined;
    const { shape, id, generation } = operation;
    const fields = operation.what === "create"
      ? shape.fields
      : operation.changes.map(({ field }) => field);
    const odd = fields.find((field) => !this.#isDeclared(shape, field));
    if (odd !== undefined) {
      return `${odd.name} is no ${odd.kind}`;
    }
    const item = `${shape.collection} ${id} ${generation}`;
    if (operation.what === "create") {
      for (const { name, kind } of fields) {
        this.#created(`${item} ${name}`, kind, operation.item[name], origin);
      }
      return undefined;
    }
    const missing = operation.changes.map(({ field: { name }, change }) =>
      this.#missing(`${item} ${name}`, change)
    ).find((missing) => missing !== undefined);
    return missing && `naming ${missing}`;
  }

  /** Is it what it was before? What nobody knew is so from now on. */
  #isDeclared({ collection }: Shape, { name, kind }: ShapeField): boolean {
    const key = `${collection} ${name}`;
    const merge = mergeClassOf(kind);
    const known = this.#classes.get(key);
    if (known === undefined) this.#classes.set(key, merge);
    return known === undefined || known === merge;
  }

  #created(
    field: string,
    kind: ShapeField["kind"],
    value: Value,
    origin: Stamp,
  ): void {
    const merge = mergeClassOf(kind);
    if (merge !== "list" && merge !== "text") return;
    const state = rich.kinds[merge].begin(value, origin);
    if (state.merge === "text") this.#typed(field, state);
    if (state.merge !== "list") return;
    for (const element of state.elements.keys()) {
      this.#elements.add(`${field} ${element}`);
    }
  }

  #typed(field: string, { clients }: TextState): void {
    for (const [client, { runs }] of clients) {
      const key = `${field} ${client}`;
      const ends = runs.map(({ clock, length }) => clock + length);
      this.#texts.set(key, Math.max(this.#texts.get(key) ?? 0, ...ends));
    }
  }

  #missing(field: string, change: Change): string | undefined {
    const unknown = (elements: readonly string[]) =>
      newIn(
        this.#elements,
        elements.map((element) => [element, `${field} ${element}`]),
      );
    switch (change.what) {
      case "remove":
        return newIn(
          this.#tags,
          change.values.flatMap(({ value, tags }) =>
            tags.map(stampName).filter((tag) => !this.#stamps.has(tag))
              .map((tag) => [tag, `${field} ${value} ${tag}`])
          ),
        );
      case "insert":
        for (const { element } of change.elements) {
          this.#elements.add(`${field} ${element}`);
        }
        return undefined;
      case "move":
        return unknown(change.moves.map(({ element }) => element));
      case "delete":
        return unknown(change.elements);
      case "replace":
        return unknown(change.values.map(([element]) => element));
      case "edit":
        this.#typed(field, change.text);
        return this.#untyped(field, change.text);
      default:
        return undefined;
    }
  }

  /** Is something deleted that nobody typed? */
  #untyped(field: string, { clients }: TextState): string | undefined {
    for (const [client, { gone }] of clients) {
      const known = this.#texts.get(`${field} ${client}`) ?? 0;
      const last = gone.at(-1);
      if (last !== undefined && last.clock + last.length > known) {
        return `${last.length} of ${client}, who typed ${known}`;
      }
    }
  }
}

/** The first name that was not known; from now on all of them are. */
function newIn(
  known: Set<string>,
  names: readonly (readonly [name: string, key: string])[],
): string | undefined {
  const first = names.find(([, key]) => !known.has(key));
  for (const [, key] of names) known.add(key);
  return first?.[0];
}

function stampName({ wall, count, chain }: Stamp): string {
  return `${wall} ${count} ${chain}`;
}
