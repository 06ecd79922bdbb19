/** What a checkpoint remembers of a repository besides its tables. */

import { Credentials, decodeCredential } from "../commit/credentials.ts";
import { decodeErasure } from "../commit/redaction.ts";
import { idLength } from "../commit/commit.ts";
import { Graph } from "../graph/graph.ts";
import type { LoggedMark } from "../log/order.ts";
import { VoidCommits } from "../refusal/void_commits.ts";
import {
  bytes,
  copied,
  count,
  decodeRecord,
  encodeRecord,
  flag,
  flagged,
  list,
  ownBytes,
  struct,
  u8,
} from "../../src/base/layout.ts";

const FORMAT = 3;

export interface ReplicaMeta {
  readonly genesis: Uint8Array;
  readonly genesisId: Uint8Array;
  readonly graph: Graph;
  readonly credentials: Credentials;
  /** Which of the log's commits are void, and the refusals that stand. */
  readonly voided: VoidCommits;
  /** The last mark of the order of acceptance, if there is one. */
  readonly order: LoggedMark | undefined;
  /** Do the tables hold what a repair salvaged? */
  readonly isSalvaged: boolean;
}

const layout = struct({
  genesis: ownBytes,
  genesisId: copied(idLength),
  graph: bytes,
  credentials: list(struct({ kind: u8, bytes }), Infinity),
  erasures: list(bytes, Infinity),
  isRedacted: flag,
  voided: bytes,
  order: flagged(struct({ body: ownBytes, position: count })),
  isSalvaged: flag,
});

export function encodeMeta(
  meta: Omit<ReplicaMeta, "isSalvaged"> & { readonly salvage?: unknown },
): Uint8Array {
  return encodeRecord(FORMAT, layout, {
    ...meta,
    graph: meta.graph.encode(),
    credentials: [...meta.credentials],
    erasures: meta.credentials.redactions.erasures.map(({ bytes }) => bytes),
    isRedacted: !meta.credentials.redactions.isPending,
    voided: meta.voided.encode(),
    isSalvaged: meta.salvage !== undefined,
  });
}

export function decodeMeta(bytes: Uint8Array): ReplicaMeta {
  const said = decodeRecord(FORMAT, layout, bytes);
  const credentials = new Credentials();
  for (const { kind, bytes } of said.credentials) {
    credentials.add(decodeCredential(kind, bytes));
  }
  for (const bytes of said.erasures) {
    credentials.redactions.note(decodeErasure(bytes));
  }
  if (said.isRedacted) credentials.redactions.carriedOut();
  return {
    ...said,
    graph: Graph.decode(said.graph, said.genesisId),
    credentials,
    voided: VoidCommits.decode(said.voided),
  };
}
