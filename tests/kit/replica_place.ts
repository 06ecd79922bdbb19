/**
 * A world whose time stands still until it is told to go on, and replicas in it.
 *
 * @module
 */

// Here already, a replica has it in its very turn.
import type { Door } from "../../repo/admission/door.ts";
import { servingDoor } from "../../repo/admission/serving_door.ts";
import "../../repo/seldom.ts";
import {
  createSigner,
  generateKeyPair,
  type SessionSigner,
  type Signer,
} from "../../crypto/mod.ts";
import type { Arrival } from "../../repo/admission/arrival.ts";
import { issueCertificate } from "../../repo/commit/certificate.ts";
import { type Mode, parseRepositoryName } from "../../repo/commit/genesis.ts";
import { issueRevocation } from "../../repo/commit/revocation.ts";
import type { LentChain } from "../../repo/graph/continuity.ts";
import { isBatch, recordKind, travels } from "../../repo/log/format.ts";
import { Replica } from "../../repo/replica.ts";
import type { Session } from "../../repo/commit/session.ts";
import { wallMax } from "../../src/base/hlc.ts";
import type { World } from "../../src/base/world.ts";
import { Editor } from "../../src/db/editor.ts";
import { field } from "../../src/schema/field.ts";
import { IdSource } from "../../src/schema/names.ts";
import { defineSchema } from "../../src/schema/schema.ts";
import { createView, type View } from "../../src/schema/view.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import { StorageOver } from "../../src/storage/storage_over.ts";
import { seededRandom } from "./random.ts";

/** What the tests of a replica write. */
export const Note = defineSchema("note", {
  text: field.string().default(""),
  votes: field.counter(),
});

const root = generateKeyPair(diceOf(7));
/** Who signs for the root key. */
export const rootSigner: Signer = createSigner(root.secretKey);
const viewOfNote: View = createView(Note);

function diceOf(seed: number): (target: Uint8Array) => void {
  const next = seededRandom(seed);
  return (target) => {
    for (let i = 0; i < target.length; i++) {
      target[i] = Math.floor(next() * 256);
    }
  };
}

/** Clock and timers by hand, dice by seed. */
export class ManualWorld implements World {
  /** Milliseconds since 1970. */
  time = 1_800_000_000_000;
  readonly random: (target: Uint8Array) => void;
  #elapsed = 0;
  #timers: { readonly at: number; readonly task: () => void }[] = [];

  constructor(seed = 1) {
    this.random = diceOf(seed);
  }

  now(): number {
    return this.time;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { at: this.#elapsed + delayMs, task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** How many timers wait. */
  get timers(): number {
    return this.#timers.length;
  }

  /** Lets time pass: runs what is due, in order. */
  advance(ms: number): void {
    this.time += ms;
    this.#elapsed += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#elapsed);
    due.sort((a, b) => a.at - b.at);
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    for (const { task } of due) task();
  }
}

/** Lets everything run that waits for nothing but its turn. */
export async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await Promise.resolve();
}

/** How a replica of a test is opened. */
export interface PlaceOptions {
  readonly mode?: Mode | undefined;
  readonly storage?: Storage;
  readonly world?: World;
  /** Who: another number is another user with another key. */
  readonly seed?: number | undefined;
  readonly repair?: boolean;
  readonly isOriginal?: boolean;
  /** As an owner of tabs opens it, or as a tab to which a chain is lent. */
  readonly lent?: LentChain | "new" | undefined;
  /** Where others come in; a place opened again has the plain one. */
  readonly door?: Door | undefined;
  /** Is its state not asked for? Then nothing is written here. */
  readonly isUnasked?: boolean;
  /** Who signs; by `seed` when absent. */
  readonly session?: Session | undefined;
}

/** A replica and what it takes to write to it. */
export class Place {
  readonly storage: Storage;
  readonly world: World;
  readonly options: PlaceOptions;
  replica!: Replica;
  #editor!: Editor<typeof Note>;

  private constructor(options: PlaceOptions) {
    this.options = options;
    this.storage = options.storage ?? memoryStorage();
    this.world = options.world ?? new ManualWorld(options.seed);
  }

  /** Opens a repository on a new storage, or on the given one. */
  static open(options: PlaceOptions = {}): Promise<Place> {
    return new Place(options).#open(options);
  }

  /** Opens it again, on the same storage. */
  reopen(changes: PlaceOptions = {}): Promise<Place> {
    const { storage, world } = this;
    const { mode, seed, session } = this.options;
    return Place.open({ mode, seed, session, storage, world, ...changes });
  }

  async #open(options: PlaceOptions): Promise<this> {
    const { mode = "default", seed = 1, repair = false, isOriginal = true } =
      options;
    this.replica = await Replica.open({
      door: options.door ?? servingDoor,
      storage: this.storage,
      world: this.world,
      name: parseRepositoryName("place"),
      mode,
      isModeRequired: true,
      rootKey: root.publicKey,
      session: options.session ?? sessionOf(seed),
      isOriginal,
      lent: options.lent,
      viewOf: () => viewOfNote,
      repair,
      settle: () => Promise.resolve(),
    });
    if (options.isUnasked === true) return this;
    const table = this.replica.state.table(Note.name);
    this.#editor = new Editor(Note, table, new IdSource(this.world));
    return this;
  }

  /** Creates a note, or changes its text; resolves when it is durable. */
  write(id: string, text: string): Promise<void> {
    const done = this.replica.transact((tx) =>
      this.#editor.upsert(tx, { id, text })
    );
    return done.durability.promise;
  }

