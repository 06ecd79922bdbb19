/**
 * One device, many replicas: the owner of a device's files shows its log to
 * tabs and takes what they write; a tab follows that log and gives out what it
 * wrote (docs/tabs.md).
 *
 * Never judges: what is followed was judged when it came to the device, or written
 * here. What cannot stand yet, because something before it is missing, is left.
 *
 * Architecture invariant: what does not come from this device never comes here;
 * it comes through the door (law 2). One number of a chain stands for one commit: a chain
 * is lent to one tab at a time, and where its commits turn out to be others,
 * what the tab wrote goes out of their way into a new one.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import {
  type Batch,
  batchHead,
  decodeBatch,
  payloadOf,
} from "./commit/batch.ts";
import type { CommitReader } from "./history/commit_reader.ts";
import { lendableChains, type LentChain } from "./graph/continuity.ts";
import { lateWithdrawing } from "./refusal/late_withdrawing.ts";
import { Mirror, type OwnRecord } from "./log/own_log.ts";
import { Outgoing } from "./write/outgoing.ts";
import type { LoadedReplica } from "./loaded_replica.ts";
import type { Sharing } from "./graph/sharing.ts";
import type { Told, ToldParts } from "./refusal/withdraw_told.ts";
import {
  decodeRefusal,
  decodeResolution,
  decodeWithdrawal,
  encodeResolution,
  type Refusal,
  type Withdrawal,
} from "./refusal/withdrawals.ts";
import type { Writer } from "./write/writer.ts";
import { ByteReader } from "../src/base/bytes.ts";
import { decodePatch } from "../src/schema/patch_codec.ts";
import { decodeCredential, isCredential } from "./commit/credentials.ts";
import { isBatch, recordKind, travels } from "./log/format.ts";
import { ChangeList } from "./state/state.ts";

/** What became of records. */
export interface Followed {
  /** How many were taken or known. */
  readonly taken: number;
  /** Why the next one cannot be: what it builds on is not here. */
  readonly missing?: string;
}

/** What it works with. */
export interface DeviceParts {
  readonly loaded: LoadedReplica;
  readonly commits: CommitReader;
  readonly writer: Writer;
  readonly sharing: Sharing;
  /** Is it a tab's replica, over an image of the owner's? */
  readonly isTab: boolean;
  /** May the chains of this folder go on at all? */
  readonly mayLend: boolean;
  /** Was there never a repair of this folder? */
  readonly isSpotless: () => boolean;
  readonly check: () => void;
  readonly publishing: (tell: () => void) => void;
  /** Writes the end of an own chain again in a new one. */
  readonly withdraw: (chain: string, from: number) => void;
  readonly refusalsChanged: () => void;
}

/** A replica among the others of its device. */
export class Device {
  /** What a tab's log got of the tab itself; `undefined` where it is no tab's. */
  readonly outgoing: Outgoing | undefined;
  /** Where the log ended when it was opened. */
  readonly openedAt: number;
  readonly #parts: DeviceParts;
  /** What following has changed and nobody was told. */
  readonly #changes = new ChangeList();
  #mirror: Mirror | undefined;
  /** What is to be written again, when what comes before it has come. */
  #told: Told[] = [];

  constructor(parts: DeviceParts) {
    const { loaded, isTab } = parts;
    this.#parts = parts;
    this.openedAt = loaded.log.end;
    this.outgoing = isTab ? new Outgoing(loaded.log) : undefined;
  }

  /** Keys that sign here, or did, as the first 32 characters of their chains' names. */
  get keys(): ReadonlySet<string> {
    return this.#parts.writer.ownKeys();
  }

  /** The chain that is written here, "" before it began. */
  get chain(): string {
    return this.#parts.writer.written.chain;
  }

  /** The log as tabs see it. */
  mirror(): Mirror {
    const { loaded, sharing } = this.#parts;
    sharing.open();
    return this.#mirror ??= new Mirror(loaded.log, sharing);
  }

  /** Own chains that may go on and that nobody writes here, the latest first. */
  lendable(): LentChain[] {
    const { loaded, commits, writer, mayLend, isSpotless } = this.#parts;
    if (!mayLend) return [];
    commits.hashAll();
    const { chain } = writer.written;
    return lendableChains(loaded, writer.keyName, chain, isSpotless());
  }

  /**
   * Takes records of another replica of this device, in the order of its log.
   * They are visible when this returns, and durable when `durable()` says so.
   */
  follow(records: readonly OwnRecord[]): Followed {
    const { writer, publishing } = this.#parts;
    this.#parts.check();
    let followed: Followed = { taken: 0 };
    // Callbacks may write: they run when all of it is part of the state.
    publishing(() => {
      writer.flush();
      if (this.outgoing === undefined) writer.introduceNow();
      followed = this.#follow(records);
      this.#writeLost();
      writer.beginAfterSetBack();
    });
    return followed;
  }

