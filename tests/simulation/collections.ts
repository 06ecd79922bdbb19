/**
 * What a simulation stores.
 *
 * @module
 */

import type { Replica } from "../../repo/replica.ts";
import { defineSchema, type Schema } from "../../src/schema/schema.ts";
import { createView, type View } from "../../src/schema/view.ts";
import { field } from "../../src/text/mod.ts";

const cardFields = {
  title: field.string(),
  owner: field.string(),
  rank: field.number().default(0),
  tags: field.set(field.string()),
  votes: field.counter(),
  steps: field.list(field.string()),
  notes: field.map(field.string()),
  body: field.text(),
};

/** Every kind of field; few ids, so that actors meet on them. */
export const Card = defineSchema("card", cardFields);

/** A counter that must be the sum of what the marks say was added. */
export const Tally = defineSchema("tally", {
  owner: field.string(),
  total: field.counter(),
});

/**
 * The trace that a write leaves in the data: an item of its own, never changed
 * afterwards. Where the mark is, the write is.
 */
export const Mark = defineSchema("mark", {
  owner: field.string(),
  /** The repository's name, spelled so that it can be found on the wire. */
  place: field.string(),
  /** The tally that this write added to, or "". */
  tally: field.string().default(""),
  by: field.number().default(0),
});

/** Is the mark part of what this replica shows? */
export function shows(replica: Replica, mark: string): boolean {
  return replica.state.find(Mark.name)?.cellOf(mark)?.item !== undefined;
}

/** What an app declares, of which there is more than one release. */
export interface AppSchemas {
  readonly Card: typeof Card;
  readonly schemas: readonly Schema[];
}

const later = defineSchema("card", {
  ...cardFields,
  rank: field.number().default(5),
  due: field.number().default(0),
}, { version: 2, indexes: [["rank"], ["owner", "rank"]] });

/** The releases of the app: the later one knows a field more, has indexes and another default. */
export const releases: readonly AppSchemas[] = [
  { Card, schemas: [Card, Tally, Mark] },
  // Whoever reads and writes the fields that both have finds them of one type.
  { Card: later as unknown as typeof Card, schemas: [later, Tally, Mark] },
];

const views = new Map<string, View>(
  [Card, Tally, Mark].map((schema) => [schema.name, createView(schema)]),
);
const bare: View = createView(undefined);

/** How those who know the schemas read. */
export function knowing(collection: string): View {
  return views.get(collection) ?? bare;
}

/** How the server reads: it knows no schema. */
export function unknowing(): View {
  return bare;
}

/** How a repository's name stands in each of its marks. */
export function placeMark(repository: string): string {
  return `<<${repository}>>`;
}
