/**
 * Proofs of what there was: how a server that lost its log learns how far it
 * has come back.
 *
 * @module
 */

import type { RepositoryPort } from "../repo/port.ts";
import { equalBytes } from "../src/base/bytes.ts";
import type { CommitRange } from "./audit.ts";
import type { MessageOf } from "./message.ts";
import { checkCertificates } from "./proof.ts";
import { missingOf, readSummary } from "./summary.ts";
import { decodeWitness, isSigned, type Witness } from "./witness.ts";

/** How far a server that lost its log has come back. */
export interface RestoreReport {
  /** What says which commits there were. */
  readonly witness: Witness;
  readonly missing: readonly CommitRange[];
  /** Is everything here again that the witness saw? */
  readonly isComplete: boolean;
}

/** Compares a repository with what a sound witness saw; `summary` is what its digest is of. */
export function restoreReport(
  witness: Witness,
  summary: Uint8Array,
  port: RepositoryPort,
): RestoreReport {
  const missing = missingOf(summary, port);
  return { witness, missing, isComplete: missing.length === 0 };
}

/** The witness of a proof, if a key that may issue signed it and it is of this summary. */
export function checkProof(
  proof: Omit<MessageOf<"proof">, "is" | "channel">,
  port: RepositoryPort,
): Witness | undefined {
  try {
    const witness = decodeWitness(proof.witness);
    const signer = checkCertificates(proof.certificates, port.rootKey);
    readSummary(proof.summary);
    const isSound = !("refused" in signer) && signer.mayIssue &&
      equalBytes(signer.key, witness.signer) &&
      equalBytes(witness.genesisId, port.genesisId) &&
      equalBytes(witness.digest, port.digestOf(proof.summary)) &&
      isSigned(witness);
    return isSound ? witness : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
