/** The collections of a repository: those that the app declares, and what is stored besides. */

import { schemasOf } from "../db/observe.ts";
import type { ReadableCollection } from "../db/readable_collection.ts";
import type { Repository } from "../db/repository.ts";
import type { Schema } from "../schema/schema.ts";

/** Names: what the app declares, in its order, and then the rest. */
export function collectionsOf(repository: Repository): string[] {
  const declared = schemasOf(repository).map(({ name }) => name);
  const stored = repository.collections().map(({ name }) => name);
  return [...new Set([...declared, ...stored])];
}

/** The schema that the app declares under a name; without one nothing can be written. */
export function schemaOf(
  repository: Repository,
  name: string,
): Schema | undefined {
  return schemasOf(repository).find((schema) => schema.name === name);
}

/** To read one of them, be it empty. */
export function collectionOf(
  repository: Repository,
  name: string,
): ReadableCollection<Schema> {
  const schema = schemaOf(repository, name);
  return schema === undefined
    ? repository.storedCollection(name)
    : repository.collection(schema);
}
