/** What comes to the door, what its verdict depends on, and the verdicts. */

import type { Refusal } from "../../src/base/errors.ts";
import type { Hlc } from "../../src/base/hlc.ts";
import type { DecodedPatch } from "../../src/schema/patch_codec.ts";
import type { Batch } from "../commit/batch.ts";
import type { Credential, Credentials } from "../commit/credentials.ts";
import type { Position } from "../commit/commit.ts";
import type { Mode } from "../commit/genesis.ts";
import type { Graph } from "../graph/graph.ts";
import type { Revocations } from "../commit/revocation.ts";

/** Foreign bytes: the kind that was announced, and the body of a log record. */
export interface Arrival {
  /** What the bytes claim to be: a log's number. */
  readonly kind: number;
  /** Kept as they are when admitted; must not change afterwards. */
  readonly bytes: Uint8Array;
}

/** What a verdict depends on. */
export interface Knowledge {
  readonly genesisId: Uint8Array;
  readonly mode: Mode;
  readonly rootKey: Uint8Array;
  /** In the mode that signs: hashed as far as the log goes. */
  readonly graph: Graph;
  readonly credentials: Credentials;
  /** Only in a repair: the session key, as 32 characters, whose seal is certificate enough. */
  readonly mendedKey?: string;
  readonly revocations: Revocations;
  /** The clock of a known commit; `undefined` where history was cut behind it. */
  clockAt(chain: string, number: number): Hlc | undefined;
  /**
   * How many of a batch's commits before index `end` are, byte for byte, those that
   * are known by their numbers, up to the first that is not. None is while it is
   * in nobody's hands but ours: no other replica can have it.
   */
  countEqual(batch: Batch, end: number): number;
  /** Does a known commit say nothing here? */
  isSilent(chain: string, number: number): boolean;
  /** The payload of a commit that is here. */
  payloadOf(chain: string, number: number): Uint8Array | undefined;
  /** The id before commit `number` of a chain that is known up to there; computed, so asked seldom. */
  idBefore(chain: string, number: number): Uint8Array | undefined;
}

/**
 * Asked once of every sound batch with new commits (law 7): clock, quota, rate,
 * rules, and what else depends on the moment of acceptance. The commits from index
 * `from` on are new. Patches cost a multiple of their bytes: what can be asked
 * without them comes first.
 */
export type Gate = (
  batch: Batch,
  from: number,
  decode: (decoder: PatchDecoder) => ReturnType<PatchDecoder>,
) => Refusal | undefined;

/**
 * Decodes the patches of a batch from a commit's index on, or says why not; of
 * several that a gate names the first one decides.
 *
 * @throws {SyntaxError} for the door, where one of them cannot be read
 */
export type PatchDecoder = (
  batch: Batch,
  from: number,
) => readonly DecodedPatch[] | Refusal;

/** What becomes of an arrival. */
export type Verdict =
  | AdmitCredential
  | AdmitBatch
  | Park
  | Known
  | Refuse;

/** Nothing of it is new, but for commits that their author gave up elsewhere. */
export interface Known {
  readonly verdict: "known";
  readonly givenUp?: GivenUp | undefined;
}

/** Commits that are known here, and are stubs in what came: this folder was set back, or a server was lost. */
export interface GivenUp {
  readonly chain: string;
  readonly numbers: readonly number[];
}

/** A sound credential that says something new. */
export interface AdmitCredential {
  readonly verdict: "admit-credential";
  readonly credential: Credential;
}

export type Admitted = AdmitBatch | AdmitCredential;

/**
 * A sound batch: the commits from index `from` on are new. The ones before it
 * are known already and stay in the bytes; whoever reads the log skips them.
 */
export interface AdmitBatch {
  readonly verdict: "admit";
  readonly batch: Batch;
  readonly from: number;
  /** What the new commits say, decoded. */
  readonly patches: readonly DecodedPatch[];
  /** The id of its last commit; not computed in the modes that do not sign. */
  readonly lastId: Uint8Array | undefined;
  readonly givenUp?: GivenUp | undefined;
}

/** A batch that cannot be judged before another commit is known. */
export interface Park {
  readonly verdict: "park";
  readonly batch: Batch;
  /** The commit it waits for. */
  readonly missing: Position;
}

/** An arrival that will never be admitted as it is. */
export interface Refuse {
  readonly verdict: "refuse";
  readonly refusal: Refusal;
}
