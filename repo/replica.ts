/**
 * A replica: this device's copy of one repository.
 *
 * It wires log, graph, state, author, queue and checkpoints, and decides
 * nothing itself: what a patch means is in `src/schema`, what may come in is in
 * `admit.ts`, when to write a checkpoint is in `checkpointer.ts`.
 *
 * Architecture invariant: visible at once, durable before shared (law 3).
 */

import { lateEd25519 } from "../crypto/late_ed25519.ts";
import type { Signature } from "../crypto/signature.ts";
import { assert, DatabaseError } from "../src/base/errors.ts";
import type { Decision } from "../src/schema/rule_types.ts";
import type { Judged } from "./admission/admit.ts";
import type { Arrival } from "./admission/arrival.ts";
import { nameOf } from "./commit/commit.ts";
import { Checkpointer } from "./checkpoint/checkpointer.ts";
import type { CommitReader } from "./history/commit_reader.ts";
import { isSpotless, noteLent, provesContinuity } from "./graph/continuity.ts";
import { Device } from "./device.ts";
import type { Intake } from "./admission/intake.ts";
import type { ServedOrder } from "./log/served_order.ts";
import type { Redactor } from "./redaction/compose.ts";
import type { Mode, RepositoryName } from "./commit/genesis.ts";
import { lateRefusing } from "./refusal/late_refusing.ts";
import type { ReceiveOptions, RepositoryPort } from "./port.ts";
import { Refusals, type RefusedEntry } from "./refusal/refusals.ts";
import type { Certificates } from "./commit/certificate.ts";
import type { LoadedReplica } from "./loaded_replica.ts";
import type { OpenReplicaOptions } from "./replica_options.ts";
import { loadReplica } from "./replica_open.ts";
import type { ReplicaPort } from "./replica_port.ts";
import { type Session, userOf } from "./commit/session.ts";
import { Sharing } from "./graph/sharing.ts";
import { OwnRules } from "./admission/own_rules.ts";
import type { ReplicaStatus } from "./status.ts";
import type { Noting, Transaction } from "./write/transaction.ts";
import type { AuthorParts } from "./refusal/at_author.ts";
import { type Cut, REISSUED } from "./refusal/void_commits.ts";
import { type Done, Writer } from "./write/writer.ts";
import type { ItemName, State } from "./state/state.ts";
import { removeFiles } from "./replica_list.ts";

export type { Done } from "./write/writer.ts";

/** Forgets what somebody knows of erased items, on the medium too. */
export type Forget = (items: readonly ItemName[]) => Promise<void> | void;

/** One repository, open for reading and writing. */
export class Replica {
  readonly name: RepositoryName;
  readonly mode: Mode;
  /** Reads commits back from the log. */
  readonly commits: CommitReader;
  readonly loaded: LoadedReplica;
  readonly graph: LoadedReplica["graph"];
  readonly certificates: Certificates;
  readonly #writer: Writer;
  #intake: Intake | undefined;
  readonly #checkpointer: Checkpointer;
  readonly #sharing: Sharing;
  readonly #refusals: Refusals;
  /** Among the other replicas of this device: its owner, or its tabs. */
  readonly device: Device;
  readonly #options: OpenReplicaOptions;
  #port: ReplicaPort | undefined;
  #order: Promise<ServedOrder> | undefined;
  #isPassing = false;
  /** Do records come in after a repair that may tell what was written again? */
  #isReadmitting = false;
  /** Wraps the telling of one transaction, so that callbacks run when all tables were told. */
  publishing: (tell: () => void) => void = (tell) => tell();
  /** Wraps each own transaction, while somebody measures them. */
  watch: (<R>(begin: () => Done<R>) => Done<R>) | undefined;
  #closing: Promise<void> | undefined;
  #redacting: Promise<void> | undefined;
  readonly #forgetting = new Set<Forget>();

