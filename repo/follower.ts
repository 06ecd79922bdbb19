/**
 * Following a log of this very device: what the owner's log says becomes part
 * of a tab, and what a tab wrote becomes part of the owner's log.
 *
 * Nothing is judged: it was when it came to the device, or when it was written
 * here. What cannot stand yet, because something before it is missing, is left.
 *
 * Architecture invariant: what does not come from this device never comes here;
 * it comes through the door (law 2). Bytes are stored as they are (law 1).
 *
 * @module
 */

import { ByteReader } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { decodePatch } from "../src/schema/patch_codec.ts";
import { type Batch, decodeBatch, payloadOf } from "./batch.ts";
import { decodeCertificate } from "./certificate.ts";
import { recordKind } from "./log_format.ts";
import { kindOf, type OwnRecord } from "./own_log.ts";
import type { LoadedReplica } from "./replica_open.ts";
import { decodeRevocation } from "./revocation.ts";
import { ChangeList } from "./state.ts";
import {
  decodeResolution,
  decodeWithdrawal,
  encodeResolution,
  type Resolution,
  type Withdrawal,
} from "./withdrawals.ts";

/** What became of records. */
export interface Followed {
  /** How many were taken or known. */
  readonly taken: number;
  /** Why the next one cannot be: what it builds on is not here. */
  readonly missing?: string;
}

/** What a follower works with. */
export interface FollowerParts {
  readonly loaded: LoadedReplica;
  /** Appends a record to the log that is not written here; says where its body starts. */
  readonly append: (kind: number, body: Uint8Array) => number;
  /** Runs when `count` commits of `chain` from `first` on have entered the log. */
  readonly took: (chain: string, first: number, count: number) => void;
  /** A batch that is known came again: is it the one that is known? */
  readonly isSame: (batch: Batch) => boolean;
  /** Is it the beginning of one that is known, under a seal of its own, since the rest is about to be taken back? */
  readonly isPart: (batch: Batch) => boolean;
  /** It is not: what was written here in its place goes out of its way. */
  readonly yield: (batch: Batch) => void;
  /** Takes back what a withdrawal says. */
  readonly withdraw: (withdrawal: Withdrawal) => void;
  /** A commit that was refused only for its date was written again. */
  readonly redated: (resolution: Resolution) => void;
  /** There are other refusals. */
  readonly refusalsChanged: () => void;
}

/** Takes records of this device's own logs into a replica. */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #changes = new ChangeList();

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** Takes records in the order of their log; visible when it returns. */
  follow(records: Iterable<OwnRecord>): Followed {
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
    if (kind === "signed" || kind === "unsigned") {
      return this.#batch(record, held);
    }
    if (kind === "certificate") this.#certificate(record);
    else if (kind === "revocation") this.#revocation(record);
    else if (kind === "resolution") held.push(record);
    else {
      this.#resolve(held);
      this.#changes.publish(); // Told in order: what is taken back was there.
      this.#parts.withdraw(decodeWithdrawal(new ByteReader(bytes)));
    }
    return undefined;
  }

  #certificate(record: OwnRecord): void {
    const { loaded: { certificates }, append } = this.#parts;
    const certificate = decodeCertificate(record.bytes);
    if (certificates.has(certificate)) return;
    append(kindOf(record), record.bytes);
    certificates.add(certificate);
  }

  #revocation(record: OwnRecord): void {
    const { loaded: { revocations }, append } = this.#parts;
    const revocation = decodeRevocation(record.bytes);
    if (revocations.tellsNothingNew(revocation)) return;
    append(kindOf(record), record.bytes);
    revocations.add(revocation);
  }

  #resolve(held: OwnRecord[]): void {
    const { loaded: { withdrawals }, append } = this.#parts;
    for (const { bytes } of held.splice(0)) {
      const resolution = decodeResolution(new ByteReader(bytes));
      const { chain, number } = resolution;
      const isDate = withdrawals.refused.some((one) =>
        one.chain === chain && one.number === number &&
        one.reason === "bad-clock"
      );
      if (!withdrawals.resolve(resolution)) continue;
      if (isDate) this.#parts.redated(resolution);
      append(recordKind.resolution, encodeResolution(resolution));
      this.#parts.refusalsChanged();
    }
  }

  #batch(record: OwnRecord, held: OwnRecord[]): string | undefined {
    const { graph, mode } = this.#parts.loaded;
    const isSigned = record.kind === "signed";
    if (isSigned !== (mode === "default")) {
      throw new SyntaxError("the batch is of another mode");
    }
    const batch = decodeBatch(record.bytes, isSigned);
    const from = graph.lengthOf(batch.chain) - batch.first;
    // What was known may turn out to be another commit, and is taken back.
    if (from < 0) return "earlier commits of its chain";
    if (from > 0 && !this.#parts.isSame(batch)) {
      this.#changes.publish();
      this.#parts.yield(batch);
    }
    const { commits, chain, first } = batch;
    const known = graph.lengthOf(chain) - first;
    if (known >= commits.length) {
      if (known > commits.length && this.#parts.isPart(batch)) {
        this.#parts.loaded.log.append(kindOf(record), [record.bytes]);
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
    const { loaded, append } = this.#parts;
    const { chain, first, commits } = batch;
    const patches = commits.slice(from).map((commit) =>
      decodePatch(payloadOf(batch, commit))
    );
    const address = append(kindOf(record), record.bytes);
    loaded.graph.addBatch(batch);
    this.#parts.took(chain, first + from, commits.length - from);
    this.#changes.fold(loaded, batch, from, patches, address);
  }
}
