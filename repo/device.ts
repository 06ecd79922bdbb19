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
 * what the tab wrote is written again in a new one.
 */

import { DatabaseError } from "../src/base/errors.ts";
import { type Batch, batchHead, patchOf } from "./commit/batch.ts";
import type { Position } from "./commit/commit.ts";
import { lendableChains, type LentChain } from "./graph/continuity.ts";
import { lateRefusing } from "./refusal/late_refusing.ts";
import { Mirror, type OwnRecord } from "./log/own_log.ts";
import { Outgoing } from "./write/outgoing.ts";
import type { LoadedReplica } from "./loaded_replica.ts";
import type { Sharing } from "./graph/sharing.ts";
import {
  type Cut,
  type Refusal,
  type Refused,
  type Resolution,
  resolveIn,
} from "./refusal/void_commits.ts";
import type { Writer } from "./write/writer.ts";
import type { Credential } from "./commit/credentials.ts";
import { batchKind, isBatch, travelsHere } from "./log/format.ts";
import { type RecordVisitor, visitRecord } from "./log/records.ts";
import { ChangeList } from "./state/state.ts";

export interface DeviceParts {
  readonly loaded: LoadedReplica;
  readonly writer: Writer;
  readonly sharing: Sharing;
  /** Is it a tab's replica, over an image of the owner's? */
  readonly isTab: boolean;
  /** Does it lend chains to tabs? */
  readonly isLending: boolean;
  /** May the chains of this folder go on at all? */
  readonly mayLend: boolean;
  /** Was there never a repair of this folder? */
  readonly isSpotless: () => boolean;
  /** A redaction is known that is to be carried out. */
  readonly redacted: () => void;
  readonly check: () => void;
  readonly publishing: (tell: () => void) => void;
  readonly refusalsChanged: () => void;
}

export class Device {
  /** What a tab's log got of the tab itself; `undefined` where it is no tab's. */
  readonly outgoing: Outgoing | undefined;
  /** Does it lend chains to tabs, which seal what they write themselves? */
  readonly isLending: boolean;
  readonly openedAt: number;
  readonly #parts: DeviceParts;
  /** What following has changed and nobody was told. */
  readonly #changes = new ChangeList();
  /** May nobody write an own chain any more that this replica does not? The owner of tabs' files says so. */
  isLeft: (chain: string) => boolean;
  #mirror: Mirror | undefined;
  /** What this tab writes again, once the owner has done so with what it had. */
  readonly #lost = new Set<Refused>();

  constructor(parts: DeviceParts) {
    const { loaded, isTab, isLending } = parts;
    this.#parts = parts;
    this.openedAt = loaded.log.end;
    this.outgoing = isTab ? new Outgoing(loaded.log) : undefined;
    this.isLending = isLending;
    this.isLeft = () => !isLending;
  }

  /** Keys that sign here, or did, as the first 32 characters of their chains' names. */
  get keys(): ReadonlySet<string> {
    return this.#parts.writer.ownKeys();
  }

  /** The chain that is written here, "" before it began. */
  get chain(): string {
    return this.#parts.writer.written.chain;
  }

  mirror(): Mirror {
    const { loaded, sharing } = this.#parts;
    sharing.open();
    return this.#mirror ??= new Mirror(loaded.log, sharing);
  }

  /** Own chains that may go on and that nobody writes here, the latest first. */
  lendable(): LentChain[] {
    const { loaded, writer, mayLend, isSpotless } = this.#parts;
    if (!mayLend) return [];
    loaded.commits.hashAll();
    const { chain } = writer.written;
    return lendableChains(loaded, writer.keyName, chain, isSpotless());
  }

  /** Does nobody write an own chain any more? */
  isIdle(chain: string): boolean {
    const { keyName, written } = this.#parts.writer;
    return chain.startsWith(keyName) && chain !== written.chain &&
      this.isLeft(chain);
  }

