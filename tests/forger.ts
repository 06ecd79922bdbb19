/**
 * Somebody who seals by hand what he likes, with the dates and the parents that
 * he likes, as far as the gate lets him.
 *
 * @module
 */

import { createSigner, generateKeyPair } from "../crypto/mod.ts";
import type { Arrival } from "../repo/admission/arrival.ts";
import type { PreparedCommit } from "../repo/commit/batch.ts";
import { writeSealedBatch } from "./kit/chain.ts";
import { issueCertificate } from "../repo/commit/certificate.ts";
import { chainStart, encodeHeader, joinChain } from "../repo/commit/commit.ts";
import type { State } from "../repo/state/state.ts";
import { ByteWriter } from "../src/base/bytes.ts";
import { type Hlc, wallMax } from "../src/base/hlc.ts";
import { PatchWriter } from "../src/schema/patch_codec.ts";
import { diceOf, rootSigner } from "./kit/ruled_device.ts";
import { pick, rawOperation } from "./random_writes.ts";
import { recordKind } from "../repo/log/format.ts";

type Random = () => number;

/** A commit that somebody else may name as a parent. */
export interface Named extends Hlc {
  readonly chain: string;
  readonly number: number;
}

interface Forged extends Hlc {
  readonly commit: PreparedCommit;
}

const patch = new PatchWriter();

/** Seals what he likes, by hand: under one chain, as far as the gate lets him. */
export class Forger {
  readonly user: string;
  readonly key: Uint8Array;
  readonly chain: string;
  readonly certificate: Arrival;
  readonly #signer;
  readonly #genesisId: Uint8Array;
  readonly #accepted: Forged[] = [];
  #pending: Forged[] = [];

  /** @param startMs the first date that he uses */
  constructor(
    seed: number,
    user: string,
    genesisId: Uint8Array,
    readonly startMs: number,
  ) {
    const { publicKey, secretKey } = generateKeyPair(diceOf(seed));
    this.user = user;
    this.key = publicKey;
    this.chain = joinChain(publicKey, new Uint8Array(8));
    this.#signer = createSigner(secretKey);
    this.#genesisId = genesisId;
    const { bytes } = issueCertificate({
      ...{ sessionKey: publicKey, user, claims: "{}", mayIssue: false },
      ...{ notBefore: 0, notAfter: wallMax },
    }, rootSigner);
    this.certificate = { kind: recordKind.certificate, bytes };
  }

  /** How many of his commits were accepted. */
  get length(): number {
    return this.#accepted.length;
  }

  /** Makes one more commit, of a date that he chooses, upon a parent that he chooses. */
  forge(
    random: Random,
    state: State,
    known: readonly Named[],
    nowMs: number,
  ): void {
    const last = this.#pending.at(-1) ?? this.#accepted.at(-1);
    const from = last === undefined ? this.startMs : last.wall + 1;
    const ahead = random() < 0.1 ? 90_000 : 3_000;
    const wall = random() < 0.8
      ? Math.min(from + Math.floor(random() * 3_000), Math.max(from, nowMs))
      : Math.max(from, nowMs + Math.floor(random() * ahead) - 2_000);
    const parents = known.filter((one) =>
      one.wall < wall && one.chain !== this.chain
    );
    const chosen = parents.length > 0 && random() < 0.5
      ? [pick(random, parents)]
      : [];
    const header = {
      ...{ wall, count: Math.floor(random() * 3) },
      parents: chosen.map(({ chain, number }) => ({ chain, number })),
    };
    patch.begin();
    for (let i = 1 + Math.floor(random() * 2); i > 0; i--) {
      patch.add(rawOperation(random, state, nowMs));
    }
    const { payload } = patch.finish();
    const bytes = encodeHeader(header);
    this.#pending.push({
      ...header,
      commit: { header: bytes, payload: payload.slice(), payloadAt: -1 },
    });
  }

  /** What was not handed in yet; `undefined` when there is nothing. */
  pending(): Arrival | undefined {
    return this.#pending.length > 0
      ? this.#seal(this.#accepted.length, this.#pending)
      : undefined;
  }

  /** What was accepted, in pieces. */
  accepted(): Arrival[] {
    return this.#accepted.map((one, i) => this.#seal(i, [one]));
  }

  /** What he handed in was accepted. */
  settle(): void {
    this.#accepted.push(...this.#pending);
    this.#pending = [];
  }

  /** Forgets a commit that was refused, or all that is pending. */
  drop(number?: number): void {
    const at = (number ?? this.length) - this.length;
    this.#pending.splice(at, number === undefined ? Infinity : 1);
  }

  #seal(first: number, forged: readonly Forged[]): Arrival {
    const start = chainStart(this.#genesisId, this.chain);
    const before = this.#accepted.slice(0, first);
    const id = before.length > 0 ? this.#write(0, before, start)[1] : start;
    return {
      kind: recordKind.signedBatch,
      bytes: this.#write(first, forged, id)[0],
    };
  }

  /** A sealed batch, and its last id. */
  #write(
    first: number,
    forged: readonly Forged[],
    previousId: Uint8Array,
  ): [Uint8Array, Uint8Array] {
    const writer = new ByteWriter();
    const commits = forged.map(({ commit }) => commit);
    const run = { chain: this.chain, first, commits };
    const id = this.#genesisId;
    const lastId = writeSealedBatch(writer, run, previousId, id, this.#signer);
    return [writer.copy(), lastId];
  }
}
