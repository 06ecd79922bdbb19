/**
 * Proofs of what there was: how a server that lost its log learns what is to
 * come back.
 *
 * @module
 */

import type { RepositoryPort } from "../repo/port.ts";
import { equalBytes } from "../src/base/bytes.ts";
import type { MessageOf } from "./message.ts";
import { checkCertificates } from "./proof.ts";
import { readSummary } from "./summary.ts";
import { decodeWitness, isSigned, type Witness } from "./witness.ts";

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
