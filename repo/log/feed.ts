/**
 * The feed: records of the own log, as a peer gets them.
 *
 * What the log's order says is told beside them, also of what is left out.
 *
 * Neighbouring batches of one chain are joined while they are read, under the
 * last seal: it signs the id of the last commit, and ids are chained. Genesis,
 * local records and what was cut are left out; so are certificates in the
 * modes whose door takes none. Of what was refused nothing but stubs goes out.
 *
 * Followers of one log ask the same question at the same moment, so the last
 * answer is kept: a push to a thousand of them reads the file once.
 *
 * Architecture invariant: what is read grows with the bytes that are asked for,
 * never with the log.
 */

import { ByteWriter } from "../../src/base/bytes.ts";
import { assert } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import {
  type BatchHead,
  batchHead,
  HEAD_BYTES_MAX,
  sealLength,
  writeHead,
} from "../commit/batch.ts";
import { isTakenUnsigned } from "../commit/credentials.ts";
import type { Mode } from "../commit/genesis.ts";
import type { Store } from "./store.ts";
import { isBatch, recordKind, travels } from "./format.ts";
import { acceptedIn, decodeMark, type OrderStep } from "./order.ts";
import type { FeedRecord, FeedSlice, SeamOf } from "../port.ts";

/** A batch of the own log, with what stands before its commits. */
interface BatchPart extends BatchHead {
  /** All of it. */
  readonly bytes: Uint8Array;
}

/** A larger answer is read again: memory is worth more. */
const KEPT_BYTES_MAX = 1024 * 1024;

export interface FeedParts {
  readonly log: Pick<Store, "records">;
  readonly mode: Mode;
  readonly isOrdered: () => boolean;
  readonly hasVoid: (chain: string) => boolean;
  /** Was the commit cut that stands in the log record at `address`? */
  readonly isCut: (
    chain: string,
    number: number,
    address: number,
  ) => boolean;
  /** A batch at an address as others get it; `undefined` where it is as it stands there. */
  readonly stubbed: (
    chain: string,
    kind: number,
    body: Uint8Array,
    address: number,
  ) => Uint8Array | undefined;
}

export class Feed {
  readonly #parts: FeedParts;
  #last: Answer | undefined;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Forgets its last answer: commits in it are void. */
  forget(): void {
    this.#last = undefined;
  }

  /**
   * Records from `from` up to `to`: at least one where there is one, else at most `bytesMax` bytes.
   *
   * @param seamOf where neighbours of a chain do not become one batch
   */
  read(
    from: number,
    to: number,
    bytesMax: number,
    seamOf?: SeamOf,
  ): FeedSlice {
    const last = this.#last;
    if (
      last !== undefined && last.seamOf === seamOf &&
      answers(last, from, to, bytesMax)
    ) {
      return last.slice;
    }
    const slice = this.#read(from, to, bytesMax, seamOf);
    let bytes = 0;
    for (const record of slice.records) bytes += record.bytes.length;
    this.#last = bytes > KEPT_BYTES_MAX
      ? undefined
      : { from, to, bytesMax, seamOf, bytes, slice };
    return slice;
  }

  #read(
    from: number,
    to: number,
    bytesMax: number,
    seamOf: SeamOf | undefined,
  ): FeedSlice {
    const gathering = new Gathering(bytesMax, seamOf);
    let next = from;
    let isFull = false;
    const order: OrderStep[] = [];
    const isOrdered = this.#parts.isOrdered();
    this.#parts.log.records(from, to, (kind, body, address) => {
      isFull = !this.#take(gathering, kind, body, address);
      if (isFull) return true;
      next = address + body.length;
      const step = isOrdered && this.#stepOf(kind, body, address);
      if (step) order.push(step);
      return isFull = gathering.isFull;
    });
    return { records: gathering.finish(), order, next: isFull ? next : to };
  }

  #stepOf(
    kind: number,
    body: Uint8Array,
    address: number,
  ): OrderStep | undefined {
    const next = address + body.length;
    if (kind === recordKind.order) {
      return { next, mark: decodeMark(body, address) };
    }
    const batch = acceptedIn(kind, body, this.#parts.hasVoid);
    return batch && { next, batch };
  }

  /** Takes one record of the log; false when there is no more room for it. */
  #take(
    gathering: Gathering,
    kind: number,
    body: Uint8Array,
    address: number,
  ): boolean {
    if (!this.#isTaken(kind)) return true;
    const next = address + body.length;
    const head = isBatch(kind) ? batchHead(body) : undefined;
    if (head === undefined) {
      if (!gathering.hasRoom(body.length)) return false;
      gathering.add(kind, body, next, head);
      return true;
    }
    const { isCut, stubbed } = this.#parts;
    const { chain, first } = head;
    if (isCut(chain, first, address)) return true;
    const bytes = stubbed(chain, kind, body, address) ?? body;
    if (!gathering.hasRoom(bytes.length)) return false;
    gathering.add(kind, bytes, next, head);
    return true;
  }

  /** Does the door of the others take it? In the modes that do not sign, only batches. */
  #isTaken(kind: number): boolean {
    if (this.#parts.mode !== "default") {
      return kind === recordKind.unsignedBatch || isTakenUnsigned(kind);
    }
    return travels(kind);
  }
}

