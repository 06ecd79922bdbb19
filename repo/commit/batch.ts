/**
 * Batches: a contiguous run of one chain's commits, sealed by one signature.
 *
 * `batch = 1 | chain {40} | first varint | count varint | commit* | seal {64}`
 * where `commit = header | payload length varint | payload`, and only signed
 * batches have a seal. A log record's body is exactly these bytes, and they
 * travel unchanged. Never decides what is admitted.
 *
 * Architecture invariant: a commit is its bytes (law 1); nothing is encoded
 * again to be checked. Every bound comes from limits.ts (law 10).
 */

import type { SessionSigner } from "../../crypto/keys.ts";
import {
  ByteReader,
  ByteWriter,
  encodeText,
  varintLength,
} from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import type { Origin } from "../../src/schema/cell.ts";
import {
  type DecodedPatch,
  decodePatch,
} from "../../src/schema/patch_codec.ts";
import { encodeStub, isErased, isStub } from "../../src/schema/stub.ts";
import { recordKind, SEAL_BYTES } from "../log/format.ts";
import {
  chainBytes,
  chainBytesLength,
  ChainHash,
  chainName,
  type Header,
  idLength,
  readParents,
} from "./commit.ts";

const FORMAT = 1;
const nothing = /* @__PURE__ */ encodeStub(/* @__PURE__ */ new Uint8Array(32));
const SEAL_DOMAIN = encodeText("sheaf seal 1\n");

/** One scratch space for all: no function here calls out while it hashes. */
const chainHash = /* @__PURE__ */ new ChainHash();

export const sealLength: number = SEAL_BYTES;

export interface PreparedCommit {
  /** As `encodeHeader` made it. */
  readonly header: Uint8Array;
  readonly payload: Uint8Array;
  /** Where the payload starts in the batch's bytes; set when it is written. */
  payloadAt: number;
}

export interface Run {
  /** The chain's name. */
  readonly chain: string;
  readonly first: number;
  /** At least one. */
  readonly commits: readonly PreparedCommit[];
}

/** What stands before a batch's commits. */
export interface BatchHead {
  readonly chain: string;
  readonly first: number;
  readonly count: number;
  /** Where the first commit starts. */
  readonly start: number;
}

/** One commit inside a batch's bytes; offsets count from the batch's first byte. */
export interface BatchCommit extends Header {
  /** Where the header starts. */
  readonly at: number;
  /** Where the header ends and the payload's length stands. */
  readonly headerEnd: number;
  /** Where the payload starts. */
  readonly payloadAt: number;
  /** Where the payload ends. */
  readonly end: number;
  /** Does it say nothing? Its payload is a stub, or it was refused here. */
  readonly isVoid: boolean;
}

/** A decoded batch: well formed, not yet judged. */
export interface Batch {
  /** All of it, as it is stored and travels. */
  readonly bytes: Uint8Array;
  readonly chain: string;
  readonly first: number;
  /** At least one. */
  readonly commits: readonly BatchCommit[];
  /** The signature; `undefined` when the batch is of an unsigned kind. */
  readonly seal: Uint8Array | undefined;
}

/** Bytes before the commits of a batch: at most this. */
export const HEAD_BYTES_MAX: number = 1 + chainBytesLength + 2 * 8;

/** How many bytes {@linkcode writeBatch} and a seal will take at most. */
export function batchLength(run: Run): number {
  let length = HEAD_BYTES_MAX + sealLength;
  const { commits } = run;
  for (let i = 0; i < commits.length; i++) {
    const { header, payload } = commits[i]!;
    length += header.length + varintLength(payload.length) + payload.length;
  }
  return length;
}

export function writeHead(
  writer: ByteWriter,
  chain: string,
  first: number,
  count: number,
): void {
  writer.u8(FORMAT);
  writer.bytes(chainBytes(chain));
  writer.varint(first);
  writer.varint(count);
}

export function writeBatch(writer: ByteWriter, run: Run): void {
  const { commits } = run;
  writer.reserve(batchLength(run)); // Once: a large payload is copied once.
  const start = writer.length;
  writeHead(writer, run.chain, run.first, commits.length);
  for (let i = 0; i < commits.length; i++) {
    const commit = commits[i]!;
    writer.bytes(commit.header);
    writer.varint(commit.payload.length);
    commit.payloadAt = writer.length - start;
    writer.bytes(commit.payload);
  }
}

