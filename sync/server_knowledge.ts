/**
 * What a client knows of its server's log of one repository: what the server has,
 * what it signed for, and from where either side goes on. One object, over all
 * connections: conversations note in it what they hear, everybody else asks it.
 *
 * Architecture invariant: what it keeps for the next connection is never ahead of
 * what is durable here and there (law 3).
 */

import { sessionKeyOf } from "../repo/commit/commit.ts";
import type { VersionVector } from "../repo/commit/version_vector.ts";
import type { ChainEnd } from "../repo/graph/graph.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { equalBytes, readable } from "../src/base/bytes.ts";
import { type Evidence, Receipts } from "./receipt.ts";
import {
  decodeResume,
  emptyResume,
  encodeResume,
  type Lives,
  type Place,
  type ResumeState,
} from "./resume.ts";
import { readSummary } from "./summary.ts";
import { decodeWitness, type Witness } from "./witness.ts";

/** What is known of one repository's server. */
export class ServerKnowledge {
  readonly #port: RepositoryPort;
  #kept: ResumeState;
  /** How far this connection came. */
  #reached: Place | undefined;
  /** Does the next one go on from there? Not from a channel that ended before both sides were found equal. */
  #isReached = false;
  #isEqual = false;
  /** The lives of its log that were seen. */
  lives: Lives;
  /** The newest sound witness. */
  #newest: Witness | undefined;
  #proved: ReadonlyMap<string, ChainEnd> | undefined;
  /** What it signed of own commits. */
  receipts: Receipts;
  /** The life of its log that goes on. */
  #epoch: Uint8Array | undefined;
  /** The session's public key, while there is a connection. */
  #key: Uint8Array | undefined;
  /** How many commits of chains it has, since the channel was opened; what goes out is chosen by it. */
  readonly has = new Map<string, number>();
  /** What it acknowledged in the life of its log that goes on. */
  readonly #confirmed = new Map<string, number>();
  /** What it acknowledged in any. */
  readonly #acked = new Map<string, number>();
  /** Own log address at which both sides were quiet; -1: they are not. */
  #quietAt = -1;
  /** Grows when it turns out to have less than it said. */
  losses = 0;

  /** @param kept what was kept: of another repository it is nothing */
  constructor(port: RepositoryPort, kept?: ResumeState) {
    const isOfThis = kept && equalBytes(kept.genesisId, port.genesisId);
    this.#port = port;
    this.#kept = isOfThis ? kept : emptyResume(port.genesisId);
    this.lives = this.#kept.lives;
    this.#newest = readable(() => decodeWitness(this.#kept.witness));
    this.receipts = this.#receiptsOf(this.#kept.receipts);
  }

  /** Of the bytes that were kept: a shortcut that is damaged is none. */
  static read(port: RepositoryPort, bytes?: Uint8Array): ServerKnowledge {
    return new ServerKnowledge(
      port,
      bytes && readable(() => decodeResume(bytes)),
    );
  }

