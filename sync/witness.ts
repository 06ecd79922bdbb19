/**
 * Witnesses: what a server signs of its own past.
 *
 * A client that keeps the newest one notices a server that goes back or tells two
 * stories; and a server that lost its log learns from it what is to come back.
 */

import {
  type Certificate,
  decodeCertificate,
} from "../repo/commit/certificate.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { type Signed, SignedLayout } from "../repo/commit/signed_record.ts";
import { equalBytes } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import { fixed, struct, u48, type ValueOf } from "../src/base/layout.ts";
import type { LogOrder } from "./order_teller.ts";
import type { MessageOf } from "./message.ts";
import { checkCertificates, type ServerProver } from "./proof.ts";
import { readSummary } from "./summary.ts";
import { isSigned } from "../repo/admission/signature_check.ts";

/** What witnesses and receipts state. */
export const statedLayout = struct({
  genesisId: fixed(32),
  /** Which life of its log. */
  epoch: fixed(16),
  /** How far that log went. */
  position: u48,
  /** How many commits it held. */
  commits: u48,
  /** The digest of those commits. */
  digest: fixed(32),
  /** The order in which they were accepted. */
  order: fixed(32),
  /** The server's wall clock. */
  wall: u48,
});

/** Bytes of a witness. */
export const witnessBytes: number = 1 + 32 + 16 + 6 + 6 + 32 + 32 + 6 + 32 + 64;

/** What a server states. */
export type WitnessFields = ValueOf<typeof statedLayout>;

/** A decoded witness: well formed, its signature not yet checked. */
export type Witness = WitnessFields & Signed;

/** A witness's bytes. */
export const witnessLayout: SignedLayout<WitnessFields> = new SignedLayout(
  "sheaf witness 1",
  statedLayout,
  witnessBytes,
);

/** Reads a witness; `SyntaxError` when the bytes are none. */
export function decodeWitness(bytes: Uint8Array): Witness {
  return witnessLayout.decode(bytes);
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
  const isSame = equalBytes(newer.digest, older.digest) &&
    equalBytes(newer.order, older.order);
  return isSame ? "sound" : "server-forked";
}

/** Makes witnesses for all channels of one repository: see `WitnessMaker`. */
export interface WitnessSource {
  /** The newest one; makes one when something changed and the last is old enough. */
  newest(
    nowMs: number,
  ): { readonly bytes: Uint8Array; readonly position: number } | undefined;
  /** When `newest` may make another, in wall milliseconds. */
  readonly nextMs: number;
}

/** What a {@linkcode WitnessMaker} works with. */
export interface WitnessMakerOptions {
  readonly prover: ServerProver;
  readonly port: RepositoryPort;
  readonly order: LogOrder;
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
    const { port, order: { epoch, last } } = this.#options;
    const position = port.shareable;
    if (this.#newest?.position === position) return this.#newest;
    if (last.position !== position) return this.#newest; // It is being synced.
    // A clock that was set back must not silence the server.
    const isEarly = nowMs < this.#nextMs &&
      nowMs >= this.#nextMs - limits.witnessMs;
    const summary = isEarly ? undefined : port.summary();
    if (summary === undefined) return this.#newest;
    this.#nextMs = nowMs + limits.witnessMs;
    const { genesisId, commits } = port;
    const digest = port.digestOf(summary);
    const { prover } = this.#options;
    const fields = {
      genesisId,
      epoch,
      position,
      commits,
      digest,
      order: last.order,
      wall: nowMs,
    };
    return this.#newest = {
      bytes: witnessLayout.sign(fields, prover).bytes,
      position,
    };
  }
}

/** What a proof is checked against. */
export interface ProofContext {
  readonly port: Pick<
    RepositoryPort,
    "rootKey" | "genesisId" | "digestOf" | "isRevoked"
  >;
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
  layout: typeof witnessLayout = witnessLayout,
): Witness | undefined {
  try {
    const witness = layout.decode(proof.statement);
    const signer = checkCertificates(proof.certificates, port.rootKey);
    readSummary(proof.summary);
    const isSound = !("refused" in signer) && signer.mayIssue &&
      equalBytes(signer.key, witness.issuerKey) &&
      equalBytes(witness.genesisId, port.genesisId) &&
      equalBytes(witness.digest, port.digestOf(proof.summary)) &&
      signer.notBefore <= witness.wall && witness.wall <= signer.notAfter &&
      witness.wall <= nowMs + limits.clockAheadMsMax &&
      !proof.certificates.map(decodeCertificate).some((session) =>
        port.isRevoked(session.sessionKey) || isRevoked?.(session)
      ) &&
      isSigned(layout, witness);
    return isSound ? witness : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
