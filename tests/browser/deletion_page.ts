/**
 * A page that deletes repositories, for `deletion_test.ts`: its exports are called.
 *
 * @module
 */

import {
  type Database,
  DatabaseError,
  defineSchema,
  field,
  openDatabase,
} from "@sheaf/sheaf/browser";

const Card = defineSchema("card", { title: field.string() });

let database: Database;

/** Opens the database; says where its files are. */
export async function open(worker: string): Promise<string> {
  database = await openDatabase({ name: "cards", worker, schemas: [Card] });
  return database.storage.status().backend;
}

/** Writes a card to a repository. */
export async function write(name: string, title: string): Promise<void> {
  const repository = await database.repository(name);
  await repository.undo.ready;
  await repository.collection(Card).create({ title });
}

/** Titles in a repository. */
export async function titles(name: string): Promise<string[]> {
  const repository = await database.repository(name);
  return repository.collection(Card).all().map(({ title }) => title).sort();
}

/** Deletes a repository, with all that no server has or without; gives the code of the error. */
export async function remove(
  name: string,
  unsent?: "discard",
): Promise<string> {
  try {
    await database.deleteRepository(name, unsent && { unsent });
    return "deleted";
  } catch (cause) {
    return cause instanceof DatabaseError ? cause.code : String(cause);
  }
}

/** The repositories that there are, as this page was told. */
export function names(): string[] {
  return database.repositories();
}
