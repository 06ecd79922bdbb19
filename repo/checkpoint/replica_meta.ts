/**
 * What a checkpoint remembers of a repository besides its tables:
 * `2 | genesis varint {n} | genesis id {32} | graph varint {n} | credentials varint | (kind u8 | varint {n})*
 * | withdrawals varint {n} | salvaged u8` (1 where the tables hold what a repair salvaged).
 *
 * @module
 */

import { ByteReader, ByteWriter } from "../../src/base/bytes.ts";
import { Credentials, decodeCredential } from "../commit/credentials.ts";
import { idLength } from "../commit/commit.ts";
import { Graph } from "../graph/graph.ts";
import { Withdrawals } from "../refusal/withdrawals.ts";
import { readBytes, writeBytes } from "../commit/canonical.ts";

const FORMAT = 2;

/** A repository's knowledge apart from its items. */
export interface ReplicaMeta {
  /** The genesis record's bytes. */
  readonly genesis: Uint8Array;
  /** Its hash. */
  readonly genesisId: Uint8Array;
  /** Which commits are known. */
  readonly graph: Graph;
  /** Who may sign, and who no more. */
  readonly credentials: Credentials;
  /** Which of the log's commits are void, and the refusals that stand. */
  readonly withdrawals: Withdrawals;
  /** Do the tables hold what a repair salvaged? */
  readonly isSalvaged: boolean;
}

/** The bytes of the meta. */
export function encodeMeta(
  meta: Omit<ReplicaMeta, "isSalvaged"> & { readonly salvage?: unknown },
): Uint8Array {
  const { genesis, graph } = meta;
  const writer = new ByteWriter(1024);
  writer.u8(FORMAT);
  writeBytes(writer, genesis);
  writer.bytes(meta.genesisId);
  writeBytes(writer, graph.encode());
  const credentials = [...meta.credentials];
  writer.varint(credentials.length);
  for (const { kind, bytes } of credentials) {
    writer.u8(kind);
    writeBytes(writer, bytes);
  }
  writeBytes(writer, meta.withdrawals.encode());
  writer.u8(meta.salvage === undefined ? 0 : 1);
  return writer.copy();
}

/** Reads the meta; `SyntaxError` when the bytes are none. */
export function decodeMeta(bytes: Uint8Array): ReplicaMeta {
  const reader = new ByteReader(bytes);
  if (reader.u8() !== FORMAT) {
    throw new SyntaxError("Cannot decode meta: its format is unknown");
  }
  const genesis = readBytes(reader).slice();
  const genesisId = reader.take(idLength).slice();
  const graph = Graph.decode(readBytes(reader), genesisId);
  const credentials = new Credentials();
  const count = reader.varint();
  for (let i = 0; i < count; i++) {
    credentials.add(decodeCredential(reader.u8(), readBytes(reader)));
  }
  const withdrawals = Withdrawals.decode(new ByteReader(readBytes(reader)));
  const isSalvaged = reader.u8() === 1;
  return { genesis, genesisId, graph, credentials, withdrawals, isSalvaged };
}
