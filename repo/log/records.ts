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

/** What each kind says, by its name here. */
interface Said {
  /** Its bytes: whose log it is, is asked by who begins one. */
  readonly genesis: Uint8Array;
  readonly batch: Batch;
  readonly credential: Credential;
  readonly cut: readonly Cut[];
  readonly resolution: Resolution;
  readonly refusal: Refusal;
  readonly erasure: Erasure;
  /** Its bytes: there is one a flush, and mostly only the last one is asked for. */
  readonly order: Uint8Array;
}

const decoders: {
  readonly [Name in keyof Said]: (kind: number, body: Uint8Array) => Said[Name];
} = {
  genesis: (_, body) => body,
  batch: (kind, body) => batchIn(kind, body)!,
  credential: decodeCredential,
  cut: (_, body) => decodeCut(body),
  resolution: (_, body) => decodeResolution(body),
  refusal: (_, body) => decodeRefusal(body),
  erasure: (_, body) => decodeErasure(body),
  order: (_, body) => body,
};

/** What is made of records, whose bodies stand at an address; those of kinds left out are not read. */
export type RecordVisitor<Result> =
  & {
    readonly [Name in keyof Said]?: (
      said: Said[Name],
      address: number,
    ) => Result;
  }
  & {
    /** Of a kind that must be understood to go on, and is not known (law 13). */
    readonly unknown?: (kind: number, address: number) => Result;
  };

const names = new Map<number, keyof Said>([
  [recordKind.genesis, "genesis"],
  [recordKind.signedBatch, "batch"],
  [recordKind.unsignedBatch, "batch"],
  [recordKind.cut, "cut"],
  [recordKind.resolution, "resolution"],
  [recordKind.refusal, "refusal"],
  [recordKind.erasure, "erasure"],
  [recordKind.order, "order"],
]);

/** `SyntaxError` where a record is not what its kind says. */
export function visitRecord<Result>(
  visitor: RecordVisitor<Result>,
  kind: number,
  body: Uint8Array,
  address: number,
): Result | undefined {
  const name = names.get(kind) ??
    (isCredential(kind) ? "credential" : undefined);
  if (name === undefined) {
    return travels(kind) ? visitor.unknown?.(kind, address) : undefined;
  }
  const visit = visitor[name] as
    | ((said: Said[keyof Said], address: number) => Result)
    | undefined;
  return visit?.(decoders[name](kind, body), address);
}