/** An unsigned batch in pieces: its payloads are not copied. */
export function batchParts(run: Run): Uint8Array[] {
  const { commits } = run;
  const writer = new ByteWriter(commits.length * 32 + 64);
  const cuts: number[] = [];
  let payloads = 0;
  writeHead(writer, run.chain, run.first, commits.length);
  for (const commit of commits) {
    writer.bytes(commit.header);
    writer.varint(commit.payload.length);
    commit.payloadAt = writer.length + payloads;
    payloads += commit.payload.length;
    cuts.push(writer.length);
  }
  return commits.flatMap((
    { payload },
    i,
  ) => [writer.view(cuts[i - 1] ?? 0, cuts[i]), payload]);
}

/** A seal, or its promise where the signer signs later, and the id that it signs. */
export interface Sealed<S extends SessionSigner> {
  readonly seal: ReturnType<S["sign"]>;
  readonly lastId: Uint8Array<ArrayBuffer>;
}

/** The seal of a run that follows `previousId`, and the last id, which it signs. */
export function sealRun<S extends SessionSigner>(
  run: Run,
  previousId: Uint8Array,
  genesisId: Uint8Array,
  signer: S,
): Sealed<S> {
  chainHash.start(previousId);
  for (const { header, payload } of run.commits) {
    chainHash.next(header, payload);
  }
  const lastId = chainHash.id.slice();
  const seal = signer.sign(sealMessage(genesisId, run.chain, lastId));
  // Proof: it is what this signer's `sign` gave.
  return { seal: seal as ReturnType<S["sign"]>, lastId };
}

export function sealMessage(
  genesisId: Uint8Array,
  chain: string,
  lastId: Uint8Array,
): Uint8Array {
  const start = SEAL_DOMAIN.length;
  const message = new Uint8Array(
    start + idLength + chainBytesLength + idLength,
  );
  message.set(SEAL_DOMAIN, 0);
  message.set(genesisId, start);
  message.set(chainBytes(chain), start + idLength);
  message.set(lastId, start + idLength + chainBytesLength);
  return message;
}

/** Reads a batch of a signed or an unsigned kind; `SyntaxError` when it is none. */
export function decodeBatch(bytes: Uint8Array, signed: boolean): Batch {
  const end = signed ? bytes.length - sealLength : bytes.length;
  if (bytes.length > limits.batchBytesMax || end < 0) {
    throw new SyntaxError("Cannot decode batch: its size is not allowed");
  }
  const reader = new ByteReader(bytes, 0, end);
  if (reader.u8() !== FORMAT) {
    throw new SyntaxError("Cannot decode batch: its format is unknown");
  }
  reader.skip(chainBytesLength);
  const chain = chainName(bytes, 1);
  const first = reader.varint();
  const count = reader.varint();
  if (
    count < 1 || count > limits.batchCommitsMax ||
    first > Number.MAX_SAFE_INTEGER - count
  ) {
    throw new SyntaxError("Cannot decode batch: its count is not allowed");
  }
  const commits: BatchCommit[] = [];
  for (let i = 0; i < count; i++) commits.push(readCommit(reader, chain));
  if (!reader.done) {
    throw new SyntaxError("Cannot decode batch: there are bytes after its end");
  }
  const seal = signed ? bytes.subarray(end) : undefined;
  return { bytes, chain, first, commits, seal };
}

/** The batch that a record of the log holds; `undefined` when it is of another kind. */
export function batchIn(kind: number, body: Uint8Array): Batch | undefined {
  const isSigned = kind === recordKind.signedBatch;
  const isBatch = isSigned || kind === recordKind.unsignedBatch;
  return isBatch ? decodeBatch(body, isSigned) : undefined;
}