  /** Opens a repository, or makes it. */
  static async open(options: OpenReplicaOptions): Promise<Replica> {
    const loaded = await loadReplica(options);
    const replica = new Replica(options, loaded);
    try {
      if (!provesContinuity(loaded)) {
        options.door?.order?.end(options.storage, loaded.folder);
      }
      if (options.door !== undefined) await replica.#readmit();
      await replica.#writer.beginAnew();
      replica.#settling(() => replica.#writer.introduce());
      if (loaded.credentials.redactions.isPending) await replica.#redact();
      // What was refused may be retried at once.
      if (loaded.voided.refused.length > 0) {
        await lateRefusing.load().catch(() => {});
        replica.#goOnRefusing();
      }
    } catch (cause) {
      await replica.#giveFilesBack();
      throw cause;
    }
    return replica;
  }

  private constructor(options: OpenReplicaOptions, loaded: LoadedReplica) {
    const { name, world, storage, lent } = options;
    const isTab = typeof lent === "object";
    this.name = name;
    this.mode = loaded.mode;
    // Who wrote is proved in Default mode only: elsewhere there is nobody to judge.
    const rules = this.mode === "default" ? options.rules?.of(name) : undefined;
    this.#options = options;
    this.loaded = loaded;
    this.graph = loaded.graph;
    this.certificates = loaded.credentials.certificates;
    this.commits = loaded.commits;
    if (isTab) noteLent(loaded, lent);
    this.#writer = new Writer({
      ...options,
      loaded,
      rules: rules && new OwnRules(rules),
      appended: () => this.#checkpointer.grown(),
      wrote: (...batch) => this.device.wrote(...batch),
      isFollowed: () => this.#sharing.isFollowed,
      publishing: (tell) => this.publishing(tell),
    });
    this.#checkpointer = new Checkpointer({
      storage,
      world,
      loaded,
      settle: () => this.flush(),
      isNeeded: !isTab,
      isHasty: lent === "new",
    });
    this.#sharing = new Sharing({
      ...loaded,
      own: () => this.#writer.written,
      syncLater: () => this.#writer.syncLater(),
    });
    this.#refusals = new Refusals({
      loaded,
      transact: (run) => this.transact(run),
      flush: () => this.flush(),
    });
    this.device = this.#join(isTab);
    if (loaded.items.outline === undefined) {
      options.door?.index?.(loaded);
    }
  }

  #join(isTab: boolean): Device {
    const { storage, isOriginal } = this.#options;
    const { loaded } = this;
    return new Device({
      loaded,
      writer: this.#writer,
      sharing: this.#sharing,
      isTab,
      isLending: this.#options.lent === "new",
      mayLend: isOriginal && provesContinuity(loaded),
      isSpotless: () => isSpotless(storage, loaded),
      redacted: () => void this.#redact().catch(() => {}),
      check: () => this.#writer.checkWritable(), // Also while it closes: own writes may wait for what comes.
      publishing: (tell) => this.#publish(tell),
      refusalsChanged: () => this.#refusals.tell(),
    });
  }

  /** Takes in what others bring; made when something comes. */
  get #entrance(): Intake {
    const { loaded } = this;
    const { door, rootKey } = this.#options;
    assert(
      door !== undefined,
      "a tab follows its owner, and receives nothing",
    );
    return this.#intake ??= door.intake({
      loaded,
      rootKey,
      flush: () => this.flush(),
      cutAgain: (cuts) =>
        void lateRefusing.code.cut(this.#authorParts(), {
          cuts,
          isOwn: (key) => this.#writer.ownKeys().has(key),
          isReissued: () => true,
          isForAll: true,
        }),
      refuse: (chain, refused) => void this.#refuseIn(chain, refused),
      redacted: () => void this.#redact().catch(() => {}),
      took: (...batch) => this.device.took(...batch),
    });
  }

  /** What a repair kept aside comes in again; as a rule nothing was damaged. */
  async #readmit(): Promise<void> {
    const { log, recovery: { survivors }, saved } = this.loaded;
    if (survivors.length === 0 && saved === undefined) await log.sync();
    else {
      await Promise.all([lateRefusing.load(), lateEd25519.load()]);
      this.#isReadmitting = true;
      await this.#entrance.readmit();
      const { salvage } = await import("./seldom.ts");
      const { storage, viewOf } = this.#options;
      await salvage(storage, this.loaded, viewOf);
      this.#isReadmitting = false;
    }
  }

  /** Its tables: folded now, where nobody asked before. */
  get state(): State {
    return this.loaded.items.state;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Fails with `closed` when it is closed. */
  readonly check = (): void => {
    if (!this.isClosed) return;
    throw new DatabaseError(
      "closed",
      `The repository "${this.name}" is closed: open it again`,
    );
  };

  set noting(hear: Noting | undefined) {
    this.#writer.noting = hear;
  }

  /** Runs one atomic transaction; what throws leaves nothing behind. */
  transact<R>(run: (transaction: Transaction) => R): Done<R> {
    this.check();
    const begin = () => this.#writer.transact(run, this.check);
    return this.watch?.(begin) ?? begin();
  }

  /**
   * What is asked of writes here, by names that are compared with those of a server: `"rules"`, also in a mode that does not
   * say who writes, and constraints.
   */
  get asks(): readonly string[] {
    const { constraints } = this.loaded;
    const hasRules = this.#options.rules !== undefined;
    return [...hasRules ? ["rules"] : [], ...constraints?.statements ?? []];
  }

  /** Do own payloads carry a salt? */
  get isSalting(): boolean {
    return this.#options.salt === true;
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
    return this.#entrance.receiveBack(arrivals, {
      chain: this.#writer.written.chain,
      receive: (arrivals, ends) => this.#receive(arrivals, options, ends),
      cut: (cut) => this.cut([cut], "fork"),
    });
  }

  /** The signatures that {@linkcode receive} is going to ask about; `undefined` where that shows only then. */
  signaturesOf(arrivals: Iterable<Arrival>): Signature[] | undefined {
    return this.#entrance.signaturesOf(arrivals);
  }

  #receive(
    arrivals: Iterable<Arrival>,
    options: ReceiveOptions,
    ends: ((judged: Judged) => boolean) | undefined,
  ): Judged[] {
    const intake = this.#entrance;
    let judged: Judged[] = [];
    this.#publish(() => {
      judged = intake.receive(arrivals, options, ends);
      this.#writer.beginAfterSetBack();
    });
    return judged;
  }

  /** Callbacks may write: they run when all of it is part of the state. */
  #publish(tell: () => void): void {
    this.publishing(tell);
    // A picture holds nothing without an address; own writes ask when they are in the log.
    if (this.#writer.pendingBytes === 0) this.#checkpointer.grown();
  }

  /** What may leave this replica: kept count of from now on. */
  get sharing(): Sharing {
    this.check();
    this.#sharing.open();
    return this.#sharing;
  }

  /** The repository as its peers deal with it; always the same one. */
  port(): RepositoryPort {
    this.check();
    const { door } = this.#options;
    assert(door !== undefined, "a tab has no peers but its owner");
    return this.#port ??= door.port({
      name: this.name,
      rootKey: this.#options.rootKey,
      loaded: this.loaded,
      sharing: this.#sharing,
      writer: this.#writer,
      replica: this,
    });
  }

  /** As {@linkcode RepositoryPort.refuse} has it. */
  refuse(
    ...[chain, refused]: Parameters<RepositoryPort["refuse"]>
  ): number | undefined {
    // Nobody but this device says what is written again.
    return this.#refuseIn(
      chain,
      refused.map((one) =>
        one.reason === REISSUED ? { ...one, reason: "denied" } : one
      ),
    );
  }

  #refuseIn(
    ...[chain, refused]: Parameters<RepositoryPort["refuse"]>
  ): number | undefined {
    this.#checkWritable();
    this.flush();
    const { log } = this.loaded;
    const before = log.end;
    const { refuseHere } = lateRefusing.code;
    this.publishing(() => refuseHere(this.#authorParts(), chain, refused));
    if (log.end === before) return undefined;
    this.#sharing.settle();
    return log.end;
  }

  /** As {@linkcode RepositoryPort.cut} has it. */
  cut(...[cuts, others]: Parameters<RepositoryPort["cut"]>): void {
    this.#checkWritable();
    this.flush();
    const { cutHere } = lateRefusing.code;
    this.publishing(() => cutHere(this.#authorParts(), cuts, others));
    this.#sharing.hold();
    this.#sharing.settle();
  }

  /** Ends what a crash left of a refusal or a cut. */
  #goOnRefusing(): void {
    const isTab = this.device.outgoing !== undefined;
    if (isTab || !lateRefusing.isLoaded) return;
    if (lateRefusing.code.goOn(this.#authorParts())) this.#sharing.settle();
  }

  /**
   * Writes again under the key that signs now what lost keys wrote before anybody
   * certified them: nobody else took it, and nobody ever would.
   */
  rewriteLost(keys: readonly Uint8Array[]): void {
    const prefixes = keys.map((key) => nameOf(key, 0, 32));
    const cuts = Array.from(this.graph.chains(), ({ name }) => name)
      .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
      .map((chain): Cut => ({ chain, from: 0 }));
    if (cuts.length > 0) this.cut(cuts);
  }

  /** Erases what was ever said here of some items, for everybody; says of how many commits, when that is done here. */
  async redact(
    items: readonly ItemName[],
    redactor: Redactor,
    reason: string,
  ): Promise<number> {
    this.#checkWritable();
    await this.durable();
    const { redact } = await import("./seldom.ts");
    const { loaded } = this;
    const receive = (arrivals: readonly Arrival[]) => this.receive(arrivals);
    const head = { wall: this.#options.world.now(), reason };
    const count = redact({ loaded, receive }, items, redactor, head);
    await this.redacted;
    return count;
  }

  /**
   * Erases what redactions that are here mean, if anything is left of it; resolves
   * when that is so on the medium. Where it fails, the next opening does it.
   */
  get redacted(): Promise<void> {
    return this.#redacting ?? Promise.resolve();
  }

  /** Forgets at once what it knows of erased items; the result ends it. */
  onRedacted(forget: Forget): () => void {
    this.#forgetting.add(forget);
    return () => void this.#forgetting.delete(forget);
  }

  /** Erases what was ever said of some items, in these files alone: of what nobody else has. */
  async eraseHere(items: readonly ItemName[]): Promise<void> {
    this.#checkWritable();
    await this.redacted;
    await this.#redact(items);
  }

  /** One after the other: what comes meanwhile is looked for once more. */
  #redact(here: readonly ItemName[] = []): Promise<void> {
    const carryOut = () => this.#carryOut(here);
    const before = this.#redacting?.catch(() => {}).then(carryOut);
    const redacting = (before ?? carryOut()).finally(() => {
      if (this.#redacting === redacting) this.#redacting = undefined;
    });
    return this.#redacting = redacting;
  }

  async #carryOut(here: readonly ItemName[]): Promise<void> {
    const { loaded } = this;
    const { storage, viewOf } = this.#options;
    const { carryOut } = await import("./seldom.ts");
    await carryOut({
      ...{ storage, loaded, here, viewOf },
      flush: () => this.flush(),
      withoutCheckpoint: (run) => this.#checkpointer.replacing(run),
      changed: (tell) => {
        this.#port?.forget();
        this.publishing(tell);
        this.#refusals.tell();
      },
      forget: async (items) => {
        for (const forget of this.#forgetting) await forget(items);
        await this.#options.forget?.(loaded, items);
      },
    });
    this.#sharing.settle();
  }

  #authorParts(): AuthorParts {
    return {
      loaded: this.loaded,
      writer: this.#writer,
      fence: () => this.#sharing.fence(),
      outdate: (address) => this.#checkpointer.outdate(address),
      forget: () => this.#port?.forget(),
      refused: () => this.#refusals.tell(),
      isReadmitting: this.#isReadmitting,
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

  /** The order of its log, for who gives out positions of it; always the same one. */
  serve(): Promise<ServedOrder> {
    this.check();
    const { storage, world, door: { order } = {} } = this.#options;
    assert(order !== undefined, "this log is not served");
    return this.#order ??= order.open(storage, world, this.loaded);
  }

  /** It is removed when it is closed, where nothing was ever written to it. */
  set isPassing(isPassing: boolean) {
    this.#isPassing = isPassing;
  }

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
    const own = { key: this.#writer.keyName, user: this.session.user };
    return userOf(this.certificates, chain, wall, own);
  }

  /** Makes what an action put into the log shareable soon. */
  #settling(action: () => void): void {
    const { end } = this.loaded.log;
    action();
    if (this.loaded.log.end !== end) this.#sharing.settle();
  }

  /** Puts everything visible into the log, which need not be durable yet. */
  readonly flush = (): void => this.#writer.flush();

  /** Resolves when everything visible now is durable, in every mode. */
  async durable(): Promise<void> {
    this.check();
    await this.#writer.durable();
  }

  async checkpoint(): Promise<void> {
    this.#checkWritable();
    await this.#checkpointer.write();
  }

  /** Counts, sizes, recovery report and failure, if any. */
  status(): ReplicaStatus {
    const { graph, log, credentials, checkpoint, recovery } = this.loaded;
    const { clean, droppedBytes, quarantine } = recovery;
    return {
      commits: graph.commits,
      chains: graph.size,
      heads: graph.headCount,
      logBytes: log.end,
      checkpointBytes: this.#checkpointer.bytes ?? checkpoint?.bytes ?? 0,
      unsyncedBytes: this.#writer.pendingBytes + (log.end - log.synced),
      parked: this.#intake?.parking.size ?? 0,
      beyondRevocation: credentials.revocations.heldBeyond(graph),
      recovery: {
        ...{ clean, droppedBytes, quarantine },
        skippedCheckpoints: this.loaded.skipped,
        lost: this.loaded.salvage?.lost(graph, this.state),
      },
      failure: this.#writer.failure,
      checkpointFailure: this.#checkpointer.failure,
    };
  }

  /** Makes everything durable, writes a checkpoint where it pays, and closes the files. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    const { log, graph, credentials, folder } = this.loaded;
    const { storage } = this.#options;
    let isSound = false;
    try {
      await this.redacted.catch(() => {}); // Its failure is the log's.
      await this.#writer.drain();
      isSound = log.failure === undefined;
    } finally {
      await this.#checkpointer.close(isSound);
      await this.#giveFilesBack();
    }
    // Certificates say nothing by themselves.
    const isUnwritten = graph.commits === 0 &&
      credentials.revocations.size + credentials.statements.size === 0;
    if (this.#isPassing && isSound && isUnwritten) {
      removeFiles(storage, folder);
      storage.remove(folder);
    }
  }

  /** A checkpoint that met damage is of no more use. */
  async #giveFilesBack(): Promise<void> {
    const { log, checkpoint, items, folder } = this.loaded;
    this.#writer.stop();
    this.#sharing.stop();
    try {
      await log.close();
    } finally {
      if (items.base !== checkpoint) items.base?.close();
      checkpoint?.close();
      if (checkpoint?.file.isDamaged) {
        this.#options.storage.remove(`${folder}/${checkpoint.name}`);
      }
    }
  }
}