  /**
   * Takes records of another replica of this device, in the order of its log.
   * They are visible when this returns, and durable when `durable()` says so.
   * The result is what is missing that the next one builds on, where that cannot be taken.
   */
  follow(records: readonly OwnRecord[]): string | undefined {
    const { writer, publishing } = this.#parts;
    this.#parts.check();
    let missing: string | undefined;
    // Callbacks may write: they run when all of it is part of the state.
    publishing(() => {
      writer.flush();
      if (this.outgoing === undefined) writer.introduceNow();
      missing = this.#follow(records);
      this.#writeLost();
      writer.beginAfterSetBack();
    });
    return missing;
  }

  #follow(records: Iterable<OwnRecord>): string | undefined {
    // A refusal that is tried again stands until the commit that does so is here.
    const held: Resolution[] = [];
    try {
      for (const record of records) {
        const missing = this.#take(record, held);
        if (missing !== undefined) return missing;
      }
      this.#resolve(held);
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw new DatabaseError(
        "log-damaged",
        "Another page of this app sent something that is not a record. Reload all of its pages",
        { cause },
      );
    } finally {
      this.#changes.publish();
    }
    return undefined;
  }

  /** Takes a record, behind resolutions that may be those of its commits. */
  #take(record: OwnRecord, held: Resolution[]): string | undefined {
    const { kind, bytes } = record;
    const tell = () => {
      this.#resolve(held);
      this.#changes.publish(); // Told in order: what is void now was there.
    };
    const visitor: RecordVisitor<string | void> = {
      batch: (batch) => this.#batch(record, batch, held),
      credential: (one) => this.#credential(record, one),
      resolution: (one) => void held.push(one),
      refusal: (one) => {
        tell();
        this.#refuse(one);
      },
      cut: (cuts) => {
        tell();
        if (this.outgoing !== undefined) this.#cut(cuts); // An owner cuts itself.
      },
      unknown: () => {
        throw new SyntaxError(`kind ${kind} is unknown`);
      },
    };
    return visitRecord(visitor, kind, bytes, 0) || undefined;
  }

  #credential({ kind, bytes }: OwnRecord, credential: Credential): void {
    const { credentials } = this.#parts.loaded;
    if (credentials.has(credential)) return;
    this.#append(kind, bytes);
    credentials.add(credential);
    if (credential.what === "redaction") this.#parts.redacted();
  }

  /**
   * What became of refused commits. An owner notes none that was tried again before
   * the commit is here that does so, or comes with this batch: where it never
   * comes, the refusal stands.
   */
  #resolve(held: Resolution[], batch?: Batch): void {
    const { loaded, refusalsChanged } = this.#parts;
    const { graph } = loaded;
    const isHere = (one: Position) =>
      graph.has(one) ||
      one.chain === batch?.chain &&
        one.number < batch.first + batch.commits.length;
    const waiting: Resolution[] = [];
    for (const [i, one] of held.entries()) {
      const { chain, number } = one;
      let { retried } = one;
      for (const next of held.slice(i + 1)) { // It may have been written again since.
        if (isAt(next, retried)) ({ retried } = next);
      }
      const isDue = this.outgoing !== undefined || retried === undefined ||
        isHere(retried);
      if (!isDue) waiting.push(one);
      else {
        const resolution = { chain, number, retried };
        const isNew = this.#foreign(() => resolveIn(loaded, resolution));
        if (isNew) refusalsChanged();
      }
    }
    held.splice(0, held.length, ...waiting);
  }

  #batch(
    record: OwnRecord,
    batch: Batch,
    held: Resolution[],
  ): string | undefined {
    const { graph, mode } = this.#parts.loaded;
    const isOfMode = record.kind === batchKind(mode === "default");
    if (!isOfMode) throw new SyntaxError("the batch is of another mode");
    const from = graph.lengthOf(batch.chain) - batch.first;
    // What was known may turn out to be another commit, and is cut.
    if (from < 0) return "earlier commits of its chain";
    const { commits, chain, first, bytes } = batch;
    if (from > 0 && this.outgoing?.echo(chain, first, bytes) === false) {
      this.#changes.publish();
      this.#leave(chain); // What was written here goes out of its way.
    }
    const known = graph.lengthOf(chain) - first;
    if (known >= commits.length) return undefined;
    for (let i = known; i < commits.length; i++) {
      if (!commits[i]!.parents.every((one) => graph.has(one))) {
        return "a parent";
      }
    }
    this.#resolve(held, batch);
    this.#add(record, batch, known);
    return undefined;
  }

  #add(record: OwnRecord, batch: Batch, from: number): void {
    const { loaded } = this.#parts;
    const { chain, first, commits } = batch;
    const patches = commits.slice(from).map((commit) => patchOf(batch, commit));
    const address = this.#append(record.kind, record.bytes);
    loaded.graph.addBatch(batch);
    // Its owner may not have erased it yet.
    if (loaded.credentials.redactions.means(chain)) this.#parts.redacted();
    this.took(chain, first + from, commits.length - from);
    this.#changes.fold(loaded, { batch, address, from }, patches);
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

  #refuse({ chain, refused }: Refusal): void {
    const { loaded, refusalsChanged } = this.#parts;
    const { refuse } = lateRefusing.code;
    const done = this.#foreign(() => refuse({ loaded }, chain, refused));
    if (done === undefined) return;
    done.tell();
    refusalsChanged();
  }

  /** Cuts chains in a tab; what its owner never showed to have of them is lost there, and waits here. */
  #cut(cuts: readonly Cut[]): void {
    const { loaded, writer } = this.#parts;
    const { voided } = loaded;
    const { cut } = lateRefusing.code;
    const outgoing = this.outgoing!;
    const done = this.#foreign(() =>
      cut({ loaded }, {
        cuts,
        isOwn: () => true,
        isReissued: (chain, number) => number >= outgoing.firstUnechoed(chain),
        isForAll: true,
      })
    );
    if (done === undefined) return;
    for (const { chain } of done.cuts) {
      outgoing.drop(chain);
      writer.leave(chain);
    }
    for (const one of voided.unissued) {
      if (done.lost.has(one.address)) this.#lost.add(one);
    }
    if (this.#lost.size > 0) outgoing.hold();
    done.tell();
  }

  /** Writes again what the owner lost, when all that names may need is known; who waits for it waits for that. */
  #writeLost(): void {
    const { loaded, writer } = this.#parts;
    if (this.#lost.size > 0) {
      const { unissued } = loaded.voided;
      if (unissued.some((one) => !this.#lost.has(one))) return;
      this.#lost.clear();
      lateRefusing.code.reissue(loaded, writer, unissued);
    }
    writer.flush();
    this.outgoing?.release();
  }

  /** An own chain cannot go on: what the owner does not have of it is written again in a new one. */
  leaveChain(chain: string): void {
    const { writer, publishing } = this.#parts;
    writer.flush();
    publishing(() => {
      this.#leave(chain);
      this.#writeLost();
    });
  }

  #leave(chain: string): void {
    const { writer } = this.#parts;
    void lateRefusing.code; // Where it is not loaded, nothing is dropped yet.
    const from = this.outgoing?.firstUnechoed(chain) ?? Infinity;
    if (from < Infinity) this.#cut([{ chain, from }]);
    this.outgoing?.drop(chain);
    writer.leave(chain);
  }

  /** Records that somebody lacks who has so many commits of each chain, in the order of this log. */
  lackedBy(known: ReadonlyMap<string, number>): OwnRecord[] {
    const { log, commits } = this.#parts.loaded;
    const records: OwnRecord[] = [];
    log.records(0, log.sealed, (kind, body, address) => {
      if (!travelsHere(kind)) return;
      if (isBatch(kind)) {
        const { chain, first, count } = batchHead(body);
        const end = first + count;
        if (end <= (known.get(chain) ?? 0)) return;
        if (commits.isCut(chain, first, address)) return;
      }
      records.push({ kind, bytes: body.slice() });
    });
    return records;
  }
}

function isAt({ chain, number }: Position, place?: Position): boolean {
  return chain === place?.chain && number === place.number;
}
