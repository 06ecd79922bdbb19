/**
 * Authors and replicas for tests of the door: real keys, real bytes, a log that
 * is an array. Everything follows from the seeds given.
 *
 * @module
 */

import { createSigner, type Signer } from "../../crypto/mod.ts";
import { ByteWriter, equalBytes } from "../../src/base/bytes.ts";
import { type Hlc, nextHlc } from "../../src/base/hlc.ts";
import { PatchWriter } from "../../src/schema/patch_codec.ts";
import { admit, type Judged } from "../../repo/admission/admit.ts";
import { Parking } from "../../repo/admission/parking.ts";
import type { Arrival, Knowledge } from "../../repo/admission/arrival.ts";
import {
  type Batch,
  decodeBatch,
  hashBatch,
  payloadOf,
  type PreparedCommit,
  type Run,
  writeBatch,
} from "../../repo/commit/batch.ts";
import { bytesOf } from "../../repo/commit/batch_parts.ts";
import { writeSealedBatch } from "./chain.ts";
import {
  type Certificate,
  type CertificateFields,
  type Certificates,
  issueCertificate,
} from "../../repo/commit/certificate.ts";
import {
  chainStart,
  encodeHeader,
  type Header,
  joinChain,
} from "../../repo/commit/commit.ts";
import { CommitIndex } from "../../repo/history/commit_reader.ts";
import {
  encodeGenesis,
  genesisId,
  type Mode,
  parseRepositoryName,
} from "../../repo/commit/genesis.ts";
import { Graph } from "../../repo/graph/graph.ts";
import { Credentials } from "../../repo/commit/credentials.ts";
import type { Revocations } from "../../repo/commit/revocation.ts";
import { recordKind } from "../../repo/log/format.ts";

/** A moment for tests to count from. */
export const dayOne = 1_700_000_000_000;

/** A signer whose secret key is one byte, repeated. */
export function signerOf(seed: number): Signer {
  return createSigner(new Uint8Array(32).fill(seed));
}

/** The root of every repository in tests. */
export const root: Signer = signerOf(250);

/** A certificate by the root that covers a year from {@linkcode dayOne}. */
export function certify(
  signer: Signer,
  changes: Partial<CertificateFields> = {},
  issuer: Signer = root,
): Certificate {
  return issueCertificate({
    sessionKey: signer.publicKey,
    mayIssue: false,
    notBefore: dayOne - 1_000,
    notAfter: dayOne + 31_536_000_000,
    user: "ada",
    claims: "{}",
    ...changes,
  }, issuer);
}

/** A replica: what it knows, what it parked, and its log. */
export class Replica implements Knowledge {
  readonly mode: Mode;
  readonly rootKey: Uint8Array = root.publicKey;
  readonly genesisId: Uint8Array;
  readonly graph: Graph;
  readonly credentials: Credentials = new Credentials();
  readonly certificates: Certificates = this.credentials.certificates;
  readonly revocations: Revocations = this.credentials.revocations;
  readonly index: CommitIndex = new CommitIndex();
  /** Batches in the order they were taken; a log address is a place in it. */
  readonly log: Batch[] = [];
  readonly parking: Parking;

  constructor(
    mode: Mode = "default",
    name = "team/acme",
    parking: Parking = new Parking(),
  ) {
    const rootKey = this.rootKey;
    const genesis = { name: parseRepositoryName(name), rootKey, mode };
    this.mode = mode;
    this.genesisId = genesisId(encodeGenesis(genesis));
    this.graph = new Graph(this.genesisId);
    this.parking = parking;
  }

  clockAt(chain: string, number: number): Hlc | undefined {
    return this.index.find(chain, number);
  }

  commitAt(chain: string, number: number): Uint8Array | undefined {
    const entry = this.index.find(chain, number);
    if (entry === undefined) return undefined;
    const batch = this.log[entry.address]!;
    return bytesOf(batch, batch.commits[number - batch.first]!);
  }

  countEqual(batch: Batch, end: number): number {
    const { chain, first, commits } = batch;
    for (let i = 0; i < end; i++) {
      const known = this.commitAt(chain, first + i);
      const isEqual = known && equalBytes(known, bytesOf(batch, commits[i]!));
      if (!isEqual) return i;
    }
    return end;
  }

  payloadOf(chain: string, number: number): Uint8Array | undefined {
    const entry = this.index.find(chain, number);
    if (entry === undefined) return undefined;
    const batch = this.log[entry.address]!;
    return payloadOf(batch, batch.commits[number - batch.first]!);
  }

