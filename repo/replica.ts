/**
 * A replica: this device's copy of one repository.
 *
 * It wires log, graph, state, author, queue and checkpoints, and decides
 * nothing itself: what a patch means is in `src/schema`, what may come in is in
 * `admit.ts`, when to write a checkpoint is in `checkpointer.ts`.
 *
 * Architecture invariant: visible at once, durable before shared (law 3).
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import type { Decision } from "../src/schema/rule_types.ts";
import type { World } from "../src/base/world.ts";
import type { Storage } from "../src/storage/storage.ts";
import type { Judged } from "./admit.ts";
import type { Arrival } from "./arrival.ts";
import { doorRulesOf } from "./batch_rules.ts";
import { checkpointName } from "./checkpoint/checkpoint.ts";
import { Checkpointer } from "./checkpointer.ts";
import { CommitReader } from "./commit_reader.ts";
import {
  type Epoch,
  type EpochFacts,
  epochFactsOf,
  openEpoch,
} from "./epoch.ts";
import type { Mode, RepositoryName } from "./genesis.ts";
import { Intake } from "./intake.ts";
import type { ReceiveOptions, RefusedCommit, RepositoryPort } from "./port.ts";
import { Refusals, type RefusedEntry } from "./refusals.ts";
import {
  type LoadedReplica,
  loadReplica,
  type OpenReplicaOptions,
} from "./replica_open.ts";
import { encodeMeta } from "./replica_meta.ts";
import { ReplicaPort } from "./replica_port.ts";
import type { Session } from "./session.ts";
import { receiveBack } from "./set_back.ts";
import { Sharing } from "./sharing.ts";
import { OwnRules } from "./own_rules.ts";
import { type ReplicaStatus, statusOf } from "./status.ts";
import type { Transaction } from "./transaction.ts";
import { type TakeBackParts, withdraw, withdrawAgain } from "./withdraw.ts";
import { type Done, Writer } from "./writer.ts";

export type { Done } from "./writer.ts";

/** One repository, open for reading and writing. */
export class Replica {
  /** The repository's name. */
  readonly name: RepositoryName;
  /** How it signs and when it acknowledges. */
  readonly mode: Mode;
  /** Reads commits back from the log. */
  readonly commits: CommitReader;
  readonly #loaded: LoadedReplica;
  readonly #storage: Storage;
  readonly #writer: Writer;
  readonly #intake: Intake;
  readonly #checkpointer: Checkpointer;
  readonly #sharing: Sharing;
  readonly #refusals: Refusals;
  readonly #rootKey: Uint8Array;
  readonly #world: World;
  #port: ReplicaPort | undefined;
  #epoch: Epoch | undefined;
  /** Wraps the telling of one transaction, so that callbacks run when all tables were told. */
  publishing: (tell: () => void) => void = (tell) => tell();
  #closing: Promise<void> | undefined;

  /** Opens a repository, or makes it. */
  static async open(options: OpenReplicaOptions): Promise<Replica> {
    const loaded = await loadReplica(options);
    const replica = new Replica(options, loaded);
    try {
      await replica.#intake.readmit();
      await replica.#writer.beginAnew();
      replica.#settling(() => replica.#writer.introduce());
    } catch (cause) {
      await replica.#abandon();
      throw cause;
    }
    return replica;
  }

