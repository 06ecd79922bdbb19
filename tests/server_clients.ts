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
import { within } from "./kit/patience.ts";

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
  readonly salt?: boolean;
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
    ...(options.salt !== undefined && { salt: options.salt }),
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

/** Resolves when a client has a note of this text. */
export async function hasNote(
  { notes }: Client,
  text: string,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _live = notes.where({ text }).subscribe(({ rows }) => {
    if (rows.length > 0) resolve();
  });
  if (notes.where({ text }).count() > 0) return;
  const has = () => JSON.stringify(textsOf({ notes }));
  await within(promise, () => `a note "${text}" comes; there are ${has()}`);
}

/** Resolves when the sync status of a client fits. */
export async function syncFits(
  { repo: { sync } }: Client,
  fits: (status: Repository["sync"]["status"]) => boolean,
  what: string,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = sync.subscribe(() => void (fits(sync.status) && resolve()));
  if (fits(sync.status)) resolve();
  const is = () => `${what}; it is ${Deno.inspect(sync.status)}`;
  await within(promise, is).finally(end);
}

/** The texts of all notes, sorted. */
export function textsOf({ notes }: Pick<Client, "notes">): string[] {
  return notes.all().map(({ text }) => text).sort();
}
