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
 */

import { equalBytes, toHex } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { wallMax } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { KeyVault } from "../storage/key_vault.ts";
import type { Storage, StorageFile } from "../storage/storage.ts";
import { lateEd25519 } from "../../crypto/late_ed25519.ts";
import {
  type Certificate,
  decodeCertificate,
  issueCertificateLater,
  type Session,
  setUnbornAside,
} from "../../repo/mod.ts";
import {
  findKeys,
  keepCopy,
  type Keys,
  mendKeys,
  openKeys,
  readKeys,
  replaceKeys,
  type StoredSession,
  writeKeys,
} from "./keyring_file.ts";
import {
  findKey,
  keepAgain,
  keyOfSeed,
  newKey,
  type SessionKey,
  type StoredKey,
  storedKeyOf,
} from "./session_key.ts";

export interface KeyringOptions extends SessionOptions {
  /** The root key that the folder must belong to, or gets when it is new. */
  readonly rootKey?: Uint8Array | undefined;
  /** The secret of the root key, where this folder shall have it. */
  readonly rootSecret?: Uint8Array | undefined;
  /** Who wrote here until all files were lost: new ones go on with it. */
  readonly lostSession?: KeptSession | undefined;
}

export interface KeptSession extends Omit<Session, "user" | "signer"> {
  readonly key: SessionKey;
}

/** Reads the keys, or makes them when the database is new. */
export async function openKeyring(
  storage: Storage,
  world: World,
  options: KeyringOptions,
): Promise<Keyring> {
  return await lateEd25519.within(() => openHere(storage, world, options));
}

async function openHere(
  storage: Storage,
  world: World,
  options: KeyringOptions,
): Promise<Keyring> {
  checkKeys(options);
  const identity = storage.identity();
  const found = findKeys(storage);
  if (found === undefined) {
    return await createKeyring(storage, world, options, identity);
  }
  const { keys: stored, bytes, isCopy } = found;
  checkRoot(stored.rootKey, options);
  const isOriginal = stored.identity === identity;
  // A copy signs with keys of its own: none of its repositories, whenever it is
  // opened, continues a chain of the original.
  const keys: Keys = {
    ...stored,
    root: stored.root ?? givenRoot(options),
    identity,
    sessions: isOriginal ? stored.sessions : [],
  };
  const { user, vault } = options;
  const known = keys.sessions.find((session) => session.user === user);
  if (known === undefined && keys.sessions.length >= limits.sessionsMax) {
    throw tooManyUsers(user);
  }
  const root = keys.root && await findKey(keys.root, vault);
  const key = known && await findKey(known.key, vault);
  const isKept = known !== undefined && key !== undefined &&
    isFit(known, root, options);
  const session = isKept
    ? { ...known, key }
    : await newSession(root, world, options, known, key);
  const next = withSession(keys, storedOf(session));
  const isChanged = !isKept || !isOriginal || keys.root !== stored.root;
  if (isCopy) await mendKeys(storage, next);
  else if (isChanged) await replaceKeys(storage, next);
  keepCopy(storage, next, isCopy || isChanged ? undefined : bytes);
  return new Keyring({
    storage,
    world,
    vault,
    user,
    keys: next,
    root,
    key: session.key,
    isOriginal,
    isKeyLost: known !== undefined && key === undefined,
    isMended: isCopy,
    file: undefined,
  });
}

/**
 * Makes the keys of a new database. Creating a database is one trip to the
 * medium: the file is synced together with the first repository, or on close.
 */
async function createKeyring(
  storage: Storage,
  world: World,
  options: KeyringOptions,
  identity: string,
): Promise<Keyring> {
  if (!await setUnbornAside(storage)) {
    throw new DatabaseError(
      "format-unknown",
      'Cannot open: the folder has repositories but no "database" file. Restore that file from a backup',
    );
  }
  const { user, vault } = options;
  const root = await rootOf(world, options);
  const rootKey = root?.signer.publicKey ?? options.rootKey!.slice();
  const session = await goneOn(root, options) ??
    await newSession(root, world, options);
  const keys: Keys = {
    rootKey,
    root: root && storedKeyOf(root),
    identity,
    sessions: [storedOf(session)],
  };
  return new Keyring({
    storage,
    world,
    vault,
    user,
    keys,
    root,
    key: session.key,
    isOriginal: true,
    isKeyLost: false,
    isMended: false,
    file: writeKeys(storage, keys),
  });
}

/** The session of files that were lost; whoever has the root's secret makes another. */
async function goneOn(
  root: SessionKey | undefined,
  { lostSession, user, vault }: KeyringOptions,
): Promise<OpenSession | undefined> {
  if (lostSession === undefined || root !== undefined) return undefined;
  const { key, certificate, others = [] } = lostSession;
  checkCertificate(certificate, key);
  // A vault that fails costs the key at the next opening, not now.
  await keepAgain(key, vault).catch(() => {});
  return { user, key, certificate, others, lost: [] };
}

