/**
 * Fields of a repository that hold what is none of their schema's kind, because
 * it changed or another program has another schema, and counters that went past
 * what numbers hold. Each field is an incident, once.
 */

import type { World } from "../base/world.ts";
import { limits } from "../base/limits.ts";
import type { SchemaField } from "../schema/validate.ts";
import type { OnUnfit } from "../schema/view.ts";
import type { Incident } from "./channel.ts";

export class UnfitFields {
  readonly #world: World;
  readonly #known = new Set<SchemaField>();
  readonly #over = new Set<SchemaField>();
  readonly #incidents: Incident[] = [];
  #hear: ((incident: Incident) => void) | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  /** A value of this field is shown as its default; or elements of it as they are. */
  readonly note: OnUnfit = (field, element, uncounted): void => {
    const known = uncounted === undefined ? this.#known : this.#over;
    if (known.has(field)) return;
    known.add(field);
    const { collection, name, kind } = field;
    const what = uncounted !== undefined
      ? `more than ${limits.countMax} in "${uncounted}": it is read rounded`
      : element === undefined
      ? `values of another kind than ${kind}: they are kept, and read as its default`
      : `elements of another kind than ${element}: they are read as they are`;
    const incident: Incident = {
      kind: uncounted === undefined ? "wrong-kind" : "counter-overflow",
      at: new Date(this.#world.now()),
      message: `"${collection}.${name}" holds ${what}`,
      details: {
        collection,
        field: name,
        ...uncounted === undefined ? { kind } : { id: uncounted },
      },
    };
    if (this.#hear === undefined) this.#incidents.push(incident);
    else this.#hear(incident);
  };

  /** Hears of those that were met before, and of all that follow. */
  listen(hear: (incident: Incident) => void): void {
    this.#hear = hear;
    for (const incident of this.#incidents.splice(0)) hear(incident);
  }
}
