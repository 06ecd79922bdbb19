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
import type { Origin } from "../src/schema/cell.ts";
import { PatchWriter } from "../src/schema/patch_codec.ts";
import type { Storage } from "../src/storage/storage.ts";
import { admit, type Judged } from "./admit.ts";
import type {
  AdmitBatch,
  AdmitCertificate,
  Arrival,
  Knowledge,
} from "./arrival.ts";
import { Author } from "./author.ts";
import { decodeCertificate } from "./certificate.ts";
import { checkpointName } from "./checkpoint/checkpoint.ts";
import { Checkpointer } from "./checkpointer.ts";
import { bytesOfCommit, CommitReader } from "./commit_reader.ts";
import {
  CommitQueue,
  type Durability,
  type QueuedCommit,
} from "./commit_queue.ts";
import type { Mode, RepositoryName } from "./genesis.ts";
import { recordKind } from "./log_format.ts";
import { Parking } from "./parking.ts";
import {
  type LoadedReplica,
  loadReplica,
  type OpenReplicaOptions,
} from "./replica_open.ts";
import { encodeMeta } from "./replica_meta.ts";
import { publish } from "./state.ts";
import type { ReplicaStatus } from "./status.ts";
import { Transaction } from "./transaction.ts";

/** What a transaction gave, and how to learn that it is durable. */
export interface Done<R> {
  readonly result: R;
  readonly durability: Durability;
}

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
  readonly #author: Author;
  readonly #queue: CommitQueue;
  readonly #checkpointer: Checkpointer;
  readonly #parking = new Parking();
  /** Made with the first write: opening to read costs nothing of it. */
  #patch: PatchWriter | undefined;
  readonly #knowledge: Knowledge;
  readonly #certificate: Uint8Array;
  #isCertified = false;
  /** Must a new incarnation be noted before anything else is? */
  readonly #isMarkDue: boolean;
  /** Wraps the telling of one transaction, so that callbacks run when all tables were told. */
  publishing: (tell: () => void) => void = (tell) => tell();
  #transaction: Transaction | undefined;
  #closing: Promise<void> | undefined;

  /** Opens a repository, or makes it. */
  static async open(options: OpenReplicaOptions): Promise<Replica> {
    const loaded = await loadReplica(options);
    const replica = new Replica(options, loaded);
    try {
      await replica.#readmit();
      await replica.#beginAnew();
    } catch (cause) {
      await replica.#abandon();
      throw cause;
    }
    return replica;
  }

  private constructor(options: OpenReplicaOptions, loaded: LoadedReplica) {
    const { name, world, session, storage } = options;
    const { mode } = loaded;
    this.name = name;
    this.mode = mode;
    this.#storage = storage;
    this.#loaded = loaded;
    this.commits = new CommitReader(loaded, mode);
    this.#certificate = session.certificate;
    const continues = options.isOriginal && provesContinuity(mode, loaded);
    this.#isMarkDue = !continues && loaded.graph.commits > 0;
    this.#author = new Author({ ...loaded, session, mode, world, continues });
    this.#queue = new CommitQueue(this.#sink(), world, {
      durable: mode !== "fast",
    });
    this.#checkpointer = new Checkpointer({
      storage,
      world,
      loaded,
      meta: () => encodeMeta(loaded),
      settle: () => this.flush(),
      prepare: () => this.commits.hashAll(),
    });
    this.#knowledge = {
      ...loaded,
      mode,
      rootKey: options.rootKey,
      clockAt: (chain, number) => this.commits.clockAt(chain, number),
      commitAt: (chain, number) => bytesOfCommit(this.commits, chain, number),
    };
  }

  #sink(): ConstructorParameters<typeof CommitQueue>[0] {
    const { log } = this.#loaded;
    return {
      append: (commits: readonly QueuedCommit[]) => this.#append(commits),
      appended: () => this.#checkpointer.grown(),
      sync: () => log.sync(),
    };
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
    this.#checkWritable();
    const patch = this.#patch ??= new PatchWriter();
    const transaction = new Transaction(this.#author.stamp(), patch);
    this.#transaction = transaction;
    try {
      const result = run(transaction);
      refusePromise(result);
      this.#checkWritable(true);
      transaction.end();
      return { result, durability: this.#commit(transaction, patch) };
    } finally {
      transaction.abandon(); // Nothing is left of one that was committed.
      this.#transaction = undefined;
    }
  }

  #checkWritable(isRunning = false): void {
    this.check();
    const failure = this.#queue.failure ?? this.#loaded.log.failure;
    if (failure !== undefined) throw failure;
    if (isRunning || this.#transaction === undefined) return;
    throw new DatabaseError(
      "invalid-option",
      "A transaction is running: write through the `tx` that its callback was given",
    );
  }

  #commit(transaction: Transaction, patch: PatchWriter): Durability {
    this.#transaction = undefined;
    if (transaction.operations === 0) return this.#queue.latest();
    const { payload, operationsOffset } = patch.finish();
    const commit = this.#author.commit(
      transaction.origin,
      payload,
      operationsOffset,
    );
    const changes = transaction.apply();
    const durability = this.#queue.push(commit);
    if (changes !== undefined) this.publishing(() => publish(changes));
    return durability;
  }

  #append(commits: readonly QueuedCommit[]): void {
    const { log, certificates } = this.#loaded;
    if (!this.#isCertified) {
      this.#isCertified = true;
      const certificate = decodeCertificate(this.#certificate);
      if (!certificates.has(certificate)) {
        log.append(recordKind.certificate, [this.#certificate]);
        certificates.add(certificate);
      }
    }
    this.commits.hashAll();
    const from = log.end;
    this.#author.append(log, commits);
    this.commits.appended(from);
  }

  /**
   * Takes foreign batches and certificates through the door. What is admitted
   * is visible when this returns and durable when `durable` resolves.
   */
  receive(arrivals: Iterable<Arrival>): Judged[] {
    this.#checkWritable();
    this.commits.hashAll();
    const judged: Judged[] = [];
    const take = (
      admitted: AdmitBatch | AdmitCertificate,
      bytes: Uint8Array,
    ) => this.#take(admitted, bytes);
    // Callbacks may write: they run when all of it is part of the state.
    this.publishing(() => {
      for (const arrival of arrivals) {
        judged.push(...admit(arrival, this.#knowledge, this.#parking, take));
      }
    });
    return judged;
  }

  #take(admitted: AdmitBatch | AdmitCertificate, bytes: Uint8Array): void {
    const { log, graph, state, certificates } = this.#loaded;
    if (admitted.verdict === "admit-certificate") {
      log.append(recordKind.certificate, [bytes]);
      certificates.add(admitted.certificate);
      return;
    }
    const { batch, from, lastId, patches } = admitted;
    const start = log.end;
    const kind = this.mode === "default"
      ? recordKind.signedBatch
      : recordKind.unsignedBatch;
    const address = log.append(kind, [bytes]);
    graph.addBatch(batch, lastId);
    this.commits.appended(start);
    for (let i = from; i < batch.commits.length; i++) {
      const { wall, count, payloadAt } = batch.commits[i]!;
      const patch = patches[i - from]!;
      const operationsAt = address + payloadAt + patch.operationsOffset;
      const origin: Origin = { wall, count, chain: batch.chain, operationsAt };
      const changes = state.foldChanges(
        patch.operations,
        patch.createOffsets,
        origin,
      );
      publish(changes);
    }
  }

  /** After a repair: what still connects comes in again, through the door. */
  async #readmit(): Promise<void> {
    const { log, recovery, certificates } = this.#loaded;
    for (const { kind, body } of recovery.survivors) {
      const bytes = body();
      if (kind !== recordKind.certificate || this.mode === "default") {
        this.receive(arrivalOf(kind, bytes));
        continue;
      }
      // The door of these modes takes none; it tells the history who wrote.
      const certificate = decodeCertificate(bytes);
      if (certificates.has(certificate)) continue;
      this.#take({ verdict: "admit-certificate", certificate }, bytes);
    }
    await log.sync();
  }

  /**
   * A new incarnation of a chain that is there begins at once, with an empty
   * commit: otherwise a clean close would hide why the old one could not go on.
   */
  async #beginAnew(): Promise<void> {
    if (!this.#isMarkDue || !this.#author.wasHere) return;
    const patch = new PatchWriter();
    patch.begin();
    const { payload, operationsOffset } = patch.finish();
    const stamp = this.#author.stamp();
    this.#queue.push(this.#author.commit(stamp, payload, operationsOffset));
    await this.#queue.drain();
  }

  /** Puts everything visible into the log, which need not be durable yet. */
  flush(): void {
    if (this.#queue.failure === undefined) this.#queue.write();
  }

  /** Resolves when everything visible now is durable, in every mode. */
  async durable(): Promise<void> {
    this.check();
    this.#queue.write();
    await this.#queue.latest().promise;
    await this.#loaded.log.sync();
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
      unsyncedBytes: this.#queue.pendingBytes + (log.end - log.synced),
      parked: this.#parking.size,
      recovery: {
        clean: recovery.clean,
        droppedBytes: recovery.droppedBytes,
        quarantine: recovery.quarantine,
        skippedCheckpoints: skipped,
      },
      failure: this.#queue.failure ?? log.failure,
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
      await this.#queue.drain();
      isSound = this.#loaded.log.failure === undefined;
    } finally {
      await this.#checkpointer.close(isSound);
      await this.#abandon();
    }
  }

  /** Gives the files back. A checkpoint that met damage is of no more use. */
  async #abandon(): Promise<void> {
    const { log, checkpoint, folder } = this.#loaded;
    this.#queue.stop();
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

/** Fast mode may have told others what a crash took back; the signed modes never do. */
function provesContinuity(mode: Mode, { recovery }: LoadedReplica): boolean {
  if (recovery.quarantine !== undefined) return false;
  return mode !== "fast" || recovery.clean;
}

function refusePromise(result: unknown): void {
  const then = (result as { then?: unknown } | null | undefined)?.then;
  if (typeof then !== "function") return;
  Promise.resolve(result).catch(() => {}); // Its failure is not heard beside this one.
  throw new DatabaseError(
    "invalid-option",
    "A transaction's callback must be synchronous: await first, then transact",
  );
}

function arrivalOf(kind: number, bytes: Uint8Array): Arrival[] {
  if (kind === recordKind.certificate) return [{ kind: "certificate", bytes }];
  if (kind === recordKind.signedBatch) return [{ kind: "signed", bytes }];
  if (kind === recordKind.unsignedBatch) return [{ kind: "unsigned", bytes }];
  return [];
}