/** The root of a new database: given, or made; `undefined` where somebody else has its secret. */
async function rootOf(
  world: World,
  { rootKey, rootSecret, vault }: KeyringOptions,
): Promise<SessionKey | undefined> {
  if (rootSecret !== undefined) return keyOfSeed(rootSecret.slice());
  return rootKey === undefined ? await newKey(world, vault) : undefined;
}

function givenRoot({ rootSecret }: KeyringOptions): StoredKey | undefined {
  return rootSecret && storedKeyOf(keyOfSeed(rootSecret));
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
  if (rootSecret !== undefined) {
    keys.push(keyOfSeed(rootSecret).signer.publicKey);
  }
  for (const key of keys) {
    if (key === undefined || equalBytes(rootKey, key)) continue;
    throw new DatabaseError(
      "root-key-mismatch",
      `Cannot open: the folder belongs to root key ${toHex(rootKey)}, not ${
        toHex(key)
      }. Open the right folder (in a page: another \`name\`), or leave \`rootKey\` out`,
    );
  }
}

function tooManyUsers(user: string): DatabaseError {
  return new DatabaseError(
    "value-too-large",
    `Cannot add user ${
      JSON.stringify(user)
    }: a folder holds keys of at most ${limits.sessionsMax} users`,
  );
}

interface KeyringParts {
  readonly storage: Storage;
  readonly world: World;
  readonly vault: KeyVault | undefined;
  readonly user: string;
  readonly keys: Keys;
  readonly root: SessionKey | undefined;
  readonly key: SessionKey;
  readonly isOriginal: boolean;
  readonly isKeyLost: boolean;
  readonly isMended: boolean;
  /** Of keys which are not durable yet. */
  readonly file: StorageFile | undefined;
}

export class Keyring {
  /** Is this folder where it was when it was last written? */
  readonly isOriginal: boolean;
  readonly isNew: boolean;
  /** Had the vault lost the key of the session, so that there is a new one? */
  readonly isKeyLost: boolean;
  /** Was their file damaged or gone, so that it was written anew from its copy? */
  readonly isMended: boolean;
  readonly #parts: KeyringParts;
  #keys: Keys;
  #key: SessionKey;
  #file: StorageFile | undefined;
  #session!: Session;
  #certificate: Certificate | undefined;
  #obtainedAt: number | undefined;
  /** Hears of each session that signs from now on. */
  onSession: ((session: Session) => void) | undefined;
  #settling: Promise<void> | undefined;
  /** Did a sync fail? What it left of the file nobody knows: another one takes its place. */
  #isUnsure = false;
  #storing: Promise<unknown> = Promise.resolve();

  /** Use {@linkcode openKeyring}. */
  constructor(parts: KeyringParts) {
    this.#parts = parts;
    this.#keys = parts.keys;
    this.#key = parts.key;
    this.#file = parts.file;
    this.isOriginal = parts.isOriginal;
    this.isKeyLost = parts.isKeyLost;
    this.isMended = parts.isMended;
    this.isNew = parts.file !== undefined;
    this.#read();
  }

  /** The root public key, 32 bytes. */
  get rootKey(): Uint8Array {
    return this.#keys.rootKey;
  }

  /** The root secret, where this folder has it as bytes. */
  get rootSecret(): Uint8Array | undefined {
    return this.#keys.root?.secret;
  }

  /** The key that signs here. */
  get key(): SessionKey {
    return this.#key;
  }

  /** The session that signs here; the same object until there is another. */
  get session(): Session {
    return this.#session;
  }

  get certificate(): Certificate | undefined {
    return this.#certificate;
  }

  /** When that was had, where that was since the database was opened. */
  get obtainedAt(): number | undefined {
    return this.#obtainedAt;
  }