  private constructor(options: OpenReplicaOptions, loaded: LoadedReplica) {
    const { name, world, session, storage, rootKey, isOriginal } = options;
    this.name = name;
    this.mode = loaded.mode;
    // Who wrote is proved in Default mode only: elsewhere there is nobody to judge.
    const rules = this.mode === "default" ? options.rules?.of(name) : undefined;
    this.#rootKey = rootKey;
    this.#world = world;
    this.#storage = storage;
    this.#loaded = loaded;
    this.commits = new CommitReader(loaded, loaded.mode);
    this.#writer = new Writer({
      loaded,
      commits: this.commits,
      session,
      rootKey,
      world,
      rules: rules && new OwnRules(rules),
      isOriginal,
      appended: () => this.#checkpointer.grown(),
      wrote: (...batch) => this.#sharing.appended(...batch),
      isFollowed: () => this.#sharing.isFollowed,
      publishing: (tell) => this.publishing(tell),
    });
    this.#checkpointer = new Checkpointer({
      storage,
      world,
      loaded,
      meta: () => encodeMeta(loaded),
      settle: () => this.flush(),
      prepare: () => this.commits.hashAll(),
    });
    this.#sharing = new Sharing({
      ...loaded,
      own: () => this.#writer.written,
      syncLater: () => this.#writer.syncLater(),
    });
    this.#refusals = new Refusals({
      loaded,
      commits: this.commits,
      transact: (run) => this.transact(run),
      flush: () => this.flush(),
    });
    this.#intake = new Intake({
      loaded,
      commits: this.commits,
      rootKey,
      rules: rules && doorRulesOf(rules, loaded, this.commits),
      flush: () => this.flush(),
      withdrawAgain: (one) => withdrawAgain(this.#takeBackParts(), one),
      took: (chain, ...more) => {
        this.#sharing.appended(chain, ...more);
        this.#writer.cameBack(chain);
      },
    });
  }

  /** Its tables. */
  get state(): LoadedReplica["state"] {
    return this.#loaded.state;
  }

  /** Which commits are known. */
  get graph(): LoadedReplica["graph"] {
    return this.#loaded.graph;
  }

  /** Who may sign. */
  get certificates(): LoadedReplica["certificates"] {
    return this.#loaded.certificates;
  }

  /** What opening found and did. */
  get loaded(): LoadedReplica {
    return this.#loaded;
  }

  /** Fails with `closed` when it is closed. */
  readonly check = (): void => {
    if (this.#closing !== undefined) {
      throw new DatabaseError(
        "closed",
        `The repository "${this.name}" is closed: open it again`,
      );
    }
  };

  /** Runs one atomic transaction; what throws leaves nothing behind. */
  transact<R>(run: (transaction: Transaction) => R): Done<R> {
    this.check();
    return this.#writer.transact(run, this.check);
  }

  /** What rules would say of the writes of a transaction; nothing is written. */
  preview(run: (transaction: Transaction) => void): Decision {
    this.check();
    return this.#writer.preview(run);
  }

  #checkWritable(): void {
    this.check();
    this.#writer.checkWritable();
  }

  /**
   * Takes foreign records through the door. What is admitted is visible when
   * this returns and durable when `durable` resolves.
   */
  receive(
    arrivals: Iterable<Arrival>,
    options: ReceiveOptions = {},
  ): Judged[] {
    this.#checkWritable();
    return receiveBack(arrivals, {
      chain: this.#writer.written.chain,
      receive: (arrivals) => this.#receive(arrivals, options),
      withdraw: (chain, from) => this.withdraw(chain, from, []),
    });
  }

  #receive(arrivals: Iterable<Arrival>, options: ReceiveOptions): Judged[] {
    let judged: Judged[] = [];
    // Callbacks may write: they run when all of it is part of the state.
    this.publishing(() => {
      judged = this.#intake.receive(arrivals, options);
      this.#writer.beginAfterSetBack();
    });
    // A picture holds nothing without an address; own writes ask when they are in the log.
    if (this.#writer.pendingBytes === 0) this.#checkpointer.grown();
    return judged;
  }

  /** The repository as its peers deal with it; always the same one. */
  port(): RepositoryPort {
    this.check();
    return this.#port ??= new ReplicaPort({
      name: this.name,
      rootKey: this.#rootKey,
      loaded: this.#loaded,
      commits: this.commits,
      sharing: this.#sharing,
      receive: (arrivals, options) => this.receive(arrivals, options),
      withdraw: (...request) => this.withdraw(...request),
    });
  }

  /**
   * Takes back own commits of `chain` from number `from` on, which nobody else
   * has: the refused ones become refusals, the others are written again.
   */
  withdraw(
    chain: string,
    from: number,
    refused: readonly RefusedCommit[],
  ): void {
    this.#checkWritable();
    this.publishing(() => {
      const parts = { ...this.#takeBackParts(), writer: this.#writer };
      const tell = withdraw(parts, { chain, from, refused });
      if (tell === undefined) return;
      this.#port?.forget();
      tell();
      this.#refusals.tell();
    });
    this.#sharing.settle();
  }

  #takeBackParts(): TakeBackParts {
    return {
      loaded: this.#loaded,
      commits: this.commits,
      writer: this.#writer,
      fence: () => this.#sharing.fence(),
      outdate: (address) => this.#checkpointer.withdrawn(address),
    };
  }

  /** Refused commits that nobody has dealt with; the same array until that changes. */
  refusals(): readonly RefusedEntry[] {
    return this.#refusals.list();
  }

  /** Hears that there are other refusals; the result ends it. */
  onRefusals(listener: () => void): () => void {
    return this.#refusals.onChange(listener);
  }

  /** Writes a refused commit again, as a new one. */
  retry(entry: RefusedEntry): Done<void> {
    this.#checkWritable();
    let done: Done<void> | undefined;
    // Callbacks may write: they run when the commit is in the log.
    this.publishing(() => void (done = this.#refusals.retry(entry)));
    return done!;
  }

  /** Lets a refused commit go; resolves when that is durable. */
  async discard(entry: RefusedEntry): Promise<void> {
    this.#checkWritable();
    await this.#refusals.discard(entry);
  }

  /**
   * The life of its log, for who gives out positions of it: asked for right
   * after opening it goes on, where the last one was closed in good order.
   */
  epoch(): Epoch {
    this.check();
    const { folder } = this.#loaded;
    const open = () =>
      openEpoch(this.#storage, folder, this.#world, epochFactsOf(this));
    return this.#epoch ??= open();
  }

  /** Who writes here now. */
  get session(): Session {
    return this.#writer.session;
  }

  /** Writes as another session from now on, or as the same one with a certificate. */
  useSession(session: Session): void {
    if (this.#closing !== undefined) return;
    this.#settling(() => this.#writer.use(session));
  }

  /** Who wrote a commit, by a certificate; for own ones without any, who says so. */
  userOf(chain: string, wall: number): string | undefined {
    const key = chain.slice(0, 32);
    const { certificates } = this.#loaded;
    const user = certificates.covering(key, wall)?.user;
    if (user !== undefined || certificates.of(key).length > 0) return user;
    return key === this.#writer.keyName ? this.session.user : undefined;
  }

  /** Makes what an action put into the log shareable soon. */
  #settling(action: () => void): void {
    const { end } = this.#loaded.log;
    action();
    if (this.#loaded.log.end !== end) this.#sharing.settle();
  }

  /** Puts everything visible into the log, which need not be durable yet. */
  flush(): void {
    this.#writer.flush();
  }

  /** Resolves when everything visible now is durable, in every mode. */
  async durable(): Promise<void> {
    this.check();
    await this.#writer.durable();
  }

  /** Writes a checkpoint now. */
  async checkpoint(): Promise<void> {
    this.#checkWritable();
    await this.#checkpointer.write();
  }

  /** Counts, sizes, recovery report and failure, if any. */
  status(): ReplicaStatus {
    return statusOf(this.#loaded, {
      checkpointBytes: this.#checkpointer.bytes,
      pendingBytes: this.#writer.pendingBytes,
      parked: this.#intake.parking.size,
      failure: this.#writer.failure,
      checkpointFailure: this.#checkpointer.failure,
    });
  }

  /** Makes everything durable, writes a checkpoint where it pays, and closes the files. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    let isSound = false;
    let facts: EpochFacts | undefined;
    try {
      await this.#writer.drain();
      isSound = this.#loaded.log.failure === undefined;
      if (this.#epoch !== undefined) {
        await this.#loaded.log.sync();
        facts = epochFactsOf(this);
      }
    } finally {
      await this.#checkpointer.close(isSound);
      await this.#abandon();
    }
    if (facts !== undefined) await this.#epoch?.close(facts);
  }

  /** Gives the files back. A checkpoint that met damage is of no more use. */
  async #abandon(): Promise<void> {
    const { log, checkpoint, folder } = this.#loaded;
    this.#writer.stop();
    this.#sharing.stop();
    try {
      await log.close();
    } finally {
      checkpoint?.close();
      if (checkpoint?.file.isDamaged) {
        this.#storage.remove(`${folder}/${checkpointName(checkpoint.number)}`);
      }
    }
  }
}
