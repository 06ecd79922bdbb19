/**
 * The keyring: the root key of a database, and the sessions that sign in it.
 *
 * Whoever has the root secret certifies sessions itself. A folder that was made
 * with nothing but a root public key has sessions that write at once and are
 * certified later, by a server. A copy of the folder gets sessions of its own
 * and therefore continues no chain of the original (docs/architecture.md).
 *
 * Architecture invariant: durable before shared (law 3): a certificate or a new
 * key is on the medium before it signs for anybody else to see.
 *
 * @module
 */

import { equalBytes, toHex } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { wallMax } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { Storage, StorageFile } from "../storage/storage.ts";
import { createSigner, generateKeyPair } from "../../crypto/mod.ts";
import {
  decodeCertificate,
  issueCertificate,
  type Session,
  setUnbornAside,
} from "../../repo/mod.ts";
import {
  type Keys,
  readKeys,
  replaceKeys,
  type StoredSession,
  writeKeys,
} from "./keyring_file.ts";

/** What a caller asks of the keys. */
export interface KeyringOptions {
  readonly user: string;
  /** The root key that the folder must belong to, or gets when it is new. */
  readonly rootKey?: Uint8Array | undefined;
  /** The secret of the root key, where this folder shall have it. */
  readonly rootSecret?: Uint8Array | undefined;
  /** May the session certify others? For servers. */
  readonly mayIssue?: boolean | undefined;
}

/** Reads the keys, or makes them when the database is new. */
export async function openKeyring(
  storage: Storage,
  world: World,
  options: KeyringOptions,
): Promise<Keyring> {
  checkKeys(options);
  const identity = storage.identity();
  const stored = readKeys(storage);
  if (stored === undefined) {
    return createKeyring(storage, world, options, identity);
  }
  checkRoot(stored.rootKey, options);
  const isOriginal = stored.identity === identity;
  // A copy signs with keys of its own: none of its repositories, whenever it is
  // opened, continues a chain of the original.
  const keys: Keys = {
    ...stored,
    rootSecret: stored.rootSecret ?? options.rootSecret?.slice(),
    identity,
    sessions: isOriginal ? stored.sessions : [],
  };
  const known = keys.sessions.find(({ user }) => user === options.user);
  const session = known !== undefined && isFit(known, keys, options)
    ? known
    : newSession(keys, world, options, known);
  if (known === undefined && keys.sessions.length >= limits.sessionsMax) {
    throw tooManyUsers(options.user);
  }
  const next = withSession(keys, session);
  const isChanged = session !== known || !isOriginal ||
    keys.rootSecret !== stored.rootSecret;
  if (isChanged) await replaceKeys(storage, next);
  return new Keyring(storage, next, options.user, isOriginal, undefined);
}

/** Is nothing to be done for this session that its folder could do? */
function isFit(
  { certificate }: StoredSession,
  { rootSecret }: Keys,
  { mayIssue }: KeyringOptions,
): boolean {
  if (rootSecret === undefined) return true;
  if (certificate === undefined) return false;
  return mayIssue !== true || decodeCertificate(certificate).mayIssue;
}

/**
 * Makes the keys of a new database. Creating a database is one trip to the
 * medium: the file is synced together with the first repository, or on close.
 */
function createKeyring(
  storage: Storage,
  world: World,
  options: KeyringOptions,
  identity: string,
): Keyring {
  if (!setUnbornAside(storage)) {
    throw new DatabaseError(
      "format-unknown",
      'Cannot open: the folder has repositories but no "database" file. Restore that file from a backup',
    );
  }
  const bare: Keys = { ...rootOf(world, options), identity, sessions: [] };
  const keys = withSession(bare, newSession(bare, world, options));
  const file = writeKeys(storage, keys);
  return new Keyring(storage, keys, options.user, true, file);
}

/** The root of a new database: given, or made. */
function rootOf(
  world: World,
  { rootKey, rootSecret }: KeyringOptions,
): Pick<Keys, "rootKey" | "rootSecret"> {
  if (rootSecret !== undefined) {
    const { publicKey } = createSigner(rootSecret);
    return { rootKey: publicKey, rootSecret: rootSecret.slice() };
  }
  if (rootKey !== undefined) {
    return { rootKey: rootKey.slice(), rootSecret: undefined };
  }
  const pair = generateKeyPair((target) => world.random(target));
  return { rootKey: pair.publicKey, rootSecret: pair.secretKey };
}

function checkKeys(options: KeyringOptions): void {
  const { rootKey, rootSecret } = options;
  for (const key of [rootKey, rootSecret]) {
    if (key === undefined || key.length === 32) continue;
    throw new DatabaseError(
      "invalid-option",
      "`rootKey` and `rootSecret` are 32 bytes",
    );
  }
  if (rootKey !== undefined) checkRoot(rootKey, { ...options, rootKey });
}

