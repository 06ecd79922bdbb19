/**
 * The order of acceptance: which commits a served log took after which, and
 * when, as one hash that grows with every flush.
 *
 * `order = SHA-256(order before ‖ accepted u48 ‖ (chain {40} | commits u48 | void ranges)*)`
 * over the batches of the log since the mark before, in its order; an epoch
 * begins with `SHA-256("sheaf order 1\n" ‖ genesis id ‖ epoch)`. A mark, a record
 * of this log alone, says it behind each flush. What the commits are is said by
 * their ids, and so by the digest of a witness that says both.
 *
 * Architecture invariant: the order is a function of the log's bytes: marks can
 * be checked by whoever reads them, and by a client that is told of the batches
 * that it is not sent.
 */

import { sha256 } from "../../crypto/sha256.ts";
import { ByteWriter, encodeText } from "../../src/base/bytes.ts";
import {
  copied,
  decodeRecord,
  type Field,
  struct,
  u48,
} from "../../src/base/layout.ts";
import { NumberRanges } from "../../src/base/number_ranges.ts";
import { type Batch, batchHead, batchIn } from "../commit/batch.ts";
import { chainBytes } from "../commit/commit.ts";
import { isBatch } from "./format.ts";

export const EPOCH_BYTES = 16;
const FORMAT = 1;
const DOMAIN = encodeText("sheaf order 1\n");
const NO_VOIDS = new NumberRanges();

interface SaidMark {
  /** Which life of the log. */
  readonly epoch: Uint8Array;
  /** When what stands before it was accepted, by the server's wall clock. */
  readonly accepted: number;
  /** The order up to here. */
  readonly order: Uint8Array;
}

export const orderLayout: Field<SaidMark> = struct({
  epoch: copied(EPOCH_BYTES),
  accepted: u48,
  order: copied(32),
});

export interface OrderMark extends SaidMark {
  /** Log address behind the mark. */
  readonly position: number;
}

/** A mark as the log has it; who serves nobody never reads it. */
export interface LoggedMark {
  readonly body: Uint8Array;
  /** Log address behind it. */
  readonly position: number;
}

export const MARK_BYTES: number = 1 + EPOCH_BYTES + 6 + 32;

export interface Accepted {
  readonly chain: string;
  /** How many commits of the chain were accepted with it. */
  readonly commits: number;
  /** Which of the batch's are stubs, by number. */
  readonly voids: NumberRanges;
}

/** What was accepted between two marks. */
export interface Flush {
  readonly accepted: number;
  readonly batches: readonly Accepted[];
}

/** What a reading of the log met of the order. */
export type OrderStep =
  & { /** Log address behind it. */ readonly next: number }
  & ({ readonly batch: Accepted } | { readonly mark: OrderMark });

export function encodeMark(mark: SaidMark): Uint8Array {
  const writer = new ByteWriter(MARK_BYTES); // One a flush.
  writer.u8(FORMAT);
  orderLayout.write(writer, mark);
  return writer.view();
}

/** Reads a mark whose body stands at an address; `SyntaxError` when it is none. */
export function decodeMark(body: Uint8Array, address: number): OrderMark {
  const said = decodeRecord(FORMAT, orderLayout, body);
  return { ...said, position: address + body.length };
}

/** The order of an epoch in which nothing was accepted yet. */
export function orderStart(
  genesisId: Uint8Array,
  epoch: Uint8Array,
): Uint8Array {
  return sha256(DOMAIN, genesisId, epoch);
}

/** The order behind a flush. */
export function orderAfter(
  order: Uint8Array,
  { accepted, batches }: Flush,
): Uint8Array {
  const writer = new ByteWriter(38 + batches.length * 48);
  writer.bytes(order);
  writer.u48(accepted);
  for (const { chain, commits, voids } of batches) {
    writer.bytes(chainBytes(chain));
    writer.u48(commits);
    voids.write(writer);
  }
  return sha256(writer.view());
}

/**
 * What a record of the log adds to the order; `undefined`: nothing.
 *
 * @param hasVoid are there void commits in a chain?
 */
export function acceptedIn(
  kind: number,
  body: Uint8Array,
  hasVoid: (chain: string) => boolean,
): Accepted | undefined {
  if (!isBatch(kind)) return undefined;
  const { chain, first, count } = batchHead(body);
  if (hasVoid(chain)) return acceptedOf(batchIn(kind, body)!);
  return { chain, commits: first + count, voids: NO_VOIDS };
}

/** What a batch adds to the order. */
export function acceptedOf({ chain, first, commits }: Batch): Accepted {
  const voids = new NumberRanges();
  for (const [i, { isVoid }] of commits.entries()) {
    if (isVoid) voids.add(first + i);
  }
  return { chain, commits: first + commits.length, voids };
}
