/**
 * A withdrawal that the owner of this device's files made, done again in a tab.
 *
 * What the owner had is taken back as the owner took it back, and its commits
 * that were written again come as records of their own. What only this tab had
 * descends from what is gone: it is written again here, as new commits, when
 * those records have come.
 *
 * Architecture invariant: a refusal undoes what was refused and nothing else
 * (law 11).
 *
 * @module
 */

import { compareStamps, hlcZero, type Stamp } from "../../src/base/hlc.ts";
import {
  type DecodedPatch,
  decodePatch,
} from "../../src/schema/patch_codec.ts";
import { rechainOperation, type Renaming } from "../../src/schema/rechain.ts";
import { payloadOf } from "../commit/batch.ts";
import type { CommitPlace, Move } from "../graph/commit_place.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import type { Transaction } from "../write/transaction.ts";
import { takeBack, tellTouched } from "./withdraw.ts";
import {
  gatherRemains,
  planWithdrawal,
  type VoidCommit,
  type WithdrawalPlan,
} from "./withdraw_plan.ts";
import type { Cut, Withdrawal } from "./withdrawals.ts";

/** What it works with. */
export interface ToldParts {
  readonly loaded: LoadedReplica;
  readonly commits: CommitReader;
  /** Notes where commits went. */
  readonly note: (chain: string, move: Move) => void;
  /** Keys that signed on this device, as the first 32 characters of their chains' names. */
  readonly ownKeys: ReadonlySet<string>;
  /** Number of the first commit of a chain that only this tab has; `Infinity` where there is none. */
  readonly ownFrom: (chain: string) => number;
  /** The chain does not go on: nothing more of it is given to anybody. */
  readonly drop: (chain: string) => void;
}

/** A commit of this tab that has to be written again. */
export interface LostCommit extends Stamp {
  readonly number: number;
  readonly patch: DecodedPatch;
}

/** What a withdrawal leaves to be done. */
export interface Told {
  /** Once this chain has so many commits … */
  readonly chain: string;
  readonly count: number;
  /** … these are written again, in order. */
  readonly lost: readonly LostCommit[];
}

/** Takes back what a withdrawal says; telling listeners is left to the caller. */
export function withdrawAsTold(
  parts: ToldParts,
  withdrawal: Withdrawal,
): { told: Told; tell: () => void } | undefined {
  const { loaded, commits, ownFrom, drop } = parts;
  const plan = planOf(parts, withdrawal);
  if (plan.voided.length === 0 && isKnown(loaded, withdrawal)) return undefined;
  const isLost = ({ chain, number, isRefused }: VoidCommit) =>
    number >= ownFrom(chain) && !isRefused;
  const lost = plan.voided.filter(isLost).map((one) => lostOf(parts, one));
  const remains = gatherRemains(commits, loaded, plan);
  noteMoves(parts, withdrawal, plan, isLost);
  const cuts = plan.cuts.map((cut) =>
    withdrawal.cuts.find(({ chain }) => chain === cut.chain) ?? cut
  );
  const touched = takeBack(
    { loaded, commits },
    { ...withdrawal, cuts },
    plan,
    remains,
  );
  for (const { chain } of cuts) drop(chain);
  for (const chain of withdrawal.closed) drop(chain);
  const { chain, count } = withdrawal;
  return { told: { chain, count, lost }, tell: () => tellTouched(touched) };
}

function isKnown(
  { withdrawals }: LoadedReplica,
  { chain }: Withdrawal,
): boolean {
  return withdrawals.logged.some((one) => one.withdrawal.chain === chain);
}

/** The owner's own plan, and what descends from it here; a closed chain ends where the owner has it. */
function planOf(
  { loaded, commits, ownFrom }: ToldParts,
  { cuts: told, closed }: Withdrawal,
): WithdrawalPlan {
  const [{ chain, from }] = told as readonly [Cut, ...Cut[]];
  const always = () => true;
  const ended = closed.map((chain) => ({
    chain,
    from: ownFrom(chain),
    after: hlcZero,
  }));
  const cuts = [...told, ...ended.filter((cut) => cut.from < Infinity)];
  const request = { chain, from, cuts, isOwn: always, canSeal: always };
  return planWithdrawal(commits, loaded.genesisId, request);
}

function lostOf(
  { commits }: ToldParts,
  { chain, number, wall, count, address }: VoidCommit,
): LostCommit {
  const batch = commits.batchAt(address);
  const commit = batch.commits[number - batch.first]!;
  const patch = decodePatch(payloadOf(batch, commit));
  return { chain, number, wall, count, patch };
}

/** Own commits that the owner had are in its new chain, in the order of their clocks, or refused. */
function noteMoves(
  { note, ownKeys }: ToldParts,
  { cuts, chain }: Withdrawal,
  { voided }: WithdrawalPlan,
  isLost: (one: VoidCommit) => boolean,
): void {
  const had = voided.filter((one) => !isLost(one));
  const kept = had.filter((one) =>
    ownKeys.has(one.chain.slice(0, 32)) && !one.isRefused
  );
  const numbers = new Map(kept.map((one, i) => [one, i]));
  for (const cut of cuts) {
    const own = had.filter((one) => one.chain === cut.chain);
    const moved = own.map((one) => numbers.get(one));
    note(cut.chain, { from: cut.from, chain, numbers: moved });
  }
}

/** Writes commits again, as new ones. */
export function writeLost(
  lost: readonly LostCommit[],
  { loaded, note }: Pick<ToldParts, "loaded" | "note">,
  write: (
    run: (transaction: Transaction) => void,
  ) => CommitPlace | undefined,
): void {
  const stamps: { readonly old: Stamp; readonly now: Stamp }[] = [];
  const renaming: Renaming = {
    stampOf: (stamp) =>
      stamps.find(({ old }) => compareStamps(stamp, old) === 0)?.now ??
        loaded.withdrawals.stampOf(stamp),
    chains: [...loaded.withdrawals.moved, ...lost.map(({ chain }) => chain)],
  };
  for (const one of lost) {
    const place = write((tx) => {
      stamps.push({ old: one, now: tx.origin });
      for (const operation of one.patch.operations) {
        const renamed = rechainOperation(operation, renaming);
        const table = loaded.state.table(operation.shape.collection);
        tx.put(table, renamed, tx.cellOf(table, operation.id));
      }
    });
    note(one.chain, {
      from: one.number,
      chain: place?.chain ?? "",
      numbers: [place?.number],
    });
  }
}
