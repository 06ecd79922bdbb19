/**
 * The server's own records: which sessions it issued, which sessions and users it
 * revoked, and what it keeps in quarantine. They are items of a repository that no peer
 * may open, so that backup, restore and history need nothing of their own.
 */

import { DatabaseError } from "../src/base/errors.ts";
import type { Collection } from "../src/db/collection.ts";
import type { Database } from "../src/db/database.ts";
import type { Repository } from "../src/db/repository.ts";
import { replicaOf } from "../src/db/internals.ts";
import { defineSchema, field, type Infer } from "../src/schema/mod.ts";
import type { Storage } from "../src/storage/storage.ts";
import { finish } from "../src/base/steps.ts";
import { DAMAGED } from "../repo/log/format.ts";
import { isDamage } from "../repo/log/mend.ts";
import {
  markDamaged,
  parseRepositoryName,
  replicaFolder,
} from "../repo/mod.ts";

/** Name of the server's own repository. Names that begin like it are closed to peers. */
export const SERVER_REPOSITORY = "_server";

/** Sessions by public key, hexadecimal. */
export const IssuedSession = defineSchema("server-session", {
  user: field.string(),
  claims: field.json(),
  issued: field.date(),
  expires: field.date(),
}, { indexes: [["user"]] });

export const RevokedSession = defineSchema("server-revocation", {
  reason: field.string(),
  at: field.date(),
});

/** Users whose sessions were revoked, by a hash of their names. */
export const RevokedUser = defineSchema("server-revoked-user", {
  user: field.string(),
  reason: field.string(),
  /** Sessions that were certified by then are over. */
  at: field.date(),
  /** No certificate that was given by then is good for longer, as far as is known. */
  until: field.date(),
});

export const QuarantinedBatch = defineSchema("server-quarantine", {
  repository: field.string(),
  /** The commits' chain, hexadecimal. */
  chain: field.string(),
  first: field.number(),
  count: field.number(),
  user: field.string(),
  reason: field.string(),
  at: field.date(),
  signed: field.boolean(),
  bytes: field.bytes(),
});

/** What a server that lost its disk is known to have had, by repository. */
export const KnownLoss = defineSchema("server-loss", {
  /** Which commits there were: chains, counts and last ids. */
  summary: field.bytes(),
  /** When the server had said so. */
  wall: field.date(),
});

/** That rules have judged here: one item, if they have. */
export const Judged = defineSchema("server-judged", { since: field.date() });

export const bookSchemas = [
  IssuedSession,
  RevokedSession,
  RevokedUser,
  QuarantinedBatch,
  KnownLoss,
  Judged,
] as const;

export interface Books {
  readonly sessions: Collection<typeof IssuedSession>;
  readonly revocations: Collection<typeof RevokedSession>;
  readonly revokedUsers: Collection<typeof RevokedUser>;
  readonly quarantine: Collection<typeof QuarantinedBatch>;
  readonly losses: Collection<typeof KnownLoss>;
  readonly judged: Collection<typeof Judged>;
}

export type QuarantineItem = Infer<typeof QuarantinedBatch>;

/**
 * Repairs the server's own records where they are damaged: nobody can give back
 * what they lost, but a server that does not start helps nobody.
 *
 * @param storage where they lie, if a repair is wanted
 * @returns why they were repaired, if they were
 */
export async function repairBooks(
  database: Database,
  storage: Storage | undefined,
): Promise<DatabaseError | undefined> {
  const why = await damageOf(database);
  if (why === undefined) return undefined;
  const name = parseRepositoryName(SERVER_REPOSITORY);
  if (storage === undefined) throw unusable(why);
  markDamaged(storage, name);
  const left = await damageOf(database);
  if (left === undefined) return why;
  storage.remove(`${replicaFolder(name)}/${DAMAGED}`);
  throw unusable(left);
}

/** What keeps the books from being opened, if it is damage. */
async function damageOf(
  database: Database,
): Promise<DatabaseError | undefined> {
  try {
    await database.repository(SERVER_REPOSITORY);
    return undefined;
  } catch (cause) {
    if (isDamage(cause)) return cause;
    throw cause;
  }
}

function unusable(cause: DatabaseError): DatabaseError {
  const folder = replicaFolder(parseRepositoryName(SERVER_REPOSITORY));
  return new DatabaseError(
    cause.code,
    `Cannot start: the server's own records are damaged. ${cause.message} ` +
      `Or move the folder ${folder} away, and keep it: sessions and revocations are learned again ` +
      "from other repositories, what is in quarantine is not",
    { cause },
  );
}

export async function openBooks(database: Database): Promise<Books> {
  const repository = await openSound(database);
  return {
    sessions: repository.collection(IssuedSession),
    revocations: repository.collection(RevokedSession),
    revokedUsers: repository.collection(RevokedUser),
    quarantine: repository.collection(QuarantinedBatch),
    losses: repository.collection(KnownLoss),
    judged: repository.collection(Judged),
  };
}

/** Only a restart opens them again: a checkpoint that is damaged anywhere goes now. */
async function openSound(database: Database): Promise<Repository> {
  const repository = await database.repository(SERVER_REPOSITORY);
  const file = replicaOf(repository).loaded.checkpoint?.file;
  if (file === undefined) return repository;
  try {
    finish(file.verify());
    return repository;
  } catch {
    file.isDamaged = true; // It goes when it is closed.
    await repository.close();
    return await database.repository(SERVER_REPOSITORY);
  }
}
