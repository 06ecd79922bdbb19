/**
 * What a client keeps of a server between connections, per repository.
 *
 * Kept lazily: an older state is as sound as the newest, it only costs bytes. A
 * state that does not fit is none.
 */

import type { RepositoryPort } from "../repo/port.ts";
import { limits } from "../src/base/limits.ts";
import {
  bytes,
  copied,
  count,
  decodeRecord,
  encodeRecord,
  flagged,
  list,
  struct,
  u48,
  unfit,
  type ValueOf,
} from "../src/base/layout.ts";
import { type Cursor, cursor } from "./frame_fields.ts";
import { type Evidence, evidenceLayout } from "./receipt.ts";
import { readSummary } from "./summary.ts";

const FORMAT = 5;
const NOTHING = new Uint8Array();

const lives = struct({
  /** Epochs of the server, the newest last. */
  epochs: list(copied(16), limits.epochsMax),
  /** The newest one came back after this other one, until nothing of that one is lacking. */
  fork: flagged(struct({ other: copied(16), atMs: u48 })),
});

/** Which lives a server's log had, as one client saw them. */
export type Lives = ValueOf<typeof lives>;

/** None was seen. */
export const noLives: Lives = { epochs: [], fork: undefined };

/** Its bytes. */
export const resumeLayout = struct({
  /** Of which repository. */
  genesisId: copied(32),
  /** Everything of the server's log before it is durable here. */
  cursor: flagged(cursor),
  /** Own log address: the server of that cursor has everything before it. */
  uploadedTo: count,
  /** How many commits were here then: fewer now, and the addresses mean nothing. */
  commits: count,
  /** The newest witness that was sound; empty: none. */
  witness: bytes,
  /** The witness that was found equal last. */
  proved: flagged(evidenceLayout),
  /** What the server signed of own commits since, the newest last. */
  receipts: list(evidenceLayout, limits.receiptsMax),
  lives,
});

/** What a client keeps. */
export type ResumeState = ValueOf<typeof resumeLayout>;

/** From where either side goes on. */
export type Place = Pick<ResumeState, "cursor" | "uploadedTo" | "commits">;

/** The state before the first connection. */
export function emptyResume(genesisId: Uint8Array): ResumeState {
  return {
    genesisId,
    cursor: undefined,
    uploadedTo: 0,
    commits: 0,
    witness: NOTHING,
    proved: undefined,
    receipts: [],
    lives: noLives,
  };
}

/** The kept cursor, where the kept addresses are of this log and little would be sent twice. */
export function usableCursor(
  { cursor, uploadedTo, commits }: Place,
  port: RepositoryPort,
): Cursor | undefined {
  const isOfThisLog = commits <= port.commits &&
    uploadedTo <= port.shareable && port.isStart(uploadedTo);
  const again = port.shareable - uploadedTo;
  return isOfThisLog && again <= limits.resendBytesMax ? cursor : undefined;
}

/** The bytes of a state: at most `resumeBytesMax`, without the summary where it does not fit, and with fewer receipts. */
export function encodeResume(state: ResumeState): Uint8Array {
  const whole = encodeRecord(FORMAT, resumeLayout, state);
  if (whole.length <= limits.resumeBytesMax) return whole;
  const { receipts, proved } = state;
  const isSummaryLarge =
    2 * (proved?.summary.length ?? 0) > limits.resumeBytesMax;
  return encodeResume(
    isSummaryLarge || receipts.length === 0
      ? { ...state, proved: undefined }
      : { ...state, receipts: receipts.slice(1) },
  );
}

/** Reads a state; `SyntaxError` when the bytes are none, for which {@linkcode emptyResume} stands in. */
export function decodeResume(bytes: Uint8Array): ResumeState {
  if (bytes.length > limits.resumeBytesMax) throw unfit("it is too large");
  const state = decodeRecord(FORMAT, resumeLayout, bytes);
  for (const { summary } of evidenceIn(state)) readSummary(summary);
  return state;
}

/** All that a state shows to others, the newest last. */
export function evidenceIn({ proved, receipts }: ResumeState): Evidence[] {
  return proved === undefined ? [...receipts] : [proved, ...receipts];
}
