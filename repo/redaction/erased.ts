/**
 * What redactions leave of commits: asked at the door, and by who carries them out.
 *
 * Architecture invariant: what is erased was checked by both of its hashes, as
 * far as there is one record that knows all of it.
 */

import { sha256 } from "../../crypto/sha256.ts";
import { equalBytes } from "../../src/base/bytes.ts";
import { getOrMake } from "../../src/base/collections.ts";
import { erase, type IsMeant } from "../../src/schema/erasure.ts";
import { isErased, isStub } from "../../src/schema/stub.ts";
import type { Batch } from "../commit/batch.ts";
import { withPayloads } from "../commit/batch_parts.ts";
import type { Position } from "../commit/commit.ts";
import type {
  ErasedChain,
  ErasedCommit,
  Redactions,
} from "../commit/redaction.ts";
import type { ItemName } from "../state/state.ts";

export function isOf(items: Iterable<ItemName>): IsMeant {
  const ids = new Map<string, Set<string>>();
  for (const { collection, id } of items) {
    getOrMake(ids, collection, () => new Set()).add(id);
  }
  return ({ id, shape: { collection } }) =>
    ids.get(collection)?.has(id) === true;
}

/** The items of which redactions erase what one commit said. */
export function itemsOf(
  redactions: Redactions,
  { chain, number }: Position,
): readonly ItemName[] {
  const { by = [] } = redactions.of(chain, number) ?? {};
  return by.flatMap(({ items }) => items);
}

/**
 * What is to be left of a commit's payload; the same one where nothing is to be
 * erased, and `undefined` where it claims to be what is left of another one, and
 * is not.
 */
export function leftOf(
  redactions: Redactions,
  place: Position,
  payload: Uint8Array,
): Uint8Array | undefined {
  const { chain, number } = place;
  if (isStub(payload)) return payload;
  const meant = redactions.of(chain, number);
  if (meant === undefined) {
    const isKnown = redactions.hashOf(chain, number) !== undefined;
    return isKnown || !isErased(payload) ? payload : undefined;
  }
  const left = erase(payload, isOf(itemsOf(redactions, place))) ?? payload;
  // Of several that did not know each other none has the hash of what all leave.
  const isJoint = meant.is.length > 1;
  if (isErased(payload)) {
    const isTaken = isJoint || redactions.isNoted(chain, number) ||
      isIn(meant.is, payload);
    return isTaken ? left : undefined;
  }
  if (!equalBytes(sha256(payload), meant.was)) return payload;
  return isJoint || isIn(meant.is, left) ? left : payload;
}

function isIn(hashes: readonly Uint8Array[], payload: Uint8Array): boolean {
  const hash = sha256(payload);
  return hashes.some((one) => equalBytes(one, hash));
}

/** A batch without what is to be erased; `undefined` where it claims to be that, and is not. */
export function batchLeft(
  redactions: Redactions,
  batch: Batch,
): Batch | undefined {
  const { bytes, chain, first, commits } = batch;
  const isMeant = redactions.means(chain);
  const payloads = new Map<number, Uint8Array>();
  for (let i = 0; i < commits.length; i++) {
    const { payloadAt, end } = commits[i]!;
    if (!isMeant && !isErased(bytes, payloadAt, end)) continue;
    const payload = bytes.subarray(payloadAt, end);
    const left = leftOf(redactions, { chain, number: first + i }, payload);
    if (left === undefined) return undefined;
    if (left !== payload) payloads.set(i, left);
  }
  return withPayloads(batch, payloads);
}

/** What is meant of some commits, as a record names it. */
export function erasedChains(
  commits: Iterable<Position & Omit<ErasedCommit, "number">>,
): ErasedChain[] {
  const chains = new Map<string, ErasedCommit[]>();
  for (const { chain, number, was, is } of commits) {
    getOrMake(chains, chain, () => []).push({ number, was, is });
  }
  return Array.from(chains, ([chain, commits]) => ({ chain, commits }));
}
