/**
 * A folder that was set back: another life of the same device went on with its
 * chain, and its commits come from elsewhere.
 *
 * What this folder wrote since in that chain is in nobody's hands who has the
 * others; it is written again in a new one. The door calls fork only what the
 * own key has sealed: nobody else can make a device take anything back.
 *
 * Architecture invariant: one number of a chain stands for one commit.
 *
 * @module
 */

import type { Judged } from "./admit.ts";
import type { Arrival } from "./arrival.ts";
import { type Batch, decodeBatch } from "./batch.ts";

/** What is known of the own chain, and what can be done about it. */
export interface OwnChain {
  /** Its name; "" before it began. */
  readonly chain: string;
  /** Takes arrivals through the door. */
  readonly receive: (arrivals: Iterable<Arrival>) => Judged[];
  /** Writes the end of the chain again in a new one. */
  readonly withdraw: (chain: string, from: number) => void;
}

/**
 * Takes arrivals; where they show another life of this device, what was written
 * here goes out of its way, and those that were refused for it come again.
 */
export function receiveBack(
  arrivals: Iterable<Arrival>,
  own: OwnChain,
): Judged[] {
  const judged = own.receive(arrivals);
  const number = forkOf(judged, own);
  if (number === undefined) return judged;
  const again = refusedOf(judged, own.chain);
  own.withdraw(own.chain, number);
  const others = judged.filter(({ arrival }) => !again.includes(arrival));
  return [...others, ...own.receive(again)];
}

/** From which number on another life of this device went another way, if one of these says so. */
function forkOf(
  judged: readonly Judged[],
  own: OwnChain,
): number | undefined {
  for (const { arrival, verdict } of judged) {
    if (verdict.verdict !== "refuse") continue;
    const { refused, number } = verdict.refusal;
    if (refused !== "fork" || number === undefined) continue;
    if (batchOf(arrival, own.chain) !== undefined) return number;
  }
  return undefined;
}

/** The arrivals of a chain that were refused, in order. */
function refusedOf(judged: readonly Judged[], chain: string): Arrival[] {
  return judged.filter(({ arrival, verdict }) =>
    verdict.verdict === "refuse" && batchOf(arrival, chain) !== undefined
  ).map(({ arrival }) => arrival);
}

/** The batch of an arrival, where it is one of this chain. */
function batchOf({ kind, bytes }: Arrival, chain: string): Batch | undefined {
  if (kind !== "signed" && kind !== "unsigned") return undefined;
  try {
    const batch = decodeBatch(bytes, kind === "signed");
    return batch.chain === chain ? batch : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