  #follow(records: Iterable<OwnRecord>): Followed {
    let seen = 0;
    // A refusal that is tried again stands until the commit that does so is here.
    const held: OwnRecord[] = [];
    try {
      for (const record of records) {
        const missing = this.#take(record, held);
        if (missing !== undefined) {
          return { taken: seen - held.length, missing };
        }
        seen++;
      }
      this.#resolve(held);
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw new DatabaseError(
        "log-damaged",
        "Another page of this app sent what is no record. Reload all of its pages",
        { cause },
      );
    } finally {
      this.#changes.publish();
    }
    return { taken: seen };
  }

  /** Takes a record, behind resolutions that may be those of its commits. */
  #take(record: OwnRecord, held: OwnRecord[]): string | undefined {
    const { kind, bytes } = record;
    if (isBatch(kind)) return this.#batch(record, held);
    if (isCredential(kind)) this.#credential(record);
    else if (kind === recordKind.resolution) held.push(record);
    else if (kind === recordKind.withdrawal || kind === recordKind.refusal) {
      this.#resolve(held);
      this.#changes.publish(); // Told in order: what is taken back was there.
      const reader = new ByteReader(bytes);
      if (kind === recordKind.refusal) this.#refuse(decodeRefusal(reader));
      else this.#withdraw(decodeWithdrawal(reader));
    } else if (travels(kind)) throw new SyntaxError(`kind ${kind} is unknown`);
    return undefined;
  }

  #credential({ kind, bytes }: OwnRecord): void {
    const { credentials } = this.#parts.loaded;
    const credential = decodeCredential(kind, bytes);
    if (credentials.has(credential)) return;
    this.#append(kind, bytes);
    credentials.add(credential);
  }

  #resolve(held: OwnRecord[]): void {
    const { loaded: { withdrawals }, writer, refusalsChanged } = this.#parts;
    for (const { bytes } of held.splice(0)) {
      const resolution = decodeResolution(new ByteReader(bytes));
      const { chain, number, retried } = resolution;
      const isDate = withdrawals.refused.some((one) =>
        one.chain === chain && one.number === number &&
        one.reason === "bad-clock"
      );
      if (!withdrawals.resolve(resolution)) continue;
      // One that was refused only for its date was written again.
      if (isDate && retried) writer.moves.redirect(chain, number, retried);
      this.#append(recordKind.resolution, encodeResolution(resolution));
      refusalsChanged();
    }
  }

  #batch(record: OwnRecord, held: OwnRecord[]): string | undefined {
    const { graph, mode } = this.#parts.loaded;
    const isSigned = record.kind === recordKind.signedBatch;
    if (isSigned !== (mode === "default")) {
      throw new SyntaxError("the batch is of another mode");
    }
    const batch = decodeBatch(record.bytes, isSigned);
    const from = graph.lengthOf(batch.chain) - batch.first;
    // What was known may turn out to be another commit, and is taken back.
    if (from < 0) return "earlier commits of its chain";
    const { commits, chain, first, bytes } = batch;
    if (from > 0 && this.outgoing?.echo(chain, first, bytes) === false) {
      this.#changes.publish();
      this.leaveChain(chain); // What was written here goes out of its way.
    }
    const known = graph.lengthOf(chain) - first;
    if (known >= commits.length) {
      if (known > commits.length && this.#isPart(batch)) {
        this.#parts.loaded.log.append(record.kind, [record.bytes]);
      }
      return undefined;
    }
    for (let i = known; i < commits.length; i++) {
      if (!commits[i]!.parents.every((one) => graph.has(one))) {
        return "a parent";
      }
    }
    this.#resolve(held);
    this.#add(record, batch, known);
    return undefined;
  }

  #add(record: OwnRecord, batch: Batch, from: number): void {
    const { loaded } = this.#parts;
    const { chain, first, commits } = batch;
    const patches = commits.slice(from).map((commit) =>
      decodePatch(payloadOf(batch, commit))
    );
    const address = this.#append(record.kind, record.bytes);
    loaded.graph.addBatch(batch);
    this.took(chain, first + from, commits.length - from);
    this.#changes.fold(loaded, batch, from, patches, address);
  }

  /** Appends a record to the log that is not written here; says where its body starts. */
  #append(kind: number, body: Uint8Array): number {
    return this.#foreign(() => this.#parts.loaded.log.append(kind, [body]));
  }

  #foreign<T>(append: () => T): T {
    return this.outgoing?.foreign(append) ?? append();
  }

  /** `count` commits of `chain` from `first` on, which were not written here, have entered the log. */
  took(chain: string, first: number, count: number): void {
    const { sharing, writer } = this.#parts;
    if (this.outgoing === undefined) sharing.appended(chain, first, count);
    writer.cameBack(chain);
  }

  /** So many, which were written here. */
  wrote(chain: string, first: number, count: number): void {
    this.#parts.sharing.appended(chain, first, count);
    this.outgoing?.wrote(chain, first);
  }

  /** Is it the beginning of one that is known, under a seal of its own, since the rest is about to be taken back? */
  #isPart({ chain, first, commits: { length } }: Batch): boolean {
    const { commits, isTab } = this.#parts;
    if (!isTab) return false;
    const entry = commits.find(chain, first);
    if (entry === undefined) return false;
    const logged = commits.batchAt(entry.address);
    return logged.first === first && logged.commits.length > length;
  }

  #toldParts(): ToldParts {
    const { loaded, commits, writer } = this.#parts;
    return {
      loaded,
      commits,
      note: (chain, move) => writer.moves.note(chain, move),
      ownKeys: writer.ownKeys(),
      ownFrom: (chain) => this.outgoing?.firstUnechoed(chain) ?? Infinity,
      drop: (chain) => this.outgoing?.drop(chain),
    };
  }

  #refuse({ chain, refused }: Refusal): void {
    const { loaded, commits, refusalsChanged } = this.#parts;
    const { refuse } = lateWithdrawing.code;
    const done = this.#foreign(() =>
      refuse({ loaded, commits }, chain, refused)
    );
    if (done === undefined) return;
    done.tell();
    refusalsChanged();
  }

  #withdraw(withdrawal: Withdrawal): void {
    if (this.outgoing === undefined) return; // An owner takes back itself.
    const { withdrawAsTold } = lateWithdrawing.code;
    const done = this.#foreign(() =>
      withdrawAsTold(this.#toldParts(), withdrawal)
    );
    if (done === undefined) return;
    const { chain } = this.#parts.writer.written;
    const { withdrawals } = this.#parts.loaded;
    if (withdrawals.isClosed(chain)) this.#parts.writer.leave(chain);
    this.#told.push(done.told);
    if (done.told.lost.length > 0) this.outgoing.hold();
    done.tell();
    this.#parts.refusalsChanged();
  }

  #writeLost(): void {
    const { writer } = this.#parts;
    const unchecked = () => {}; // Also while it closes.
    for (let told = this.#nextTold(); told; told = this.#nextTold()) {
      lateWithdrawing.code.writeLost(told.lost, this.#toldParts(), (run) => {
        try {
          return writer.transact(run, unchecked, true).commit;
        } catch (cause) {
          if (cause instanceof DatabaseError) return undefined;
          throw cause;
        }
      });
    }
    this.#settle();
  }

  /** What was written again goes out; who waits for what it was before waits for that. */
  #settle(): void {
    this.#parts.writer.flush();
    if (this.#told.length === 0) this.outgoing?.release();
  }

  /** What can be written again now: all that comes before it is here. */
  #nextTold(): Told | undefined {
    const { graph, withdrawals } = this.#parts.loaded;
    const [told, later] = this.#told;
    if (told === undefined) return undefined;
    const isHere = graph.lengthOf(told.chain) >= told.count;
    if (!isHere && !withdrawals.isClosed(told.chain)) return undefined;
    this.#told.shift();
    if (isHere || later === undefined) return told;
    // It was taken back again before all of it was here: what it says comes with the next one.
    this.#told[0] = { ...later, lost: [...told.lost, ...later.lost] };
    return this.#nextTold();
  }

  /** An own chain cannot go on: what the owner does not have of it is written again in a new one. */
  leaveChain(chain: string): void {
    const { withdraw, loaded, writer } = this.#parts;
    void lateWithdrawing.code; // Where it is not loaded, nothing is dropped yet.
    const from = this.outgoing?.firstUnechoed(chain) ?? Infinity;
    this.outgoing?.drop(chain);
    if (from >= loaded.graph.lengthOf(chain)) return writer.leave(chain);
    this.outgoing?.hold();
    withdraw(chain, from);
    this.#settle();
  }

  /** Records that somebody lacks who has so many commits of each chain, in the order of this log. */
  lackedBy(known: ReadonlyMap<string, number>): OwnRecord[] {
    const { loaded, commits } = this.#parts;
    const records: OwnRecord[] = [];
    loaded.log.records(0, loaded.log.sealed, (kind, body, address) => {
      const isTold = travels(kind) || kind === recordKind.resolution ||
        kind === recordKind.refusal;
      if (!isTold) return;
      if (isBatch(kind)) {
        const { chain, first, count } = batchHead(body);
        const end = first + count;
        if (end <= (known.get(chain) ?? 0)) return;
        if (commits.isWithdrawn(chain, end - 1, address)) return;
      }
      records.push({ kind, bytes: body.slice() });
    });
    return records;
  }
}
