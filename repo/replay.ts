/**
 * Replaying a log: its records, in order, folded into what a repository knows.
 *
 * Void commits are in the log and in nothing else: who meets a refusal or a cut
 * whose commits were folded already starts over, knowing it.
 *
 * Architecture invariant: the same log gives the same state, with and without a
 * checkpoint under it (law 5).
 */

import { equalBytes } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import type { Batch } from "./commit/batch.ts";
import { decodeCertificate } from "./commit/certificate.ts";
import { type Credential, Credentials } from "./commit/credentials.ts";
import type { Erasure } from "./commit/redaction.ts";
import type { Checkpoint } from "./checkpoint/checkpoint.ts";
import {
  decodeGenesis,
  type Genesis,
  genesisId,
  type Mode,
  type RepositoryName,
} from "./commit/genesis.ts";
import { Graph } from "./graph/graph.ts";
import { RECORD_HEADER_BYTES } from "./log/format.ts";
import { lateReading } from "./checkpoint/late_reading.ts";
import type { Store } from "./log/store.ts";
import type { LoggedMark } from "./log/order.ts";
import { type RecordVisitor, visitRecord } from "./log/records.ts";
import type { ReplicaMeta } from "./checkpoint/replica_meta.ts";
import type { LoadedReplica } from "./loaded_replica.ts";
import type { Salvage } from "./repair/salvage.ts";
import type { Outline } from "./state/outline.ts";
import { foldBatch, State, type ViewOf } from "./state/state.ts";
import {
  type Cut,
  type LoggedRefusal,
  type Refusal,
  type Resolution,
  VoidCommits,
} from "./refusal/void_commits.ts";

/** What a log is to be, and how its items are seen. */
export interface ReplayOptions {
  readonly name: RepositoryName;
  readonly mode: Mode;
  readonly isModeRequired: boolean;
  /** Root public key, 32 bytes. */
  readonly rootKey: Uint8Array;
  readonly viewOf: ViewOf;
}

export interface Ground {
  readonly checkpoint: Checkpoint | undefined;
  /** What repairs could not connect; a checkpoint behind them has it. */
  readonly salvage: Salvage | undefined;
}

/** Visited by records in the log's order, through `record()`. */
export class Replay implements RecordVisitor<void> {
  readonly #options: ReplayOptions;
  readonly #into: State | Outline;
  #genesis: Uint8Array | undefined;
  #mode: Mode | undefined;
  #genesisId: Uint8Array | undefined;
  #graph: Graph | undefined;
  #credentials = new Credentials();
  readonly #voided: VoidCommits;
  readonly #groups = new LogGroups();
  readonly #checkpoint: Checkpoint | undefined;
  readonly #salvage: Salvage | undefined;
  #isSalvaged = false;
  /** Those that were met. */
  readonly #refusals: LoggedRefusal[] = [];
  #order: LoggedMark | undefined;
  /** Were commits folded that a later record voids? */
  #isStale = false;

  /** @param outline takes note of commits that nobody needs folded */
  constructor(
    options: ReplayOptions,
    { checkpoint, salvage }: Ground,
    known?: VoidCommits,
    outline?: Outline,
  ) {
    this.#options = options;
    this.#checkpoint = checkpoint;
    this.#salvage = salvage;
    this.#into = outline ?? new State(options.viewOf, checkpoint);
    const meta = readMeta(checkpoint);
    this.#voided = known ?? meta?.voided ?? new VoidCommits();
    if (meta === undefined) return;
    if (salvage !== undefined && !meta.isSalvaged) {
      throw new SyntaxError("it has nothing of what a repair salvaged");
    }
    this.#isSalvaged = salvage !== undefined;
    this.#begin(meta.genesis, meta);
    this.#credentials = meta.credentials;
    this.#order = meta.order;
  }

