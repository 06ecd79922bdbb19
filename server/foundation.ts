/** What a server stands on: its medium, its keys, its database and books. */

import { createSigner } from "../crypto/mod.ts";
import { assert, DatabaseError } from "../src/base/errors.ts";
import { wallMax } from "../src/base/hlc.ts";
import { checkOptions } from "../src/base/known_options.ts";
import type { World } from "../src/base/world.ts";
import { type Database, openServed } from "../src/db/database.ts";
import { internalsOf, replicaOf } from "../src/db/internals.ts";
import type { Keyring } from "../src/db/keyring.ts";
import { diskStorage } from "../src/storage/disk_storage.ts";
import type {
  OpenFileOptions,
  Storage,
  StorageFile,
} from "../src/storage/storage.ts";
import { decodeCertificate, type Replica } from "../repo/mod.ts";
import type { ServerProver } from "../sync/proof.ts";
import {
  type Books,
  bookSchemas,
  openBooks,
  repairBooks,
  SERVER_REPOSITORY,
} from "./books.ts";
import {
  defaultQuotas,
  type KnownOptions,
  type Quotas,
  type ServerOptions,
} from "./options.ts";
import {
  checkRootSecret,
  readRootKeyFile,
  writeKeyFile,
} from "./root_key_file.ts";
import type { Issuer } from "./sessions.ts";
import { StorageOver } from "../src/storage/storage_over.ts";

const SERVER_USER = "server";

/** The one item of its collection. */
const JUDGED = "rules";

export interface Foundation {
  readonly database: Database;
  readonly storage: Storage;
  readonly books: Books;
  readonly repaired: DatabaseError | undefined;
  readonly prover: ServerProver;
  readonly issuer: Issuer;
  readonly isNew: boolean;
  /** The books' own replica. */
  readonly own: Replica;
}

export async function layFoundation(
  options: KnownOptions,
  world: World,
  synced: () => void,
): Promise<Foundation> {
  const medium = mediumOf(options);
  const { schemas = [] } = options;
  const storage = new CountedStorage(medium, synced);
  const isNew = isEmpty(medium);
  const rootSecret = await rootSecretOf(options);
  const database = await openServed({
    storage,
    world,
    user: SERVER_USER,
    mayIssue: true,
    // What is no list is refused where it is opened.
    schemas: Array.isArray(schemas) ? [...bookSchemas, ...schemas] : schemas,
    scrub: options.scrub,
    salt: options.salt ?? false,
    ...(options.mode !== undefined && { mode: options.mode }),
    ...(options.rules !== undefined && { rules: options.rules }),
    ...(rootSecret !== undefined && { rootSecret }),
  });
  try {
    const { keyring } = internalsOf(database);
    await keepRootSecret(options, keyring);
    const scrubbed = options.scrub === false ? undefined : medium;
    const repaired = await repairBooks(database, scrubbed);
    const books = await openBooks(database);
    await keepRules(options, books, world);
    const prover = proverOf(keyring);
    const issuer = issuerOf(keyring, prover);
    const own = replicaOf(await database.repository(SERVER_REPOSITORY));
    const keys = { prover, issuer };
    return { database, storage: medium, books, repaired, own, ...keys, isNew };
  } catch (cause) {
    await database.close();
    throw cause;
  }
}

export function quotasOf({ quotas = {} }: ServerOptions): Quotas {
  checkOptions(quotas, defaultQuotas, "quotas.");
  for (const [name, value] of Object.entries(quotas)) {
    if (Number.isFinite(value) && value >= 1) continue;
    throw new DatabaseError(
      "invalid-option",
      `\`quotas.${name}\` must be a number from 1, not ${value}`,
    );
  }
  return { ...defaultQuotas, ...quotas };
}

function mediumOf({ data, storage }: ServerOptions): Storage {
  if ((data === undefined) === (storage === undefined)) {
    throw new DatabaseError(
      "invalid-option",
      "Give either `data` or `storage`",
    );
  }
  return storage ?? diskStorage(data!);
}

