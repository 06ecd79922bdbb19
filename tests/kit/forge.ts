/**
 * Batches as a peer makes them that has a key and keeps no rule.
 *
 * @module
 */

import type { Signer } from "../../crypto/mod.ts";
import { writeBatch, writeSealedBatch } from "../../repo/batch.ts";
import { chainStart, type Header, joinChain } from "../../repo/commit.ts";
import { ByteWriter } from "../../src/base/bytes.ts";
import type { WireRecord } from "../../sync/message.ts";
import type { Session } from "../../repo/session.ts";
import { prepare } from "./door.ts";

/** What is forged. */
export interface Forgery {
  /** Signs nothing in modes that do not sign. */
  readonly session: Session;
  readonly genesisId: Uint8Array;
  readonly first?: number;
  readonly commits?: number;
  /** Wall clock of the first commit. */
  readonly wall: number;
  readonly incarnation?: number;
  readonly isSigned?: boolean;
  readonly parents?: Header["parents"];
  /** The id of what it deletes; "": its commits are empty. */
  readonly text?: string;
}

/** The chain that a forgery is of. */
export function forgedChain({ session, incarnation = 1 }: Forgery): string {
  const bytes = new Uint8Array(8).fill(incarnation);
  new DataView(bytes.buffer).setUint32(0, incarnation);
  return joinChain(session.signer.publicKey, bytes);
}

/** A sealed batch; its ids follow the chain's start, whatever its number. */
export function forge(forgery: Forgery): WireRecord {
  const { genesisId, session, wall, first = 0, commits = 1 } = forgery;
  const { parents = [], text = "x", isSigned = true } = forgery;
  const chain = forgedChain(forgery);
  const run = {
    chain,
    first,
    commits: Array.from(
      { length: commits },
      (_, i) =>
        prepare(
          { wall: wall + i, count: 0, parents: i === 0 ? parents : [] },
          text,
        ),
    ),
  };
  const writer = new ByteWriter();
  if (!isSigned) {
    writeBatch(writer, run);
    return { kind: "unsigned", bytes: writer.copy() };
  }
  const previous = chainStart(genesisId, chain);
  // Proof: a test's session signs at once.
  const signer = session.signer as Signer;
  writeSealedBatch(writer, run, previous, genesisId, signer);
  return { kind: "signed", bytes: writer.copy() };
}