  #begin(
    bytes: Uint8Array,
    known?: Pick<ReplicaMeta, "genesisId" | "graph">,
  ): void {
    const genesis = decodeGenesis(bytes);
    checkGenesis(genesis, this.#options);
    this.#mode = genesis.mode;
    this.#genesis = bytes;
    this.#genesisId = known?.genesisId ?? genesisId(bytes);
    this.#graph = known?.graph ?? new Graph(this.#genesisId);
  }

  get hasBegun(): boolean {
    return this.#graph !== undefined;
  }

  isCertified(certificate: Uint8Array): boolean {
    return this.#credentials.certificates.has(decodeCertificate(certificate));
  }

  /** Takes one record; its checksum was right. */
  record(kind: number, body: Uint8Array, address: number): void {
    if (address >= (this.#salvage?.at ?? Infinity)) this.#takeSalvaged();
    try {
      visitRecord(this, kind, body, address);
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause;
      throw new DatabaseError(
        "log-damaged",
        `The log record at ${address} cannot be read, though its checksum is right: ` +
          "it was written by a faulty or newer program. Nothing was changed",
        { cause },
      );
    }
  }

  #takeSalvaged(): void {
    if (this.#isSalvaged) return;
    this.#isSalvaged = true;
    if (this.#into instanceof State) this.#salvage?.apply(this.#into);
  }

  genesis(bytes: Uint8Array): void {
    this.#begin(bytes.slice());
  }

  credential(credential: Credential): void {
    this.#credentials.add(credential);
  }

  erasure(erasure: Erasure): void {
    this.#credentials.redactions.note(erasure);
  }

  order(body: Uint8Array, address: number): void {
    this.#order = { body: body.slice(), position: address + body.length };
  }

  unknown(kind: number, address: number): never {
    throw new DatabaseError(
      "format-too-new",
      `The log record at ${address} is of kind ${kind}, which this version must know to go on. ` +
        "Nothing was changed: open it with a newer version of Sheaf",
    );
  }

  cut(cuts: readonly Cut[], address: number): void {
    if (this.#voided.hasCut(address)) return;
    this.#voided.cut(address, cuts);
    const isFolded = cuts.some(({ chain, from }) =>
      (this.#graph?.lengthOf(chain) ?? 0) > from
    );
    if (isFolded) this.#isStale = true;
  }

  refusal(refusal: Refusal, address: number): void {
    if (this.#voided.hasRefusal(address)) return;
    const { chain, refused } = refusal;
    this.#voided.refuse(address, refusal);
    this.#refusals.push({ at: address, refusal });
    const length = this.#graph?.lengthOf(chain) ?? 0;
    if (refused.some(({ number }) => number < length)) this.#isStale = true;
  }

  resolution(resolution: Resolution, address: number): void {
    const { retried } = resolution;
    if (retried !== undefined) {
      const { chain, number } = retried;
      this.#groups.begin(address, chain, number + 1);
      // After a repair the commit may stand before the record that tells of it.
      this.#groups.reach(chain, this.#graph?.lengthOf(chain) ?? 0);
    }
    this.#voided.resolve(resolution);
  }

  batch(batch: Batch, address: number): void {
    if (this.#graph === undefined) {
      throw new SyntaxError("the log does not begin with a genesis");
    }
    const { chain, first, commits } = batch;
    this.#groups.reach(chain, first + commits.length);
    // Who has to start over only needs to hear what else is void.
    if (this.#isStale) return;
    if (this.#voided.isCut(chain, first, address)) return;
    const left = this.#voided.withRefused(batch, address);
    const from = this.#graph.lengthOf(chain) - first;
    foldBatch(
      { batch: left, address, from },
      (patch, origin) => this.#into.fold(patch, origin),
      this.#isSalvaged ? this.#salvage : undefined,
    );
    this.#graph.addBatch(left);
  }

  /** Address of the record that begins a group whose end is missing in the log. */
  get tornAt(): number | undefined {
    return this.#groups.tornAt;
  }

  /**
   * How to read the log again, where commits were folded that are void:
   * knowing what is void, and over the checkpoint only where that holds none of
   * them.
   */
  again(): Again | undefined {
    const { tornAt } = this;
    // A checkpoint may hold what was to be erased when a crash came.
    const isLeft = this.#checkpoint !== undefined &&
      this.#credentials.redactions.isPending;
    if (!this.#isStale && !isLeft && tornAt === undefined) return undefined;
    const checkpoint = this.#checkpoint;
    const meta = readMeta(checkpoint);
    const known = meta?.voided ?? new VoidCommits();
    let isUsable = !isLeft;
    for (const { at, cuts } of this.#voided.cuts) {
      if (known.hasCut(at) || at > (tornAt ?? Infinity)) continue;
      known.cut(at, cuts);
      isUsable &&= cuts.every(({ chain, from }) =>
        (meta?.graph.lengthOf(chain) ?? 0) <= from
      );
    }
    for (const { at, refusal } of this.#refusals) {
      if (known.hasRefusal(at) || at > (tornAt ?? Infinity)) continue;
      known.refuse(at, refusal);
      const length = meta?.graph.lengthOf(refusal.chain) ?? 0;
      isUsable &&= refusal.refused.every(({ number }) => number >= length);
    }
    return { known, isUsable };
  }

  /** What all records together say. */
  finish():
    & Pick<
      LoadedReplica,
      | "genesis"
      | "mode"
      | "genesisId"
      | "graph"
      | "credentials"
      | "voided"
      | "order"
    >
    & { readonly into: State | Outline } {
    if (this.#graph === undefined) {
      throw new DatabaseError(
        "log-damaged",
        "The log does not begin with a genesis. Restore the folder from a backup",
      );
    }
    this.#takeSalvaged();
    return {
      genesis: this.#genesis!,
      mode: this.#mode!,
      genesisId: this.#genesisId!,
      graph: this.#graph,
      credentials: this.#credentials,
      into: this.#into,
      voided: this.#voided,
      order: this.#order,
    };
  }
}

export interface Again {
  readonly known: VoidCommits;
  /** Does the checkpoint hold nothing that is void? */
  readonly isUsable: boolean;
}

/** Begins to fold a log over a checkpoint, or without any. */
export type Over = (
  base: Checkpoint | undefined,
  known?: Again["known"],
) => Replay;

/**
 * Folds the log behind a checkpoint, and once more where it met what is void: over
 * the checkpoint, or without it where that holds any of it.
 *
 * @param first has read the log already
 */
export function replayed(
  over: Over,
  log: Store,
  checkpoint: Checkpoint | undefined,
  first?: Replay,
): { readonly replay: Replay; readonly base: Checkpoint | undefined } {
  const read = (base: Checkpoint | undefined, known?: Again["known"]) => {
    const replay = over(base, known);
    log.records(
      base?.covers ?? 0,
      log.end,
      (kind, body, address) => void replay.record(kind, body, address),
    );
    return replay;
  };
  const replay = first ?? read(checkpoint);
  const again = replay.again();
  if (again === undefined) return { replay, base: checkpoint };
  const base = again.isUsable ? checkpoint : undefined;
  if (base === undefined) checkpoint?.close();
  return { replay: read(base, again.known), base };
}

/**
 * Records that are whole together or not at all: resolutions, and the commits
 * that say again what these resolve. No commit else comes between them, so only
 * the last group of a log can be torn: others behind it prove that no crash tore it.
 */
class LogGroups {
  readonly #lengths = new Map<string, number>();
  #group: { at: number; chain: string; length: number } | undefined;

  /** A chain must grow to a length, or what is told from here on never was; `address` is of the body. */
  begin(address: number, chain: string, length: number): void {
    const at = this.tornAt ?? address - RECORD_HEADER_BYTES;
    this.#group = { at, chain, length };
  }

  reach(chain: string, length: number): void {
    if (this.#group !== undefined && chain !== this.#group.chain) {
      this.#group = undefined;
    }
    this.#lengths.set(chain, Math.max(this.#lengths.get(chain) ?? 0, length));
  }

  /** Where the last group begins, if its end is missing. */
  get tornAt(): number | undefined {
    const group = this.#group;
    if (group === undefined) return undefined;
    const reached = this.#lengths.get(group.chain) ?? 0;
    return reached < group.length ? group.at : undefined;
  }
}

function checkGenesis(genesis: Genesis, options: ReplayOptions): void {
  const { name, mode, rootKey, isModeRequired } = options;
  if (genesis.name !== name) {
    throw new DatabaseError(
      "log-damaged",
      `The folder of "${name}" holds the repository "${genesis.name}": it was moved. Move it back`,
    );
  }
  if (!equalBytes(genesis.rootKey, rootKey)) {
    throw new DatabaseError(
      "root-key-mismatch",
      `The repository "${name}" belongs to another root key than this database. ` +
        'Restore the "database" file that it was written with',
    );
  }
  if (isModeRequired && genesis.mode !== mode) {
    throw new DatabaseError(
      "mode-mismatch",
      `The repository "${name}" was made in ${genesis.mode} mode, not ${mode}: ` +
        `open the database with mode "${genesis.mode}"`,
    );
  }
}

/** What a checkpoint has of a repository apart from its items, read anew. */
function readMeta(checkpoint: Checkpoint | undefined): ReplicaMeta | undefined {
  return checkpoint && lateReading.code.decodeMeta(checkpoint.meta);
}
