/**
 * Witnesses: what a server signs of its own past.
 *
 * `witness = 1 | genesis id {32} | epoch {16} | position u48 | commits u48 | digest {32} | wall u48 |
 * signer {32} | signature {64}`, signed over a domain of its own. A client that keeps
 * the newest one notices a server that goes back or tells two stories; and a server that
 * lost its log learns from it what is to come back.
 *
 * @module
 */

import {
  type Certificate,
  decodeCertificate,
} from "../repo/commit/certificate.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { verify } from "../crypto/mod.ts";
import {
  ByteReader,
  ByteWriter,
  concatBytes,
  encodeText,
  equalBytes,
} from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { ServerProver, WitnessSource } from "./conversation.ts";
import { fixed, type Said, struct, u48 } from "./frame_fields.ts";
import type { MessageOf } from "./message.ts";
import { checkCertificates } from "./proof.ts";
import { readSummary } from "./summary.ts";

const FORMAT = 1;
const DOMAIN = encodeText("sheaf witness 1\n");
const SIGNATURE_BYTES = 64;

const fields = {
  genesisId: fixed(32),
  /** Which life of its log. */
  epoch: fixed(16),
  /** How far that log went. */
  position: u48,
  /** How many commits it held. */
  commits: u48,
  /** The digest of those commits. */
  digest: fixed(32),
  /** The server's wall clock. */
  wall: u48,
};
const signed = struct({ ...fields, signer: fixed(32) });

/** Bytes of a witness. */
export const witnessBytes: number = 1 + 32 + 16 + 6 + 6 + 32 + 6 + 32 + 64;

/** What a server states. */
export type WitnessFields = Said<typeof fields>;

/** A decoded witness: well formed, its signature not yet checked. */
export interface Witness extends WitnessFields {
  /** All of it. */
  readonly bytes: Uint8Array;
  /** The key that signed it, 32 bytes. */
  readonly signer: Uint8Array;
}

/** Makes and signs a witness. */
export function signWitness(
  fields: WitnessFields,
  prover: ServerProver,
): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter(witnessBytes);
  writer.u8(FORMAT);
  signed.write(writer, { ...fields, signer: prover.publicKey });
  writer.bytes(prover.sign(concatBytes(DOMAIN, writer.view())));
  return writer.copy();
}

/** Reads a witness; `SyntaxError` when the bytes are none. */
export function decodeWitness(bytes: Uint8Array): Witness {
  if (bytes.length !== witnessBytes || bytes[0] !== FORMAT) {
    throw new SyntaxError("Cannot decode witness: its form is unknown");
  }
  return { ...signed.read(new ByteReader(bytes, 1)), bytes };
}

/** Did its signer sign it? Whether the signer may is the caller's question. */
export function isSigned({ bytes, signer }: Witness): boolean {
  const end = bytes.length - SIGNATURE_BYTES;
  const message = concatBytes(DOMAIN, bytes.subarray(0, end));
  return verify(bytes.subarray(end), message, signer);
}

/** How a server's new witness stands to an older one of it. */
export type WitnessOrder = "sound" | "server-rolled-back" | "server-forked";

/** Compares a server's newer witness with an older one; in different epochs nothing can be said. */
export function compareWitnesses(
  older: Witness,
  newer: Witness,
): WitnessOrder {
  if (!equalBytes(older.epoch, newer.epoch)) return "sound";
  if (newer.position < older.position) return "server-rolled-back";
  if (newer.position > older.position) return "sound";
  return equalBytes(newer.digest, older.digest) ? "sound" : "server-forked";
}

/** What a {@linkcode WitnessMaker} works with. */
export interface WitnessMakerOptions {
  readonly prover: ServerProver;
  readonly port: RepositoryPort;
  readonly epoch: Uint8Array;
}

/** Makes the witnesses of one repository of a server, for all its channels. */
export class WitnessMaker implements WitnessSource {
  readonly #options: WitnessMakerOptions;
  #newest: { bytes: Uint8Array; position: number } | undefined;
  #nextMs = 0;

  constructor(options: WitnessMakerOptions) {
    this.#options = options;
  }

  /** When {@linkcode newest} may make another, in wall milliseconds. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** The newest one; makes one when something changed and the last is old enough. */
  newest(
    nowMs: number,
  ): { readonly bytes: Uint8Array; readonly position: number } | undefined {
    const { port } = this.#options;
    const position = port.shareable;
    if (this.#newest?.position === position) return this.#newest;
    // A clock that was set back must not silence the server.
    const isEarly = nowMs < this.#nextMs &&
      nowMs >= this.#nextMs - limits.witnessMs;
    const summary = isEarly ? undefined : port.summary();
    if (summary === undefined) return this.#newest;
    this.#nextMs = nowMs + limits.witnessMs;
    const { genesisId, commits } = port;
    const digest = port.digestOf(summary);
    const { epoch, prover } = this.#options;
    const fields = {
      genesisId,
      epoch,
      position,
      commits,
      digest,
      wall: nowMs,
    };
    return this.#newest = { bytes: signWitness(fields, prover), position };
  }
}

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
