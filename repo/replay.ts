/**
 * Replaying a log: its records, in order, folded into what a repository knows.
 *
 * Commits that were withdrawn are in the log and in nothing else: who meets a
 * withdrawal whose commits were folded already starts over, knowing it.
 *
 * Architecture invariant: the same log gives the same state, with and without a
 * checkpoint under it (law 5).
 *
 * @module
 */

import { equalBytes } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import type { Origin } from "../src/schema/cell.ts";
import { decodePatch } from "../src/schema/patch_codec.ts";
import { type Batch, decodeBatch, payloadOf } from "./batch.ts";
import { Certificates, decodeCertificate } from "./certificate.ts";
import type { Checkpoint } from "./checkpoint/checkpoint.ts";
import {
  decodeGenesis,
  type Genesis,
  genesisId,
  type Mode,
} from "./genesis.ts";
import { Graph } from "./graph.ts";
import { recordKind } from "./log_format.ts";
import { decodeMeta, type ReplicaMeta } from "./replica_meta.ts";
import type { LoadedReplica, OpenReplicaOptions } from "./replica_open.ts";
import { State } from "./state.ts";

/** Folds the log's records, in order, into what a repository knows. */
export class Replay {
  readonly #options: OpenReplicaOptions;
  readonly #state: State;
  #genesis: Uint8Array | undefined;
  #mode: Mode | undefined;
  #genesisId: Uint8Array | undefined;
  #graph: Graph | undefined;
  #certificates = new Certificates();

  constructor(options: OpenReplicaOptions, checkpoint: Checkpoint | undefined) {
    this.#options = options;
    this.#state = new State(options.viewOf, checkpoint);
    if (checkpoint === undefined) return;
    const meta = decodeMeta(checkpoint.meta);
    this.#begin(meta.genesis, meta);
    this.#certificates = meta.certificates;
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

  /** Is it known which repository this is? */
  get hasBegun(): boolean {
    return this.#graph !== undefined;
  }

  /** Is this certificate known? */
  isCertified(certificate: Uint8Array): boolean {
    return this.#certificates.has(decodeCertificate(certificate));
  }

  /** Takes one record; its checksum was right. */
  record(kind: number, body: Uint8Array, address: number): void {
    try {
      if (kind === recordKind.genesis) this.#begin(body.slice());
      else if (kind === recordKind.certificate) {
        this.#certificates.add(decodeCertificate(body));
      } else {this.#batch(
          decodeBatch(body, kind === recordKind.signedBatch),
          address,
        );}
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

  #batch(batch: Batch, address: number): void {
    if (this.#graph === undefined) {
      throw new SyntaxError("the log does not begin with a genesis");
    }
    const from = this.#graph.lengthOf(batch.chain) - batch.first;
    for (let i = from; i < batch.commits.length; i++) {
      const { wall, count, payloadAt } = batch.commits[i]!;
      const patch = decodePatch(payloadOf(batch, batch.commits[i]!));
      const operationsAt = address + payloadAt + patch.operationsOffset;
      const origin: Origin = { wall, count, chain: batch.chain, operationsAt };
      this.#state.fold(patch.operations, patch.createOffsets, origin);
    }
    this.#graph.addBatch(batch);
  }

  /** What all records together say. */
  finish(): Pick<
    LoadedReplica,
    "genesis" | "mode" | "genesisId" | "graph" | "certificates" | "state"
  > {
    if (this.#graph === undefined) {
      throw new DatabaseError(
        "log-damaged",
        "The log does not begin with a genesis. Restore the folder from a backup",
      );
    }
    return {
      genesis: this.#genesis!,
      mode: this.#mode!,
      genesisId: this.#genesisId!,
      graph: this.#graph,
      certificates: this.#certificates,
      state: this.#state,
    };
  }
}

function checkGenesis(genesis: Genesis, options: OpenReplicaOptions): void {
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