interface Answer {
  readonly from: number;
  readonly to: number;
  readonly bytesMax: number;
  readonly seamOf: SeamOf | undefined;
  readonly bytes: number;
  readonly slice: FeedSlice;
}

function answers(
  answer: Answer,
  from: number,
  to: number,
  bytesMax: number,
): boolean {
  if (answer.from !== from || answer.to !== to) return false;
  if (answer.bytesMax === bytesMax) return true;
  // With room for all of it, the answer is all of it.
  return answer.slice.next === to && answer.bytes <= bytesMax;
}

/** Records of one answer, the last run still open. */
class Gathering {
  readonly #records: FeedRecord[] = [];
  readonly #bytesMax: number;
  readonly #seamOf: SeamOf | undefined;
  #bytes = 0;
  #run: BatchPart[] = [];
  #runKind: number = recordKind.signedBatch;
  #runCount = 0;
  #runNext = 0;

  constructor(bytesMax: number, seamOf: SeamOf | undefined) {
    this.#bytesMax = Math.min(bytesMax, limits.batchBytesMax);
    this.#seamOf = seamOf;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#bytesMax;
  }

  /** Is there room for so many bytes more? There is always room for one record. */
  hasRoom(length: number): boolean {
    return this.#bytes === 0 || this.#bytes + length <= this.#bytesMax;
  }

  /** Takes a record; `head` when it is a batch. */
  add(
    kind: number,
    body: Uint8Array,
    next: number,
    head: BatchHead | undefined,
  ): void {
    const bytes = body.slice();
    this.#bytes += bytes.length;
    if (head !== undefined) return this.#addBatch(kind, next, head, bytes);
    this.#endRun();
    this.#records.push({ kind, bytes, chain: "", first: 0, count: 0, next });
  }

  #addBatch(
    kind: number,
    next: number,
    head: BatchHead,
    bytes: Uint8Array,
  ): void {
    const last = this.#run[this.#run.length - 1];
    const joins = last !== undefined && kind === this.#runKind &&
      isNeighbour(last, head) && this.#seamOf?.(head.chain) !== head.first &&
      this.#runCount + head.count <= limits.batchCommitsMax;
    if (!joins) this.#endRun();
    this.#run.push({ ...head, bytes });
    this.#runKind = kind;
    this.#runCount += head.count;
    this.#runNext = next;
  }

  #endRun(): void {
    const [first] = this.#run;
    if (first === undefined) return;
    this.#records.push({
      kind: this.#runKind,
      bytes: joinBatches(this.#run, this.#runKind === recordKind.signedBatch),
      chain: first.chain,
      first: first.first,
      count: this.#runCount,
      next: this.#runNext,
    });
    this.#run = [];
    this.#runCount = 0;
  }

  finish(): FeedRecord[] {
    this.#endRun();
    return this.#records;
  }
}

/** Does `next` go on in its chain where `last` ends? */
function isNeighbour(last: BatchHead, next: BatchHead): boolean {
  return last.chain === next.chain && last.first + last.count === next.first;
}

/** One batch of several neighbours, all signed or all unsigned. */
function joinBatches(
  parts: readonly BatchPart[],
  isSigned: boolean,
): Uint8Array {
  const [first] = parts;
  const last = parts[parts.length - 1];
  assert(first !== undefined && last !== undefined, "there is a batch");
  if (parts.length === 1) return first.bytes;
  const tail = isSigned ? sealLength : 0;
  let [count, length] = [0, HEAD_BYTES_MAX + tail];
  for (const part of parts) {
    count += part.count;
    length += part.bytes.length - tail - part.start;
  }
  const writer = new ByteWriter(length);
  writeHead(writer, first.chain, first.first, count);
  for (const { bytes, start } of parts) {
    writer.bytes(bytes.subarray(start, bytes.length - tail));
  }
  writer.bytes(last.bytes.subarray(last.bytes.length - tail));
  return writer.view();
}