  /** Adds one to a note's votes. */
  vote(id: string): Promise<void> {
    const done = this.replica.transact((tx) =>
      this.#editor.update(tx, id, { votes: { increment: 1 } })
    );
    return done.durability.promise;
  }

  /** The text of a note. */
  text(id: string): unknown {
    return this.#editor.table.cellOf(id)?.item?.text;
  }

  /** The votes of a note. */
  votes(id: string): unknown {
    return this.#editor.table.cellOf(id)?.item?.votes;
  }

  /** A record of the root comes in that revokes a session; its chains end at these lengths. */
  revoke(
    { signer }: Pick<Session, "signer">,
    lengths: ReadonlyMap<string, number> = new Map(),
  ): void {
    const port = this.replica.port();
    const { bytes } = issueRevocation({
      genesisId: port.genesisId,
      sessionKey: signer.publicKey,
      cuts: new Map([...lengths].map(([chain, n]) => [chain.slice(32), n])),
      wall: this.world.now(),
      reason: "stolen",
    }, rootSigner);
    port.receive([{ kind: recordKind.revocation, bytes }]);
    port.settle();
  }

  /** Everything in its log, as it would travel. */
  async arrivals(): Promise<Arrival[]> {
    await this.replica.durable();
    const arrivals: Arrival[] = [];
    const { log } = this.replica.loaded;
    const isSigned = this.replica.mode === "default";
    log.records(0, log.end, (kind, body) => {
      const isTaken = isSigned ? travels(kind) : isBatch(kind);
      if (isTaken) arrivals.push({ kind, bytes: body.slice() });
    });
    return arrivals;
  }

  /** The folder of its files. */
  get folder(): string {
    return this.replica.loaded.folder;
  }

  /** Spoils one byte of one of its files. */
  spoil(name: string, offset: number): void {
    const file = this.file(name);
    const byte = new Uint8Array(1);
    file.readAt(byte, offset);
    byte[0]! ^= 0x55;
    file.writeAt(byte, offset);
    file.close();
  }

  /** One of its files. */
  file(name: string): StorageFile {
    const file = this.storage.open(`${this.folder}/${name}`);
    if (file === undefined) throw new Error(`There is no file ${name}`);
    return file;
  }
}

/** A session that the root key certified. */
export function sessionOf(seed: number): BareSession {
  const session = bareSession(seed);
  return { ...session, certificate: certificateFor(session) };
}

/** A session whose secret is at hand. */
export interface BareSession extends Session {
  readonly secretKey: Uint8Array;
}

/** A session that nobody certified yet. */
export function bareSession(seed: number): BareSession {
  const { secretKey } = generateKeyPair(diceOf(seed + 1000));
  return { user: `user-${seed}`, signer: createSigner(secretKey), secretKey };
}

/** The same session with a key that signs later: when `sign` is called for each signature, in any order. */
export function lateSession(session: Session): LateSession {
  const waiting: (() => void)[] = [];
  const { signer } = session;
  const sign = (message: Uint8Array) =>
    new Promise<Uint8Array>((resolve) => {
      waiting.push(() => resolve(signer.sign(message)));
    });
  const signOne = (index = 0) => waiting.splice(index, 1)[0]!();
  return {
    session: { ...session, signer: { publicKey: signer.publicKey, sign } },
    waiting,
    signOne,
  };
}

/** The same key; it signs a few turns of promises later. */
export function signsLater(signer: SessionSigner): SessionSigner {
  return {
    publicKey: signer.publicKey,
    sign: async (message) => {
      await Promise.resolve();
      return await signer.sign(message);
    },
  };
}

/** See {@linkcode lateSession}. */
export interface LateSession {
  readonly session: Session;
  /** What is to be signed. */
  readonly waiting: readonly unknown[];
  /** Signs one of them; the oldest, unless it says another. */
  signOne(index?: number): void;
}

/** What an issuer says of a session's key; the root when none is given. */
export function certificateFor(
  { user, signer }: Session,
  issuer: Uint8Array = root.secretKey,
  mayIssue = false,
  notAfter = wallMax,
): Uint8Array {
  return issueCertificate({
    sessionKey: signer.publicKey,
    user,
    claims: "{}",
    mayIssue,
    notBefore: 0,
    notAfter,
  }, createSigner(issuer)).bytes;
}

/** A storage whose syncs end when they are told to, over another one. */
export class SlowStorage extends StorageOver {
  #waiting: PromiseWithResolvers<void>[] = [];
  /** Do syncs wait? */
  isSlow = false;
  /** How many syncs were begun. */
  syncs = 0;
  /** What writing fails with, if it is to fail. */
  failure: Error | undefined;

  constructor(inner: Storage = memoryStorage()) {
    super(inner);
  }

  /** How many syncs wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Ends one of the syncs that wait; 0 is the oldest. */
  releaseAt(index: number): void {
    for (const { resolve } of this.#waiting.splice(index, 1)) resolve();
  }

  /** Ends the syncs that wait, well or badly. */
  finish(failure?: Error): void {
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (failure === undefined) resolve();
      else reject(failure);
    }
  }

  override open(...args: Parameters<Storage["open"]>): StorageFile | undefined {
    const file = super.open(...args);
    if (file === undefined) return undefined;
    return {
      size: () => file.size(),
      readAt: (target, offset) => file.readAt(target, offset),
      writeAt: (bytes, offset) => {
        if (this.failure !== undefined) throw this.failure;
        file.writeAt(bytes, offset);
      },
      truncate: (length) => file.truncate(length),
      close: () => file.close(),
      sync: () => {
        this.syncs++;
        if (!this.isSlow) return file.sync();
        const waiting = Promise.withResolvers<void>();
        this.#waiting.push(waiting);
        return waiting.promise;
      },
    };
  }
}
