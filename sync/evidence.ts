/**
 * What a server signed, shown to somebody who has not met it: receipts and
 * witnesses, checked against a root key alone.
 */

import { type ChainEnd, digestOfSummary } from "../repo/graph/graph.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { decodeFile } from "../src/base/layout.ts";
import {
  type Evidence,
  evidenceFile,
  receiptLayout,
  rootOver,
} from "./receipt.ts";
import { readSummary } from "./summary.ts";
import { checkProof, type Witness, witnessLayout } from "./witness.ts";

/** Sound evidence. */
export interface Shown {
  /** Of some chains, or of all that there were. */
  readonly type: "receipt" | "witness";
  readonly statement: Witness;
  /** The chains that it names, and how far they had come: none where it was kept for its order alone. */
  readonly ends: ReadonlyMap<string, ChainEnd>;
}

/** Whose word counts. */
export interface EvidenceContext extends Pick<RepositoryPort, "rootKey"> {
  /** Wall milliseconds. */
  readonly nowMs: number;
  /** Is a session known to be revoked? What it signed counts for nothing then. */
  readonly isRevoked?: RepositoryPort["isRevoked"];
}

/** Checks evidence of any repository under a root key; `undefined` where it shows nothing. */
export function checkEvidence(
  file: Uint8Array,
  { rootKey, nowMs, isRevoked = () => false }: EvidenceContext,
): Shown | undefined {
  let evidence: Evidence;
  let genesisId: Uint8Array;
  let digest: Uint8Array;
  try {
    evidence = decodeFile(evidenceFile, file);
    ({ genesisId, digest } = witnessLayout.decode(evidence.statement));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const port = {
    ...{ rootKey, genesisId, isRevoked },
    // Without a summary it shows the order alone.
    digestOf: (bytes: Uint8Array) =>
      bytes.length > 0
        ? rootOver(digestOfSummary(genesisId, bytes), evidence.path)
        : digest,
  };
  for (const type of ["receipt", "witness"] as const) {
    const layout = type === "receipt" ? receiptLayout : witnessLayout;
    const statement = checkProof(evidence, { port, nowMs }, layout);
    if (statement === undefined) continue;
    return { type, statement, ends: readSummary(evidence.summary) };
  }
  return undefined;
}
