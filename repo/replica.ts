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
import type { Storage } from "../src/storage/storage.ts";
import type { Judged } from "./admit.ts";
import type { Arrival } from "./arrival.ts";
import { checkpointName } from "./checkpoint/checkpoint.ts";
import { Checkpointer } from "./checkpointer.ts";
import { CommitReader } from "./commit_reader.ts";
import type { Mode, RepositoryName } from "./genesis.ts";
import { Intake } from "./intake.ts";
import {
  type LoadedReplica,
  loadReplica,
  type OpenReplicaOptions,
} from "./replica_open.ts";
import { encodeMeta } from "./replica_meta.ts";
import type { ReplicaStatus } from "./status.ts";
import type { Transaction } from "./transaction.ts";
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
    this.#storage = storage;
    this.#loaded = loaded;
    this.commits = new CommitReader(loaded, loaded.mode);
    this.#writer = new Writer({
      loaded,
      commits: this.commits,
      session,
      world,
      isOriginal,
      appended: () => this.#checkpointer.grown(),
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
    this.#intake = new Intake({ loaded, commits: this.commits, rootKey });
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

  #checkWritable(): void {
    this.check();
    this.#writer.checkWritable();
  }

  /**
   * Takes foreign batches and certificates through the door. What is admitted
   * is visible when this returns and durable when `durable` resolves.
   */
  receive(arrivals: Iterable<Arrival>): Judged[] {
    this.#checkWritable();
    let judged: Judged[] = [];
    // Callbacks may write: they run when all of it is part of the state.
    this.publishing(() => void (judged = this.#intake.receive(arrivals)));
    return judged;
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
    const { graph, log, recovery, skipped, checkpoint } = this.#loaded;
    return {
      commits: graph.commits,
      chains: graph.size,
      heads: graph.headCount,
      logBytes: log.bytes,
      checkpointBytes: this.#checkpointer.bytes ?? checkpoint?.bytes ?? 0,
      unsyncedBytes: this.#writer.pendingBytes + (log.end - log.synced),
      parked: this.#intake.parking.size,
      recovery: {
        clean: recovery.clean,
        droppedBytes: recovery.droppedBytes,
        quarantine: recovery.quarantine,
        skippedCheckpoints: skipped,
      },
      failure: this.#writer.failure,
      checkpointFailure: this.#checkpointer.failure,
    };
  }

  /** Makes everything durable, writes a checkpoint where it pays, and closes the files. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    let isSound = false;
    try {
      await this.#writer.drain();
      isSound = this.#loaded.log.failure === undefined;
    } finally {
      await this.#checkpointer.close(isSound);
      await this.#abandon();
    }
  }

  /** Gives the files back. A checkpoint that met damage is of no more use. */
  async #abandon(): Promise<void> {
    const { log, checkpoint, folder } = this.#loaded;
    this.#writer.stop();
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
