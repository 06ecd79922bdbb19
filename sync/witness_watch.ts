/**
 * What a client makes of a server's witnesses.
 *
 * Architecture invariant: two digests are compared only when both sides are
 * quiet about the same commits; a difference then is an incident, never noise.
 *
 * @module
 */

import type { RepositoryPort } from "../repo/port.ts";
import type { VersionVector } from "../repo/version_vector.ts";
import { equalBytes } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { PeerSession } from "./conversation.ts";
import type { MessageOf } from "./message.ts";
import type { ResumeState } from "./resume.ts";
import { chainEndsOf, summaryEntryBytes } from "./summary.ts";
import {
  compareWitnesses,
  decodeWitness,
  isSigned,
  type Witness,
  type WitnessOrder,
} from "./witness.ts";

type Kept = Pick<
  ResumeState,
  "witness" | "proved" | "certificates" | "summary"
>;

/** Watches one repository of a server. */
export class WitnessWatch {
  readonly #port: RepositoryPort;
  #kept: Kept;
  #newest: Witness | undefined;
  /** To be compared as soon as everything here may be shared. */
  #pending: Witness | undefined;
  /** Has the server got or sent something since that may have been new to either side? */
  #isStale = false;

  constructor(port: RepositoryPort, kept: Kept) {
    this.#port = port;
    this.#kept = kept;
    this.#newest = readKept(kept.witness);
  }

  /** What to keep for the next connection. */
  get kept(): Kept {
    return this.#kept;
  }

  /** The newest sound witness. */
  get newest(): Witness | undefined {
    return this.#newest;
  }

  /** Takes a witness that this server sent about its present epoch. */
  see(
    bytes: Uint8Array,
    epoch: Uint8Array,
    server: PeerSession,
  ): { readonly witness: Witness; readonly order: WitnessOrder } | undefined {
    const witness = readKept(bytes);
    const isSound = witness !== undefined &&
      equalBytes(witness.genesisId, this.#port.genesisId) &&
      equalBytes(witness.epoch, epoch) &&
      equalBytes(witness.signer, server.key) && isSigned(witness);
    if (!isSound) return undefined;
    const order = this.#newest === undefined
      ? "sound"
      : compareWitnesses(this.#newest, witness);
    if (order === "sound") {
      this.#newest = this.#pending = witness;
      this.#isStale = false;
      this.#kept = { ...this.#kept, witness: witness.bytes };
    }
    return { witness, order };
  }

  /** The server has got something, or sent something: from now on its last witness can only show that nothing was new. */
  disturb(): void {
    this.#isStale = true;
  }

  /** What is sent next is of another channel. */
  forget(): void {
    this.#pending = undefined;
  }

  /** Compares, where both sides are quiet: `undefined` when there is nothing to compare, or not yet. */
  compare(server: PeerSession): "equal" | "different" | undefined {
    const witness = this.#pending;
    if (witness === undefined) return undefined;
    if (this.#isStale && witness.commits !== this.#port.commits) {
      return undefined;
    }
    const summary = this.#port.summary();
    if (summary === undefined) return undefined;
    this.#pending = undefined;
    if (!equalBytes(this.#port.digestOf(summary), witness.digest)) {
      return this.#isStale ? undefined : "different";
    }
    const { bytes } = witness;
    const { certificates } = server;
    // No frame takes a longer one: an older proof is better than none.
    if (summary.length <= limits.summaryChainsMax * summaryEntryBytes) {
      this.#kept = { witness: bytes, proved: bytes, certificates, summary };
    }
    return "equal";
  }

  /**
   * What proves which commits there were to a server of another epoch, or to one
   * that went back in its own.
   *
   * @param has what it has; `undefined` where that is not told
   */
  proofFor(
    epoch: Uint8Array,
    has?: VersionVector,
  ): Omit<MessageOf<"proof">, "is" | "channel"> | undefined {
    const { proved, certificates, summary } = this.#kept;
    const witness = readKept(proved);
    if (witness === undefined) return undefined;
    const isOfNow = equalBytes(witness.epoch, epoch);
    if (isOfNow && (has === undefined || isIn(summary, has))) return undefined;
    // What was kept may have rotted: then it proves nothing, and nothing is missing by it.
    const isSound = equalBytes(this.#port.digestOf(summary), witness.digest);
    if (!isSound) return undefined;
    return { witness: proved, certificates, summary };
  }
}

/** Has somebody all that a summary names? One that rotted names nothing. */
function isIn(summary: Uint8Array, has: VersionVector): boolean {
  return [...chainEndsOf(summary)].every(([chain, { count }]) =>
    (has.get(chain) ?? 0) >= count
  );
}

function readKept(bytes: Uint8Array): Witness | undefined {
  try {
    return decodeWitness(bytes);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