function checkRoot(
  rootKey: Uint8Array,
  { rootKey: expected, rootSecret }: KeyringOptions,
): void {
  const keys = [expected];
  if (rootSecret !== undefined) keys.push(createSigner(rootSecret).publicKey);
  for (const key of keys) {
    if (key === undefined || equalBytes(rootKey, key)) continue;
    throw new DatabaseError(
      "root-key-mismatch",
      `Cannot open: the folder belongs to root key ${toHex(rootKey)}, not ${
        toHex(key)
      }. Open the right folder, or leave \`rootKey\` out`,
    );
  }
}

/** A session with a certificate, where there is a root secret; else one without. */
function newSession(
  { rootSecret }: Keys,
  world: World,
  { user, mayIssue = false }: KeyringOptions,
  known?: StoredSession,
): StoredSession {
  // A key that nobody certified yet is kept: it has written.
  const isKept = known !== undefined && known.certificate === undefined;
  const secretKey = isKept
    ? known.secretKey
    : generateKeyPair((target) => world.random(target)).secretKey;
  const others = pastOf(known);
  if (rootSecret === undefined) {
    return { user, secretKey, certificate: undefined, others };
  }
  const { bytes: certificate } = issueCertificate(
    {
      sessionKey: createSigner(secretKey).publicKey,
      user,
      claims: "{}",
      mayIssue,
      notBefore: 0,
      notAfter: wallMax,
    },
    createSigner(rootSecret),
  );
  return { user, secretKey, certificate, others };
}

/** What a session keeps of what it was. */
function pastOf(known: StoredSession | undefined): Uint8Array[] {
  const past = [...known?.others ?? []];
  if (known?.certificate !== undefined) past.push(known.certificate);
  return past.slice(-limits.pastCertificatesMax);
}

function withSession(keys: Keys, session: StoredSession): Keys {
  const others = keys.sessions.filter(({ user }) => user !== session.user);
  return { ...keys, sessions: [...others, session] };
}

function tooManyUsers(user: string): DatabaseError {
  return new DatabaseError(
    "value-too-large",
    `Cannot add user ${
      JSON.stringify(user)
    }: a folder holds keys of at most ${limits.sessionsMax} users`,
  );
}

/** The keys of an open database. */
export class Keyring {
  /** Is this folder where it was when it was last written? */
  readonly isOriginal: boolean;
  /** Were the keys made just now? */
  readonly isNew: boolean;
  readonly #storage: Storage;
  readonly #user: string;
  #keys: Keys;
  #file: StorageFile | undefined;
  #settling: Promise<void> | undefined;
  #storing: Promise<unknown> = Promise.resolve();

  /** Use {@linkcode openKeyring}; `file` is that of keys which are not durable yet. */
  constructor(
    storage: Storage,
    keys: Keys,
    user: string,
    isOriginal: boolean,
    file: StorageFile | undefined,
  ) {
    this.#storage = storage;
    this.#keys = keys;
    this.#user = user;
    this.#file = file;
    this.isOriginal = isOriginal;
    this.isNew = file !== undefined;
  }

  /** The root public key, 32 bytes. */
  get rootKey(): Uint8Array {
    return this.#keys.rootKey;
  }

  /** The root secret, where this folder has it. */
  get rootSecret(): Uint8Array | undefined {
    return this.#keys.rootSecret;
  }

  /** The session that signs here. */
  get session(): Session {
    const { user, secretKey, certificate, others } = this.#stored();
    if (certificate === undefined) return { user, secretKey, others };
    const certified = decodeCertificate(certificate).user;
    return { user: certified, secretKey, certificate, others };
  }

  #stored(): StoredSession {
    return this.#keys.sessions.find(({ user }) => user === this.#user)!;
  }

  /** Makes new keys durable, but not yet the name of their file; runs before anything that needs them is. */
  readonly settle = (): Promise<void> => this.#settling ??= this.#settle();

  async #settle(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    try {
      await file.sync();
    } finally {
      file.close();
    }
  }

  /** Keeps a session with what issuers say of it, instead of the one there was; durable when it resolves. */
  store(session: Omit<Session, "user">): Promise<Session> {
    const storing = this.#storing.then(() => this.#store(session));
    this.#storing = storing.catch(() => {});
    return storing;
  }

  async #store(session: Omit<Session, "user">): Promise<Session> {
    const { secretKey, certificate, others = [] } = session;
    if (!isOfKey(certificate, secretKey)) {
      throw new DatabaseError(
        "invalid-option",
        "The certificate names another key than the session's",
      );
    }
    await this.settle();
    const keys = withSession(this.#keys, {
      user: this.#user,
      secretKey: secretKey.slice(),
      certificate: certificate?.slice(),
      others: others.slice(-limits.pastCertificatesMax),
    });
    await replaceKeys(this.#storage, keys);
    this.#keys = keys;
    return this.session;
  }
}

function isOfKey(
  certificate: Uint8Array | undefined,
  secretKey: Uint8Array,
): boolean {
  if (certificate === undefined) return true;
  const { publicKey } = createSigner(secretKey);
  return equalBytes(decodeCertificate(certificate).sessionKey, publicKey);
}