  /** What the next connection goes on from. */
  get state(): ResumeState {
    const { receipts: { kept: receipts }, lives } = this;
    const reached = this.#isReached ? this.#reached : undefined;
    return { ...this.#kept, ...reached, receipts, lives };
  }

  /** What this connection goes on from. */
  get place(): Place {
    return this.#reached ?? this.#kept;
  }

  /** Own log address up to which it has everything. */
  get uploadedTo(): number {
    return this.place.uploadedTo;
  }

  /** The bytes to keep. */
  bytes(): Uint8Array {
    return encodeResume(this.state);
  }

  #receiptsOf(kept: readonly Evidence[]): Receipts {
    return new Receipts(this.#port, (chain) => this.owns(chain), kept);
  }

  /** A session connects. */
  connected(publicKey: Uint8Array): void {
    this.disconnected();
    this.#key = publicKey;
    this.receipts = this.#receiptsOf(this.receipts.kept);
  }

  /** The next connection goes on from where this one stands. */
  keep(): void {
    this.#kept = this.state;
  }

  /** The connection is gone. */
  disconnected(): void {
    this.keep();
    this.#isReached = this.#isEqual = false;
    this.#key = this.#reached = undefined;
  }

  /** Is a chain of the session that is connected? Of none it may be. */
  owns(chain: string): boolean {
    return this.#key === undefined ||
      equalBytes(sessionKeyOf(chain), this.#key);
  }

  /** The channel is open: a server that lost its log has to be given it again. */
  opened(epoch: Uint8Array, has: VersionVector = new Map()): void {
    this.has.clear();
    for (const [chain, count] of has) this.has.set(chain, count);
    const before = this.#epoch;
    this.#epoch = epoch;
    if (before === undefined || equalBytes(before, epoch)) return;
    this.#confirmed.clear();
    this.losses++;
  }

  /** So far have both sides come: `place` is `undefined` for who may not read, `isQuiet` where nothing is on its way. */
  reached(place: Place | undefined, isQuiet: boolean): void {
    this.#reached = place ?? this.#reached;
    this.#isReached = true;
    this.#quietAt = isQuiet ? this.#port.shareable : -1;
  }

  /** The channel is closed. */
  closed(): void {
    this.has.clear();
    this.#quietAt = -1;
    this.#isReached = this.#isEqual;
  }

  /** The server has a chain's first `count` commits durably, and signed for own ones. True when that is new. */
  acknowledge(chain: string, count: number): boolean {
    if (this.confirmed(chain) >= count) return false;
    this.#confirmed.set(chain, count);
    this.#acked.set(chain, Math.max(count, this.#acked.get(chain) ?? 0));
    return true;
  }

  /** A commit was refused: what follows it is not there either. */
  refused(chain: string, number: number): void {
    for (const counts of [this.#acked, this.#confirmed]) {
      if ((counts.get(chain) ?? 0) > number) counts.set(chain, number);
    }
    this.losses++;
  }

  /** How many commits of a chain it acknowledged in the life of its log that goes on. */
  confirmed(chain: string): number {
    return this.#confirmed.get(chain) ?? 0;
  }

  /** Has it everything, and nothing else? */
  get isQuiet(): boolean {
    return this.#quietAt === this.#port.shareable;
  }

  /** How many commits of a chain it has, as far as that is known now. */
  countOf(chain: string): number {
    // Who goes on from a cursor is acknowledged nothing that the server had before.
    if (this.isQuiet && this.#port.isComplete) {
      return this.#port.lengthOf(chain);
    }
    return Math.max(this.confirmed(chain), this.has.get(chain) ?? 0);
  }

  /** How many commits of a chain it is known to have durably; of own ones that are signed, by its receipts alone. */
  acknowledged(chain: string): number {
    const acked = this.#acked.get(chain) ?? 0;
    const isOfReceipts = this.#port.mode === "default" && this.owns(chain);
    return isOfReceipts ? acked : Math.max(acked, this.countOf(chain));
  }

  /** The newest sound witness. */
  get newest(): Witness | undefined {
    return this.#newest;
  }

  /** A sound witness came. */
  witnessed(witness: Witness): void {
    this.#newest = witness;
    this.#kept = { ...this.#kept, witness: witness.bytes };
  }

  /** The witness that was found equal last, and what shows it. */
  get proved(): Evidence | undefined {
    return this.#kept.proved;
  }

  /** Both sides were found equal: what that covers needs no receipts of its own. */
  prove(proved: Evidence): void {
    this.#kept = { ...this.#kept, proved };
    this.#isEqual = true;
    this.#proved = undefined;
    this.receipts.settle((chain) => this.provedEnd(chain)?.count ?? 0);
  }

  /** Up to where a true witness proves a chain to have been accepted. */
  provedEnd(chain: string): ChainEnd | undefined {
    const { proved } = this;
    this.#proved ??= proved ? readSummary(proved.summary) : new Map();
    return this.#proved.get(chain);
  }

  /** How many commits of a chain a true witness proves to have been accepted. */
  provedOf(chain: string): number {
    return this.provedEnd(chain)?.count ?? 0;
  }
}