  isSilent(chain: string, number: number): boolean {
    const { address } = this.index.find(chain, number)!;
    const { first, commits } = this.log[address]!;
    return commits[number - first]!.isVoid;
  }

  idBefore(chain: string, number: number): Uint8Array | undefined {
    let id: Uint8Array = chainStart(this.genesisId, chain);
    for (const batch of this.log) {
      const { first, commits } = batch;
      if (batch.chain !== chain || first >= number) continue;
      if (first + commits.length > number) return undefined;
      id = hashBatch(batch, id, this.credentials.redactions);
    }
    return id;
  }

  /** Takes a certificate without the door. */
  trust(...certificates: Certificate[]): this {
    for (const certificate of certificates) this.certificates.add(certificate);
    return this;
  }

  /** Sends an arrival through the door. */
  receive(arrival: Arrival): Judged[] {
    return admit(arrival, this, this.parking, (admitted) => {
      if (admitted.verdict === "admit") {
        this.take(admitted.batch, admitted.lastId);
      } else this.credentials.add(admitted.credential);
    });
  }

  /** Makes a batch part of the knowledge. */
  take(batch: Batch, lastId: Uint8Array | undefined): void {
    this.graph.addBatch(batch, lastId);
    this.index.add(batch, this.log.length);
    this.log.push(batch);
  }

  /** What became of an arrival: a verdict or the reason of a refusal. */
  outcome(arrival: Arrival): string {
    const { verdict } = this.receive(arrival)[0]!;
    return verdict.verdict === "refuse"
      ? verdict.refusal.refused
      : verdict.verdict;
  }
}

/** One chain's writer over a replica of its own. */
export class Writer {
  readonly signer: Signer;
  readonly chain: string;
  readonly replica: Replica;
  /** The id that the last seal covers. */
  #lastId: Uint8Array | undefined;

  constructor(seed: number, replica: Replica, incarnation = 0) {
    this.signer = signerOf(seed);
    this.replica = replica;
    this.chain = joinChain(
      this.signer.publicKey,
      new Uint8Array(8).fill(incarnation),
    );
  }

  /** Its certificate as an arrival. */
  introduce(): Arrival {
    const { bytes } = certify(this.signer);
    return { kind: recordKind.certificate, bytes };
  }

  /** The header of the next commit at a wall time. */
  header(nowMs = dayOne): Header {
    const { graph } = this.replica;
    const parents = graph.parentsForNext(this.chain);
    return { ...nextHlc(graph.clock, nowMs), parents };
  }

  /** Writes commits as one batch, and takes them. */
  write(payloads: readonly string[], nowMs = dayOne): Arrival {
    const { graph } = this.replica;
    const first = graph.lengthOf(this.chain);
    const commits: PreparedCommit[] = [];
    for (const payload of payloads) {
      const header = this.header(nowMs);
      graph.add(this.chain, header);
      commits.push(prepare(header, payload));
    }
    const run = { chain: this.chain, first, commits };
    const arrival = this.pack(run);
    const batch = decodeBatch(
      arrival.bytes,
      arrival.kind === recordKind.signedBatch,
    );
    if (this.#lastId !== undefined) {
      graph.setHashed(this.chain, first + commits.length, this.#lastId);
    }
    this.replica.index.add(batch, this.replica.log.length);
    this.replica.log.push(batch);
    return arrival;
  }

  /** The bytes of a run after `previousId` (default: the graph's). */
  pack(run: Run, previousId?: Uint8Array): Arrival {
    const writer = new ByteWriter();
    const { graph, genesisId, mode } = this.replica;
    if (mode !== "default") {
      writeBatch(writer, run);
      return { kind: recordKind.unsignedBatch, bytes: writer.copy() };
    }
    const before = previousId ?? graph.idBefore(run.chain, run.first)!;
    this.#lastId = writeSealedBatch(
      writer,
      run,
      before,
      genesisId,
      this.signer,
    );
    return { kind: recordKind.signedBatch, bytes: writer.copy() };
  }
}

const patch = new PatchWriter();
const shape = { collection: "note", version: 1, fields: [] };

/** A commit ready for a batch: it deletes the note of this id; "" does nothing. */
export function prepare(header: Header, id: string): PreparedCommit {
  patch.begin();
  if (id !== "") patch.add({ what: "delete", shape, id, generation: 0 });
  const { payload } = patch.finish();
  return { header: encodeHeader(header), payload, payloadAt: -1 };
}
