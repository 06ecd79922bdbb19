/**
 * Clients for tests of a real server: databases in memory that connect to it.
 *
 * @module
 */

import {
  type Database,
  defineSchema,
  field,
  memoryStorage,
  type Mode,
  openDatabase,
  type Repository,
  type Rules,
  type Storage,
} from "../mod.ts";
import type { Server } from "../server/mod.ts";
import type { Collection } from "../mod.ts";

/** What test clients write. */
export const Note = defineSchema("note", { text: field.string() });

/** One client: a database, its repository and its notes. */
export interface Client extends AsyncDisposable {
  readonly db: Database;
  readonly repo: Repository;
  readonly notes: Collection<typeof Note>;
}

/** How a test client is made. */
export interface ClientOptions {
  readonly token?: string;
  readonly repository?: string;
  readonly storage?: Storage;
  readonly rules?: Rules;
  readonly mode?: Mode;
  /** Stays offline when set. */
  readonly offline?: boolean;
}

/** A client of a server, connected unless it is told not to. */
export async function clientOf(
  server: Pick<Server, "url" | "rootKey">,
  options: ClientOptions = {},
): Promise<Client> {
  const { token, repository = "team/a", rules, offline = false } = options;
  const db = await openDatabase({
    storage: options.storage ?? memoryStorage(),
    rootKey: server.rootKey,
    schemas: [Note],
    ...(rules !== undefined && { rules }),
    ...(options.mode !== undefined && { mode: options.mode }),
  });
  const repo = await db.repository(repository);
  if (!offline) connect(db, server, token);
  return {
    db,
    repo,
    notes: repo.collection(Note),
    [Symbol.asyncDispose]: () => db.close(),
  };
}

/** Connects a database to a server. */
export function connect(
  db: Database,
  server: Pick<Server, "url">,
  token?: string,
): void {
  const session = token === undefined
    ? { anonymous: true as const }
    : { token };
  db.connect(server.url, { session });
}

/** Resolves when the condition holds; asked whenever `subscribe` tells of a change. */
export function until(
  subscribe: (listener: () => void) => () => void,
  isTrue: () => boolean,
): Promise<void> {
  if (isTrue()) return Promise.resolve();
  return new Promise((resolve) => {
    const end = subscribe(() => {
      if (!isTrue()) return;
      end();
      resolve();
    });
  });
}

/** Resolves when a client has a note of this text. */
export function hasNote({ notes }: Client, text: string): Promise<void> {
  return until(
    (listener) => {
      const live = notes.where({ text }).subscribe(listener);
      return () => live[Symbol.dispose]();
    },
    () => notes.where({ text }).count() > 0,
  );
}

/** Resolves when the sync status of a client fits. */
export function syncFits(
  { repo }: Client,
  fits: (status: Repository["sync"]["status"]) => boolean,
): Promise<void> {
  return until(
    (listener) => repo.sync.subscribe(listener),
    () => fits(repo.sync.status),
  );
}

/** Asks every few milliseconds: for what nothing tells of. */
export async function eventually(isTrue: () => boolean): Promise<void> {
  const end = Date.now() + 30_000;
  while (!isTrue()) {
    if (Date.now() > end) throw new Error("It never came true");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The texts of all notes, sorted. */
export function textsOf({ notes }: Pick<Client, "notes">): string[] {
  return notes.all().map(({ text }) => text).sort();
}