function readCommit(reader: ByteReader, chain: string): BatchCommit {
  const at = reader.at;
  const wall = reader.u48();
  const count = reader.u16();
  const parents = readParents(reader, chain);
  const headerEnd = reader.at;
  const length = reader.varint();
  if (length > limits.payloadBytesMax) {
    throw new SyntaxError("Cannot decode commit: its payload is too large");
  }
  const payloadAt = reader.at;
  reader.skip(length);
  const end = reader.at;
  const isVoid = isStub(reader.bytes, payloadAt, end);
  return { wall, count, parents, at, headerEnd, payloadAt, end, isVoid };
}

/** A commit's payload: a view; one that says nothing, where it is void. */
export function payloadOf(batch: Batch, commit: BatchCommit): Uint8Array {
  return commit.isVoid
    ? nothing
    : batch.bytes.subarray(commit.payloadAt, commit.end);
}

/** What a commit says, decoded; `SyntaxError` when it is no patch. */
export function patchOf(batch: Batch, commit: BatchCommit): DecodedPatch {
  return decodePatch(payloadOf(batch, commit));
}

/** The batch with the commits as void for which it holds; the same one where it holds for none. */
export function withVoid(
  batch: Batch,
  isVoid: (number: number) => boolean,
): Batch {
  let commits: BatchCommit[] | undefined;
  for (let i = 0; i < batch.commits.length; i++) {
    const commit = batch.commits[i]!;
    if (commit.isVoid || !isVoid(batch.first + i)) continue;
    commits ??= batch.commits.slice();
    commits[i] = { ...commit, isVoid: true };
  }
  return commits === undefined ? batch : { ...batch, commits };
}

/** Knows what payloads were of which values are erased. */
export interface ErasedPayloads {
  /** SHA-256 of what the payload of a commit was. */
  hashOf(chain: string, number: number): Uint8Array | undefined;
}

/** What a payload was, if values of it are erased and somebody knows. */
export function erasedHash(
  { bytes, chain, first, commits }: Batch,
  index: number,
  erased: ErasedPayloads,
): Uint8Array | undefined {
  const { payloadAt, end } = commits[index]!;
  return isErased(bytes, payloadAt, end)
    ? erased.hashOf(chain, first + index)
    : undefined;
}

/**
 * Hashes the commits from index `from` on, before index `to`; the result is the
 * last id. `previousId` is the id before commit `from`.
 */
export function hashBatch(
  batch: Batch,
  previousId: Uint8Array,
  erased: ErasedPayloads,
  from = 0,
  to: number = batch.commits.length,
): Uint8Array<ArrayBuffer> {
  const { bytes, commits } = batch;
  chainHash.start(previousId);
  for (let i = from; i < to; i++) {
    const { at, headerEnd, payloadAt, end } = commits[i]!;
    chainHash.next(
      bytes.subarray(at, headerEnd),
      bytes.subarray(payloadAt, end),
      erasedHash(batch, i, erased),
    );
  }
  return chainHash.id.slice();
}

/** Reads what stands before the commits of a batch that was admitted. */
export function batchHead(bytes: Uint8Array): BatchHead {
  const reader = new ByteReader(bytes);
  reader.skip(1 + chainBytesLength);
  const first = reader.varint();
  const count = reader.varint();
  return { chain: chainName(bytes, 1), first, count, start: reader.at };
}

/** A batch that stands in the log. */
export interface LoggedBatch {
  readonly batch: Batch;
  /** Log address of the batch's first byte. */
  readonly address: number;
  /** Its commits from here on are new in the log; earlier ones stand in earlier records. */
  readonly from: number;
}

export interface DecodedCommit {
  readonly number: number;
  readonly patch: DecodedPatch;
  /** What its operations are folded with. */
  readonly origin: Origin;
}

/**
 * The commit at an index of the batch whose body stands at a log address.
 *
 * @param patch what it says, where somebody has decoded it
 */
export function decodeCommit(
  batch: Batch,
  index: number,
  address: number,
  patch: DecodedPatch = patchOf(batch, batch.commits[index]!),
): DecodedCommit {
  const { chain, first, commits } = batch;
  const { wall, count, payloadAt } = commits[index]!;
  const operationsAt = address + payloadAt + patch.operationsOffset;
  const origin = { wall, count, chain, operationsAt };
  return { number: first + index, patch, origin };
}
