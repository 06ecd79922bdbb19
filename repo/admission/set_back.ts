/**
 * A folder that was set back: another life of the same device went on with its
 * chain, and its commits come from elsewhere. What this folder wrote since in that
 * chain is in nobody's hands who has the others; it is written again in a new one.
 * The door calls fork only what the own key has sealed: nobody else can make a
 * device cut anything.
 */

import type { Judged } from "./admit.ts";
import type { Arrival } from "./arrival.ts";
import { readable } from "../../src/base/bytes.ts";
import { type Batch, batchIn } from "../commit/batch.ts";
import type { Cut } from "../refusal/void_commits.ts";

/** What is known of the own chain, and what can be done about it. */
export interface OwnChain {
  /** Its name; "" before it began. */
  readonly chain: string;
  /** Takes arrivals through the door, up to and with the first whose verdict `ends` it. */
  readonly receive: (
    arrivals: Iterable<Arrival>,
    ends?: (judged: Judged) => boolean,
  ) => Judged[];
  /** Writes the end of the chain again in a new one. */
  readonly cut: (cut: Cut) => void;
}

/**
 * Takes arrivals; where one shows another life of this device, what was written
 * here goes out of its way first. What others built on that life must not come in
 * before it does: it would seem to have been built on what was written here.
 */
export function receiveBack(
  arrivals: Iterable<Arrival>,
  own: OwnChain,
): Judged[] {
  const all = [...arrivals];
  const judged = own.receive(all, (one) => forkOf(one, own) !== undefined);
  const last = judged.findLast((one) => forkOf(one, own) !== undefined);
  if (last === undefined) return judged;
  const again = refusedOf(judged, own.chain);
  own.cut({ chain: own.chain, from: forkOf(last, own)! });
  const others = judged.filter(({ arrival }) => !again.includes(arrival));
  const rest = all.slice(all.indexOf(last.arrival) + 1);
  return [...others, ...own.receive([...again, ...rest])];
}

/** From which number on another life of this device went another way, if that is the verdict. */
function forkOf(
  { arrival, verdict }: Judged,
  own: OwnChain,
): number | undefined {
  if (verdict.verdict !== "refuse") return undefined;
  const { refused, number } = verdict.refusal;
  if (refused !== "fork" || number === undefined) return undefined;
  return batchOf(arrival, own.chain) === undefined ? undefined : number;
}

/** The arrivals of a chain that were refused, in order. */
function refusedOf(judged: readonly Judged[], chain: string): Arrival[] {
  return judged.filter(({ arrival, verdict }) =>
    verdict.verdict === "refuse" && batchOf(arrival, chain) !== undefined
  ).map(({ arrival }) => arrival);
}

/** The batch of an arrival, where it is one of this chain. */
function batchOf({ kind, bytes }: Arrival, chain: string): Batch | undefined {
  const batch = readable(() => batchIn(kind, bytes));
  return batch?.chain === chain ? batch : undefined;
}