function isEmpty(medium: Storage): boolean {
  const file = medium.open("database");
  file?.close();
  return file === undefined;
}

/** The root secret that a new database is to have; a database that is there must fit it. */
async function rootSecretOf(
  { rootSecret, rootKeyFile }: ServerOptions,
): Promise<Uint8Array | undefined> {
  if (rootSecret !== undefined) return rootSecret;
  return rootKeyFile === undefined
    ? undefined
    : await readRootKeyFile(rootKeyFile);
}

/** Exports the root secret to a file that is not there yet. */
async function keepRootSecret(
  { rootKeyFile }: ServerOptions,
  { rootKey, rootSecret }: Keyring,
): Promise<void> {
  if (rootKeyFile === undefined) return;
  const kept = await readRootKeyFile(rootKeyFile);
  if (kept !== undefined) return checkRootSecret(rootKeyFile, kept, rootKey);
  if (rootSecret === undefined) {
    throw new DatabaseError(
      "invalid-option",
      `Cannot write ${rootKeyFile}: this folder has no root secret`,
    );
  }
  await writeKeyFile(rootKeyFile, { secret: rootSecret });
}

/** What rules have judged is not written without them by mistake: nothing would say so later. */
async function keepRules(
  { rules, noRules = false }: ServerOptions,
  { judged }: Books,
  world: World,
): Promise<void> {
  if (rules !== undefined && noRules) {
    throw new DatabaseError(
      "invalid-option",
      "Cannot start with rules and without them: leave rules or noRules away",
    );
  }
  const isJudged = judged.has(JUDGED);
  if (rules !== undefined && !isJudged) {
    await judged.create({ id: JUDGED, since: new Date(world.now()) });
  }
  if (rules !== undefined || noRules || !isJudged) return;
  throw new DatabaseError(
    "rules-missing",
    `Rules have judged what is written here since ${
      judged.get(JUDGED)!.since.toISOString()
    }, and none are given: everybody could write everything. Give the rules, or say ` +
      "noRules (--no-rules) if that is meant",
  );
}

/** The server's own session. */
function proverOf({ session, key }: Keyring): ServerProver {
  const { certificate, others = [] } = session;
  const mayIssue = certificate !== undefined &&
    decodeCertificate(certificate).mayIssue;
  if (!mayIssue) {
    throw new DatabaseError(
      "root-key-mismatch",
      "This folder's server session may not issue certificates, and there is no root secret " +
        "to change that: give the root secret or key file",
    );
  }
  assert(key.secret instanceof Uint8Array, "a server has no vault");
  const { publicKey, sign } = createSigner(key.secret);
  return { publicKey, certificates: [certificate, ...others], sign };
}

/** The root itself where its secret is here, else the server's own session. */
function issuerOf({ rootSecret }: Keyring, prover: ServerProver): Issuer {
  if (rootSecret !== undefined) {
    const signer = createSigner(rootSecret);
    return { signer, certificates: [], notAfter: wallMax };
  }
  const [own] = prover.certificates;
  assert(own !== undefined, "a prover has a certificate");
  const { notAfter } = decodeCertificate(own);
  return { signer: prover, certificates: prover.certificates, notAfter };
}

export class CountedStorage extends StorageOver {
  readonly #synced: () => void;

  /** @param synced runs before every sync of a file */
  constructor(storage: Storage, synced: () => void) {
    super(storage);
    this.#synced = synced;
  }

  override open(
    name: string,
    options?: OpenFileOptions,
  ): StorageFile | undefined {
    const file = super.open(name, options);
    return file && countedFile(file, this.#synced);
  }
}

function countedFile(file: StorageFile, synced: () => void): StorageFile {
  return {
    size: () => file.size(),
    readAt: (target, offset) => file.readAt(target, offset),
    writeAt: (bytes, offset) => file.writeAt(bytes, offset),
    truncate: (length) => file.truncate(length),
    sync(isMet) {
      synced();
      return file.sync(isMet);
    },
    close: () => file.close(),
  };
}
