/**
 * Proofs of what there was: how a server that lost its log learns what is to
 * come back.
 *
 * @module
 */

import type { RepositoryPort } from "../repo/port.ts";
import { type Certificate, decodeCertificate } from "../repo/certificate.ts";
import { equalBytes } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { MessageOf } from "./message.ts";
import { checkCertificates } from "./proof.ts";
import { readSummary } from "./summary.ts";
import { decodeWitness, isSigned, type Witness } from "./witness.ts";

/** What a proof is checked against. */
export interface ProofContext {
  readonly port: RepositoryPort;
  /** The server's wall clock, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Is a session revoked by what is known besides the repository's records? */
  readonly isRevoked?: ((session: Certificate) => boolean) | undefined;
}

/**
 * The witness of a proof, if it is of this summary and was signed by a key that
 * may issue and might then. Who holds a stolen key dates a witness as he likes:
 * of a session that is revoked, or that goes back to such a one, none counts.
 */
export function checkProof(
  proof: Omit<MessageOf<"proof">, "is" | "channel">,
  { port, nowMs, isRevoked }: ProofContext,
): Witness | undefined {
  try {
    const witness = decodeWitness(proof.witness);
    const signer = checkCertificates(proof.certificates, port.rootKey);
    readSummary(proof.summary);
    const isSound = !("refused" in signer) && signer.mayIssue &&
      equalBytes(signer.key, witness.signer) &&
      equalBytes(witness.genesisId, port.genesisId) &&
      equalBytes(witness.digest, port.digestOf(proof.summary)) &&
      signer.notBefore <= witness.wall && witness.wall <= signer.notAfter &&
      witness.wall <= nowMs + limits.clockAheadMsMax &&
      !proof.certificates.map(decodeCertificate).some((session) =>
        port.isRevoked(session.sessionKey) || isRevoked?.(session)
      ) &&
      isSigned(witness);
    return isSound ? witness : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
