/**
 * What the records of a log say. One table has all that this version knows: who
 * goes through a log names what it makes of the kinds that it needs, and only those
 * are decoded. A new kind is its number in `format.ts`, a row here, and a line at
 * each reader that it means something to.
 */

import { type Batch, batchIn } from "../commit/batch.ts";
import {
  type Credential,
  decodeCredential,
  isCredential,
} from "../commit/credentials.ts";
import { decodeErasure, type Erasure } from "../commit/redaction.ts";
import {
  type Cut,
  decodeCut,
  decodeRefusal,
  decodeResolution,
  type Refusal,
  type Resolution,
} from "../refusal/void_commits.ts";
import { recordKind, travels } from "./format.ts";

/** What is made of records, whose bodies stand at an address; those of kinds left out are not decoded. */
export interface RecordVisitor<Result> {
  /** Takes its bytes: whose log it is, is asked by who begins one. */
  readonly genesis?: (bytes: Uint8Array) => Result;
  readonly batch?: (batch: Batch, address: number) => Result;
  readonly credential?: (credential: Credential) => Result;
  readonly cut?: (cuts: readonly Cut[], address: number) => Result;
  readonly resolution?: (resolution: Resolution, address: number) => Result;
  readonly refusal?: (refusal: Refusal, address: number) => Result;
  readonly erasure?: (erasure: Erasure) => Result;
  /** Takes its bytes: there is one a flush, and mostly only the last one is asked for. */
  readonly order?: (bytes: Uint8Array, address: number) => Result;
  /** Of a kind that must be understood to go on, and is not known (law 13). */
  readonly unknown?: (kind: number, address: number) => Result;
}

/** `SyntaxError` where a record is not what its kind says. */
export function visitRecord<Result>(
  visitor: RecordVisitor<Result>,
  kind: number,
  body: Uint8Array,
  address: number,
): Result | undefined {
  switch (kind) {
    case recordKind.genesis:
      return visitor.genesis?.(body);
    case recordKind.signedBatch:
    case recordKind.unsignedBatch:
      return visitor.batch?.(batchIn(kind, body)!, address);
    case recordKind.cut:
      return visitor.cut?.(decodeCut(body), address);
    case recordKind.resolution:
      return visitor.resolution?.(decodeResolution(body), address);
    case recordKind.refusal:
      return visitor.refusal?.(decodeRefusal(body), address);
    case recordKind.erasure:
      return visitor.erasure?.(decodeErasure(body));
    case recordKind.order:
      return visitor.order?.(body, address);
  }
  // Credentials have a table of their own, of how they are checked and kept.
  if (isCredential(kind)) {
    return visitor.credential?.(decodeCredential(kind, body));
  }
  return travels(kind) ? visitor.unknown?.(kind, address) : undefined;
}
