/**
 * Verification of everything: every checksum, hash, seal and certificate of the
 * log, every patch, and every page of the checkpoint.
 *
 * It trusts nothing that opening trusted: the chains are hashed from their
 * start, and each certificate goes back to the root key.
 *
 * Architecture invariant: what is checked are the bytes that were stored;
 * nothing is encoded anew (law 1).
 */

import { settle } from "../../crypto/signature.ts";
import { equalBytes } from "../../src/base/bytes.ts";
import {
  type DatabaseError,
  hasCode,
  type Refusal,
  refuse,
} from "../../src/base/errors.ts";
import { compareHlc, type Hlc } from "../../src/base/hlc.ts";
import { type Batch, hashBatch, patchOf } from "../commit/batch.ts";
import { type Credential, Credentials } from "../commit/credentials.ts";
import { type Checkpoint, verifyCheckpoint } from "../checkpoint/checkpoint.ts";
import { decodeGenesis } from "../commit/genesis.ts";
import { RECORD_HEADER_BYTES, SEGMENT_HEADER_BYTES } from "../log/format.ts";
import {
  type Accepted,
  acceptedOf,
  decodeMark,
  orderAfter,
  type OrderMark,
  orderStart,
} from "../log/order.ts";
import { type RecordVisitor, visitRecord } from "../log/records.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import type { Cut, LoggedCut } from "../refusal/void_commits.ts";
import { batchLeft } from "../redaction/erased.ts";
import { checkCredential } from "../admission/credential_check.ts";
import { chainStart, type Position } from "../commit/commit.ts";
import { getOrMake } from "../../src/base/collections.ts";
import { verifyBatch } from "../admission/signature_check.ts";

export interface VerifyProgress {
  readonly done: number;
  readonly total: number;
}

/** Options of a verification. */
export interface VerifyOptions {
  /** Hears how far it has come, a few times a second. */
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** Ends it early with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The first thing that is wrong. */
export interface Damage {
  /** Log address at which the first bad record starts; -1 in a checkpoint. */
  readonly address: number;
  /** What is wrong, for people. */
  readonly reason: string;
}

/** What a verification found. */
export interface VerifyReport {
  readonly ok: boolean;
  readonly records: number;
  readonly commits: number;
  readonly operations: number;
  readonly certificates: number;
  readonly revocations: number;
  /** Signed records that are kept and passed on, known or not. */
  readonly statements: number;
  /** How often authors said which commits they gave up. */
  readonly voids: number;
  /** Redactions. */
  readonly redactions: number;
  /** How often authors ended chains. */
  readonly retirements: number;
  /** Seals verified. */
  readonly signatures: number;
  /** Bytes of the log that were checked. */
  readonly bytes: number;
  readonly damage: Damage | undefined;
}

/** Bytes between two pauses. */
const STEP_BYTES = 4 * 1024 * 1024;
/** Steps of a checkpoint between two pauses. */
const STEPS_BETWEEN = 16;

/** Checks the whole log, then the checkpoint; others may work in between. */
export async function verifyReplica(
  loaded: LoadedReplica,
  options: VerifyOptions,
  pause: () => Promise<void>,
): Promise<VerifyReport> {
  const { log } = loaded;
  await settle(undefined); // In every mode credentials are signed.
  const total = log.sealed; // What lacks its seal is not whole yet.
  const check = new LogCheck(loaded);
  let at = 0;
  try {
    while (at < total) {
      options.signal?.throwIfAborted();
      at = check.run(at, total);
      options.onProgress?.({ done: at, total });
      await pause();
    }
  } catch (cause) {
    if (!isDamage(cause)) throw cause;
    check.fail(check.next, cause.message);
  }
  check.finish();
  if (check.damage === undefined && loaded.checkpoint !== undefined) {
    const found = await verifyPages(loaded.checkpoint, options, pause);
    if (found !== undefined) check.fail(-1, found);
  }
  return check.report();
}

/** A medium that fails, or a repository that is closed meanwhile, is no damage. */
function isDamage(cause: unknown): cause is DatabaseError {
  return hasCode(cause, "log-damaged", "checkpoint-damaged");
}

async function verifyPages(
  checkpoint: Checkpoint,
  { signal }: VerifyOptions,
  pause: () => Promise<void>,
): Promise<string | undefined> {
  const steps = verifyCheckpoint(checkpoint);
  for (let i = 0;; i++) {
    const { done, value } = steps.next();
    if (done) return value ?? undefined;
    if (i % STEPS_BETWEEN !== 0) continue;
    signal?.throwIfAborted();
    await pause();
  }
}

/** Whether the marks of a log say the order of its batches. */
class OrderCheck {
  readonly #genesisId: Uint8Array;
  #last: OrderMark | undefined;
  #batches: Accepted[] = [];

  constructor(genesisId: Uint8Array) {
    this.#genesisId = genesisId;
  }

