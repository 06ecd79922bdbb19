/**
 * What every command needs: two outputs, an interrupt, and the repository and
 * collection that were meant.
 *
 * Architecture invariant: whatever happens in a command, the database that it
 * opened is closed before the process ends.
 */

import type { Database } from "../db/database.ts";
import type { ReadableCollection } from "../db/readable_collection.ts";
import type { Repository } from "../db/repository.ts";
import type { Schema } from "../schema/schema.ts";
import { isDatabase, open, type OpenRequest } from "./database.ts";
import { exitCodes, Failure, usageFailure } from "./failure.ts";
import type { Field } from "./field.ts";
import type { Output } from "./output.ts";

export interface Context {
  readonly out: Output;
  readonly err: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Asks the person for a line, where there is one to ask. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
}

export interface CommonOptions {
  readonly data: string;
  readonly repo?: string;
  readonly collection?: string;
}

export function checkInterrupt(signal: AbortSignal): void {
  if (signal.aborted) throw interruption();
}

/** Lets timers and signals have their turn, then checks for Ctrl-C. */
export async function breathe(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  checkInterrupt(signal);
}

/** Asks before what nobody can take back. */
export async function confirm(
  { ask, signal }: Context,
  { question, hint, otherwise }: {
    readonly question: string;
    /** How to go without an answer. */
    readonly hint: string;
    readonly otherwise: string;
  },
): Promise<void> {
  if (ask === undefined) {
    throw usageFailure(
      "Cannot ask for confirmation: standard input is not a terminal",
      hint,
    );
  }
  const answer = await ask(`${question} [y/N] `);
  checkInterrupt(signal);
  if (/^y(es)?$/i.test(answer?.trim() ?? "")) return;
  throw new Failure("not-confirmed", otherwise);
}

function interruption(): Failure {
  return new Failure(
    "interrupted",
    "Stopped by Ctrl-C; the database is closed and whole",
    undefined,
    exitCodes.interrupted,
  );
}

/** Opens the database for `work` and closes it whatever happens. */
export async function withDatabase<T>(
  request: OpenRequest,
  work: (database: Database) => Promise<T> | T,
): Promise<T> {
  const database = await open(request);
  let result: T;
  try {
    result = await work(database);
  } catch (error) {
    // The first failure is the one to tell; closing after it may fail too.
    await database.close().catch(() => {});
    throw error;
  }
  await database.close();
  return result;
}

/** Opens a database that is there, for commands that only read. */
export function withStored<T>(
  { data }: CommonOptions,
  work: (database: Database) => Promise<T> | T,
  isShared = false,
): Promise<T> {
  const request = { path: data, isRead: true, isShared };
  if (isDatabase(data)) return withDatabase(request, work);
  throw new Failure(
    "not-found",
    `No database in "${data}"`,
    "name its folder with --data DIR",
  );
}

/**
 * Opens a repository that is there, for commands that only read.
 *
 * @param isShared may another process write the files meanwhile?
 */
export function withRepository<T>(
  options: CommonOptions,
  work: (repository: Repository, database: Database) => Promise<T> | T,
  isShared = false,
): Promise<T> {
  return withStored(options, async (database) => {
    const name = chooseRepository(database, options);
    return await work(await database.repository(name), database);
  }, isShared);
}

export function chooseRepository(
  database: Database,
  { repo, data }: CommonOptions,
): string {
  const names = database.repositories();
  if (repo !== undefined) {
    if (names.includes(repo)) return repo;
    throw new Failure(
      "not-found",
      `No repository "${repo}" in "${data}"`,
      `it has ${list(names)}`,
    );
  }
  const [only, ...others] = names;
  if (only === undefined) {
    throw new Failure("not-found", `No repository in "${data}" yet`);
  }
  if (others.length === 0) return only;
  throw usageFailure(
    `"${data}" has ${names.length} repositories: name one with --repo NAME`,
    `it has ${list(names)}`,
  );
}

/** A collection, and the fields that its items were written with. */
export interface Chosen {
  readonly collection: ReadableCollection<Schema>;
  readonly fields: readonly Field[];
}

export function chooseCollection(
  repository: Repository,
  name: string | undefined,
): Chosen {
  const stored = repository.collections();
  const names = stored.map(({ name }) => name);
  const chosen = name ?? (names.length === 1 ? names[0] : undefined);
  const found = stored.find(({ name }) => name === chosen);
  if (found !== undefined) {
    const collection = repository.storedCollection(found.name);
    return { collection, fields: found.fields };
  }
  if (names.length === 0) {
    throw new Failure("not-found", `"${repository.name}" has no collections`);
  }
  if (chosen === undefined) {
    throw usageFailure(
      `"${repository.name}" has ${names.length} collections: name one with --collection NAME`,
      `it has ${list(names)}`,
    );
  }
  throw new Failure(
    "not-found",
    `No collection "${chosen}" in "${repository.name}"`,
    `it has ${list(names)}`,
  );
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 12).join(", ");
  return names.length > 12 ? `${shown}, and ${names.length - 12} more` : shown;
}