  #read(): void {
    const { user, certificate, others } = this.#stored();
    const { signer } = this.#key;
    this.#certificate = certificate && decodeCertificate(certificate);
    this.#session = {
      ...{ user: this.#certificate?.user ?? user, signer, others },
      ...certificate && { certificate },
    };
  }

  #stored(): StoredSession {
    const { user } = this.#parts;
    return this.#keys.sessions.find((session) => session.user === user)!;
  }

  /** Public keys that it wrote with, and that were lost before anybody certified them. */
  get lost(): readonly Uint8Array[] {
    return this.#stored().lost;
  }

  /** Makes another key, which signs once it is stored. */
  newKey(): Promise<SessionKey> {
    return newKey(this.#parts.world, this.#parts.vault);
  }

  /**
   * Makes the keys durable, but not yet the name of their file; runs before
   * anything that needs them is. Whoever wrote keys that were found may have
   * died before they were.
   */
  readonly settle = (): Promise<void> =>
    this.#settling ??= this.#settle().catch((cause) => {
      this.#isUnsure = true;
      this.#settling = undefined;
      throw cause;
    });

  async #settle(): Promise<void> {
    const { storage } = this.#parts;
    const file = this.#file ?? openKeys(storage);
    if (file === undefined) return;
    this.#file = undefined;
    try {
      if (this.#isUnsure) await replaceKeys(storage, this.#keys);
      else await file.sync();
    } finally {
      file.close();
    }
    keepCopy(storage, this.#keys);
  }

  /** Writes its keys into other files, where those have none: the own ones were lost. */
  async copyTo(storage: Storage): Promise<void> {
    if (readKeys(storage) !== undefined) return;
    const { root, vault } = this.#parts;
    for (const key of [root, this.#key]) if (key) await keepAgain(key, vault);
    const identity = storage.identity();
    const keys = { ...this.#keys, identity };
    await replaceKeys(storage, keys);
    keepCopy(storage, keys);
  }

  /** Writes the file anew where it is not what it was; was it not? */
  mend(): Promise<boolean> {
    const mending = this.#storing.then(() => this.#mend());
    this.#storing = mending.catch(() => {});
    return mending;
  }

  async #mend(): Promise<boolean> {
    const { storage } = this.#parts;
    try {
      if (readKeys(storage) !== undefined) {
        keepCopy(storage, this.#keys);
        return false;
      }
    } catch (cause) {
      if (!(cause instanceof DatabaseError)) throw cause;
    }
    await mendKeys(storage, this.#keys);
    return true;
  }

  /** Keeps a session with what issuers say of it, instead of the one there was: first it is durable, then it signs. */
  store(session: KeptSession): Promise<Session> {
    const storing = this.#storing.then(() => this.#store(session));
    this.#storing = storing.catch(() => {});
    return storing;
  }

  async settled(): Promise<void> {
    await this.#storing;
  }

  async #store(session: KeptSession): Promise<Session> {
    const { key, certificate, others = [] } = session;
    checkCertificate(certificate, key);
    await this.settle();
    const { storage, user, vault } = this.#parts;
    const keys = withSession(this.#keys, {
      user,
      key: storedKeyOf(key),
      certificate: certificate?.slice(),
      others: others.slice(-limits.pastCertificatesMax),
      lost: this.lost,
    });
    await replaceKeys(storage, keys);
    keepCopy(storage, keys);
    const { publicKey } = this.#key.signer;
    this.#keys = keys;
    this.#key = key;
    this.#read();
    this.#obtainedAt = this.#parts.world.now();
    this.onSession?.(this.#session);
    if (!equalBytes(publicKey, key.signer.publicKey)) {
      // It signs no more; one that stays in the vault does no harm.
      await vault?.remove(publicKey).catch(() => {});
    }
    return this.#session;
  }
}

function checkCertificate(
  certificate: Uint8Array | undefined,
  { signer: { publicKey } }: SessionKey,
): void {
  if (certificate === undefined) return;
  const { sessionKey } = decodeCertificate(certificate);
  if (equalBytes(sessionKey, publicKey)) return;
  throw new DatabaseError(
    "invalid-option",
    "The certificate names another key than the session's",
  );
}

interface SessionOptions {
  readonly user: string;
  /** May the session certify others? For servers. */
  readonly mayIssue?: boolean | undefined;
  /** Keeps new keys, where there is one. */
  readonly vault?: KeyVault | undefined;
}

/** A session whose key is at hand. */
type OpenSession = Omit<StoredSession, "key"> & {
  readonly key: SessionKey;
};

/** As the file has it. */
function storedOf(session: OpenSession): StoredSession {
  return { ...session, key: storedKeyOf(session.key) };
}

/** Is nothing to be done for this session that its folder could do? */
function isFit(
  { certificate }: StoredSession,
  root: SessionKey | undefined,
  { mayIssue }: SessionOptions,
): boolean {
  if (root === undefined) return true;
  if (certificate === undefined) return false;
  return mayIssue !== true || decodeCertificate(certificate).mayIssue;
}

/** A session with a certificate, where the root's key is here; else one without. */
async function newSession(
  root: SessionKey | undefined,
  world: World,
  { user, mayIssue = false, vault }: SessionOptions,
  known?: StoredSession,
  knownKey?: SessionKey,
): Promise<OpenSession> {
  // A key that nobody certified yet is kept: it has written.
  const isBare = known !== undefined && known.certificate === undefined;
  const key = (isBare ? knownKey : undefined) ?? await newKey(world, vault);
  const isLost = isBare && knownKey === undefined;
  const past = isLost ? [known.key.publicKey] : [];
  return {
    user,
    key,
    certificate: root && await certify(key, root, user, mayIssue),
    others: pastOf(known),
    lost: [...known?.lost ?? [], ...past].slice(-limits.pastCertificatesMax),
  };
}

async function certify(
  { signer }: SessionKey,
  root: SessionKey,
  user: string,
  mayIssue: boolean,
): Promise<Uint8Array> {
  const { bytes } = await issueCertificateLater({
    sessionKey: signer.publicKey,
    user,
    claims: "{}",
    mayIssue,
    notBefore: 0,
    notAfter: wallMax,
  }, root.signer);
  return bytes;
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