  batch(batch: Batch): undefined {
    if (this.#last !== undefined) this.#batches.push(acceptedOf(batch));
  }

  mark(body: Uint8Array, address: number): Refusal | undefined {
    const last = this.#last;
    const mark = decodeMark(body, address);
    const { epoch, accepted } = mark;
    const order = last !== undefined && equalBytes(last.epoch, epoch)
      ? orderAfter(last.order, { accepted, batches: this.#batches })
      : orderStart(this.#genesisId, epoch);
    this.#last = mark;
    this.#batches = [];
    if (equalBytes(order, mark.order)) return undefined;
    return refuse("malformed", "its batches came in another order");
  }
}

class LogCheck implements RecordVisitor<Refusal | undefined> {
  // Of these it is enough that they can be decoded.
  readonly resolution = (): undefined => {};
  readonly refusal = this.resolution;
  readonly erasure = this.resolution;
  next = SEGMENT_HEADER_BYTES;
  damage: Damage | undefined;
  #at = 0;
  readonly #uncertified: {
    readonly at: number;
    readonly chain: string;
    readonly wall: number;
  }[] = [];
  readonly #loaded: LoadedReplica;
  readonly #rootKey: Uint8Array;
  readonly #chains: VerifiedChains;
  readonly #credentials = new Credentials();
  readonly #order: OrderCheck;
  readonly #counts = {
    records: 0,
    commits: 0,
    operations: 0,
    certificates: 0,
    revocations: 0,
    statements: 0,
    voids: 0,
    redactions: 0,
    retirements: 0,
    signatures: 0,
    bytes: 0,
  };

  constructor(loaded: LoadedReplica) {
    this.#loaded = loaded;
    this.#rootKey = decodeGenesis(loaded.genesis).rootKey;
    const { genesisId, voided } = loaded;
    this.#chains = new VerifiedChains(genesisId, voided.cuts);
    this.#order = new OrderCheck(genesisId);
  }

  /** Checks a few records from `from` on; says where to go on. */
  run(from: number, total: number): number {
    const { log } = this.#loaded;
    const end = log.records(from, total, (kind, body, address) => {
      this.#counts.records++;
      this.next = address + body.length;
      this.#at = address - RECORD_HEADER_BYTES;
      try {
        const refusal = visitRecord(this, kind, body, address);
        if (refusal !== undefined) {
          const { refused, detail = "refused" } = refusal;
          this.fail(this.#at, `${refused}: ${detail}`);
        }
      } catch (cause) {
        if (!(cause instanceof SyntaxError)) throw cause;
        this.fail(this.#at, cause.message);
      }
      return this.damage !== undefined || this.next - from > STEP_BYTES;
    });
    this.#counts.bytes = end;
    return this.damage === undefined ? end : total;
  }

  genesis(body: Uint8Array): Refusal | undefined {
    if (equalBytes(body, this.#loaded.genesis)) return undefined;
    return refuse("malformed", "it is another genesis than the first one");
  }

  credential(credential: Credential): Refusal | undefined {
    const { genesisId } = this.#loaded;
    const credentials = this.#credentials;
    // Commits that it means were erased, where they are at all.
    const payloadOf = () => undefined;
    const rootKey = this.#rootKey;
    const context = { genesisId, rootKey, credentials, payloadOf };
    const refusal = checkCredential(credential, context);
    if (refusal !== undefined) return refusal;
    credentials.add(credential);
    this.#counts[`${credential.what}s`]++;
    return undefined;
  }

  /** What it takes out was verified like everything else, and counts no more. */
  cut(cuts: readonly Cut[]): Refusal | undefined {
    for (const cut of cuts) {
      const taken = this.#chains.cut(cut);
      if (taken < 0) return refuse("gap", "it cuts what is not there");
      this.#counts.commits -= taken;
    }
    return undefined;
  }

  order(body: Uint8Array, address: number): Refusal | undefined {
    return this.#order.mark(body, address);
  }

  unknown(kind: number): Refusal {
    return refuse("malformed", `records of kind ${kind} are unknown`);
  }

  batch(batch: Batch): Refusal | undefined {
    return this.#connects(batch) ?? this.#order.batch(batch);
  }

  #connects(batch: Batch): Refusal | undefined {
    const chains = this.#chains;
    const { chain, first, commits } = batch;
    const from = chains.lengthOf(chain) - first;
    if (from < 0) return refuse("gap", "a commit before it is missing");
    if (from > commits.length) return undefined; // All of it was verified.
    const lastId = this.#idOf(batch, chains.idOf(chain), from);
    if ("refused" in lastId) return lastId;
    if (batch.seal !== undefined) this.#counts.signatures++;
    const wrong = this.#commits(batch, from);
    if (wrong !== undefined) return wrong;
    chains.add(batch, lastId);
    this.#counts.commits += Math.max(0, commits.length - from);
    return undefined;
  }

  /** The id of its last commit, under its seal where it has one. */
  #idOf(
    batch: Batch,
    previousId: Uint8Array,
    from: number,
  ): Uint8Array | Refusal {
    const { genesisId, voided, credentials: { redactions } } = this.#loaded;
    const isLeft = batchLeft(redactions, batch) !== undefined;
    if (!isLeft || previousId === UNPROVED) {
      // What was cut is erased without a note: its number may be another commit's.
      if (voided.isCut(batch.chain, batch.first, this.#at)) return UNPROVED;
    }
    if (!isLeft) {
      return refuse("denied", "values are missing that nobody erased");
    }
    return batch.seal === undefined
      ? hashBatch(batch, previousId, redactions, from)
      : verifyBatch(batch, previousId, genesisId, redactions, from);
  }

  #commits(batch: Batch, from: number): Refusal | undefined {
    const { chain, commits } = batch;
    let last = this.#chains.lastOf(chain);
    for (let i = from; i < commits.length; i++) {
      const commit = commits[i]!;
      if (last !== undefined && compareHlc(commit, last) <= 0) {
        const detail = "a commit is not later than its predecessor";
        return refuse("bad-clock", detail);
      }
      if (!commit.parents.every((parent) => this.#chains.has(parent))) {
        return refuse("missing-parent", "a parent is missing");
      }
      const isAsked = batch.seal !== undefined && !commit.isVoid;
      if (isAsked && !this.#isCertified(chain, commit.wall)) {
        this.#uncertified.push({ at: this.#at, chain, wall: commit.wall });
      }
      this.#counts.operations += patchOf(batch, commit).operations.length;
      last = commit;
    }
    return undefined;
  }

  #isCertified(chain: string, wall: number): boolean {
    return this.#credentials.certificates.covering(chain.slice(0, 32), wall) !==
      undefined;
  }

  /**
   * Certificates may come after what they vouch for: a replica writes before
   * its first login. What its own key signed may wait for one still; what a
   * key wrote that was lost before that was cut, all of it.
   */
  finish(): void {
    const { ownKey, voided } = this.#loaded;
    for (const { at, chain, wall } of this.#uncertified) {
      if (chain.slice(0, 32) === ownKey) continue;
      if (voided.isCut(chain, 0, at)) continue;
      if (this.#isCertified(chain, wall)) continue;
      this.fail(at, "unknown-session: no certificate covers it");
    }
  }

  fail(address: number, reason: string): void {
    this.damage ??= { address, reason };
  }

  report(): VerifyReport {
    return {
      ok: this.damage === undefined,
      ...this.#counts,
      damage: this.damage,
    };
  }
}

/** The id of what was cut, and then erased. */
const UNPROVED = new Uint8Array(32);

/** A chain up to a commit. */
interface End {
  readonly length: number;
  readonly id: Uint8Array;
  readonly last: Hlc;
}

class VerifiedChains {
  readonly #genesisId: Uint8Array;
  readonly #ends = new Map<string, End>();
  /** Lengths to which chains will be cut, and what was there. */
  readonly #cuts = new Map<string, Map<number, End | undefined>>();

  constructor(genesisId: Uint8Array, logged: readonly LoggedCut[]) {
    this.#genesisId = genesisId;
    for (const { cuts } of logged) {
      for (const { chain, from } of cuts) {
        getOrMake(this.#cuts, chain, () => new Map()).set(from, undefined);
      }
    }
  }

  lengthOf(chain: string): number {
    return this.#ends.get(chain)?.length ?? 0;
  }

  has({ chain, number }: Position): boolean {
    return number < this.lengthOf(chain);
  }

  lastOf(chain: string): Hlc | undefined {
    return this.#ends.get(chain)?.last;
  }

  idOf(chain: string): Uint8Array {
    return this.#ends.get(chain)?.id ?? chainStart(this.#genesisId, chain);
  }

  /** Adds the commits of a batch that are new, the last of which has this id. */
  add(batch: Batch, lastId: Uint8Array): void {
    const { chain, first, commits } = batch;
    const before = this.lengthOf(chain);
    const length = first + commits.length;
    if (length <= before) return;
    const end = { length, id: lastId, last: commits.at(-1)! };
    this.#ends.set(chain, end);
    const cuts = this.#cuts.get(chain);
    if (cuts?.has(length)) cuts.set(length, end);
  }

  /** Cuts a chain; says how many commits that took, -1 when it was shorter. */
  cut({ chain, from }: Cut): number {
    const before = this.lengthOf(chain);
    if (before <= from) return before - from;
    const end = this.#cuts.get(chain)?.get(from);
    if (from === 0) this.#ends.delete(chain);
    else if (end === undefined) return -1;
    else this.#ends.set(chain, end);
    return before - from;
  }
}
