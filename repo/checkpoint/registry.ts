/**
 * The numbers that origins, chains and shapes have in a checkpoint under way.
 *
 * Those of the previous checkpoint keep theirs, so that cells can be carried
 * over as bytes.
 */

import { toHex } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import type { Cell, Origin } from "../../src/schema/cell.ts";
import { isRich } from "../../src/schema/kinds.ts";
import type { Shape, ShapeField } from "../../src/schema/patch.ts";
import { encodeShape } from "../../src/schema/shape_codec.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { StoredOrigin } from "./tables.ts";
import { IN_HEAP, NO_ADDRESS, type Records } from "./layout.ts";
import type { PageWriter } from "./page_writer.ts";

export class Registry {
  /** By number. */
  readonly chains: string[];
  /** By number. */
  readonly shapes: Shape[];
  readonly #previous: Checkpoint | undefined;
  readonly #carried: number;
  readonly #origins: Origin[] = [];
  readonly #originNumbers = new Map<Origin, number>();
  readonly #chainNumbers: Map<string, number>;
  readonly #shapeNumbers = new Map<Shape, number>();
  readonly #shapesByContent = new Map<string, number>();
  /** A field that has a state in a cell of the collection under way. */
  #state: ShapeField | undefined;

  readonly isWhole: boolean;

  /**
   * @param previous whose numbers are kept
   * @param isWhole whether no row names an item in the log
   */
  constructor(previous: Checkpoint | undefined, isWhole: boolean) {
    this.isWhole = isWhole;
    this.#previous = previous;
    this.#carried = previous?.directory.origins.count ?? 0;
    this.chains = [...previous?.directory.chains ?? []];
    this.shapes = [...previous?.directory.shapes ?? []];
    this.#chainNumbers = new Map(this.chains.map((chain, i) => [chain, i]));
    this.shapes.forEach((shape, i) => {
      this.#shapeNumbers.set(shape, i);
      this.#shapesByContent.set(contentOf(shape), i);
    });
  }

  /** Do origins and shapes of the previous checkpoint keep their numbers? */
  get keepsNumbers(): boolean {
    return this.#previous !== undefined;
  }

  origin(origin: Origin): number {
    if (this.#previous !== undefined && isStored(origin, this.#previous)) {
      return origin.index;
    }
    let number = this.#originNumbers.get(origin);
    if (number === undefined) {
      number = this.#carried + this.#origins.length;
      this.#origins.push(origin);
      this.#originNumbers.set(origin, number);
    }
    return number;
  }

  shape(shape: Shape): number {
    const known = this.#shapeNumbers.get(shape);
    if (known !== undefined) return known;
    const content = contentOf(shape);
    let number = this.#shapesByContent.get(content);
    if (number === undefined) {
      number = this.shapes.length;
      this.shapes.push(shape);
      this.#shapesByContent.set(content, number);
    }
    this.#shapeNumbers.set(shape, number);
    return number;
  }

  /** A cell is written that has states. */
  states(rich: NonNullable<Cell["rich"]>): void {
    for (const [name, { merge }] of rich) this.#state ??= { name, kind: merge };
  }

  /**
   * Fields that only updates wrote get shapes of their own, so that what they are
   * stays known. Where cells have states one shape at least tells of them: what
   * reads them is loaded for the shapes.
   */
  fields(collection: string, fields: readonly ShapeField[]): void {
    this.#known(collection, fields);
    const state = this.#state;
    this.#state = undefined;
    const isTold = this.shapes.some(({ fields }) =>
      fields.some(({ kind }) => isRich(kind))
    );
    if (state === undefined || isTold) return;
    this.shape({ collection, version: 0, fields: [state] });
  }

  #known(collection: string, fields: readonly ShapeField[]): void {
    const known = new Set(
      this.shapes.flatMap((shape) =>
        shape.collection === collection
          ? shape.fields.map(({ name }) => name)
          : []
      ),
    );
    if (fields.every(({ name }) => known.has(name))) return;
    for (let i = 0; i < fields.length; i += limits.fieldsMax) {
      const part = fields.slice(i, i + limits.fieldsMax);
      this.shape({ collection, version: 0, fields: part });
    }
  }

  fitsRow(shape: number): boolean {
    return shape < IN_HEAP;
  }

  *writeOrigins(writer: PageWriter): Generator<void, Records> {
    const first = writer.begin();
    const count = this.#carried + this.#origins.length;
    for (let i = 0; i < count; i++) {
      const { wall, count, chain, operationsAt } = i < this.#carried
        ? this.#previous!.origin(i)
        : this.#origins[i - this.#carried]!;
      const at = operationsAt < 0 ? NO_ADDRESS : operationsAt;
      writer.origin(wall, count, this.#chain(chain), at);
      if ((i & 1023) === 1023) yield;
    }
    writer.end();
    return { first, count };
  }

  #chain(chain: string): number {
    let number = this.#chainNumbers.get(chain);
    if (number === undefined) {
      number = this.chains.length;
      this.chains.push(chain);
      this.#chainNumbers.set(chain, number);
    }
    return number;
  }
}

function isStored(origin: Origin, owner: Checkpoint): origin is StoredOrigin {
  return "owner" in origin && origin.owner === owner;
}

function contentOf(shape: Shape): string {
  return toHex(encodeShape(shape));
}
