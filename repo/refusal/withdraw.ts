/**
 * Withdrawing: the author takes back the end of a chain that cannot go on, and
 * writes it again in a new chain, without what was refused of it.
 *
 * Nobody else has the commits that are taken back, and the old chain never goes
 * on here, so nothing that looks like a fork can ever arise. The commits that
 * are written again keep clocks and payloads, except where a payload names a
 * commit that moved. The record of the withdrawal comes first and says how many
 * commits follow: a crash before the last of them takes all of it back.
 *
 * Architecture invariant: it undoes what was refused and nothing else
 * (law 11); what stays is the same as where the refused commits never were (law 4).
 *
 * @module
 */

import { compareHlc, type Hlc, nextHlc } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import { blankCell, type Cell, type Origin } from "../../src/schema/cell.ts";
import { equalValues } from "../../src/schema/json.ts";
import type { Item } from "../../src/schema/patch.ts";
import {
  changesIn,
  type DecodedPatch,
  decodePatch,
} from "../../src/schema/patch_codec.ts";
import { lateRich } from "../../src/schema/late_rich.ts";
import { rechainPayload, type Renaming } from "../../src/schema/rechain.ts";
import type { ItemChange } from "../../src/schema/source.ts";
import {
  type Batch,
  type BatchCommit,
  payloadOf,
  type Run,
} from "../commit/batch.ts";
import { stubOf } from "../commit/stubs.ts";
import { encodeHeader, type Position } from "../commit/commit.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import type { QueuedCommit } from "../write/commit_queue.ts";
import { recordKind } from "../log/format.ts";
import type { Others } from "../port.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { type Changes, publish, type State } from "../state/state.ts";
import type { Table } from "../state/table.ts";
import {
  gatherRemains,
  planWithdrawal,
  type Remains,
  type VoidCommit,
  type WithdrawalPlan,
} from "./withdraw_plan.ts";
import {
  type Cut,
  encodeWithdrawal,
  moved,
  type Withdrawal,
} from "./withdrawals.ts";
import type { Writer } from "../write/writer.ts";
import { getOrMake } from "../../src/base/collections.ts";

/** What taking commits back works with. */
export interface TakeBackParts {
  readonly loaded: LoadedReplica;
  readonly commits: CommitReader;
  /** Seals what stays of batches; absent where another log of the device has that. */
  readonly writer?: Pick<Writer, "appendPart">;
  /** Runs when the record is in the log: nothing behind it leaves before it is durable. */
  readonly fence?: () => void;
  /** Hears from which log address on commits are void. */
  readonly outdate?: (address: number) => void;
}

/** What a withdrawal works with. */
export interface WithdrawParts extends TakeBackParts {
  readonly writer: Writer;
}

/** The end of a chain. */
export interface WithdrawRequest {
  readonly chain: string;
  /** Number of the first commit that is taken back. */
  readonly from: number;
  readonly others?: Others | undefined;
  /** Is it for nothing but what was not refused of it? */
  readonly isForRest?: boolean;
}

/**
 * Takes back the end of a chain, and writes again what was not refused of it.
 * Answers what has to be told; `undefined` when there is nothing to take back.
 */
export function withdraw(
  parts: WithdrawParts,
  { chain, from, others, isForRest }: WithdrawRequest,
): (() => void) | undefined {
  const { loaded, commits, writer } = parts;
  writer.flush(); // What waits gets its place in the log first.
  if (loaded.graph.lengthOf(chain) <= from) return undefined;
  const own = writer.ownKeys();
  if (others !== "foreign") own.add(chain.slice(0, 32));
  const isOwn = (key: string) => own.has(key);
  const canSeal = (name: string) => writer.canSeal(name);
  const isFork = others !== undefined;
  const request = { chain, from, isOwn, canSeal, isFork };
  const plan = planWithdrawal(commits, loaded.genesisId, request);
  if (plan.voided.length === 0) return undefined;
  const isRefused = plan.voided.every((one) => one.isRefused);
  if (isForRest === true && isRefused) return undefined;
  const remains = gatherRemains(commits, loaded, plan);
  const withdrawing = new Withdrawing(parts, plan, isOwn);
  if (others === "fork") {
    loaded.withdrawals.replacements.add(withdrawing.chain);
  }
  return withdrawing.run(remains);
}

/** An item before and after. */
export interface Touched {
  readonly table: Table;
  readonly id: string;
  readonly before: Item | undefined;
}

/** Writes the record, and makes everything here what it is without what was taken back. */
export function takeBack(
  { loaded, commits, writer, fence, outdate }: TakeBackParts,
  withdrawal: Withdrawal,
  plan: WithdrawalPlan,
  { cells, idsBefore }: Remains,
): Touched[] {
  const { log, graph, withdrawals, state } = loaded;
  const parts = plan.parts.map(({ address, count }) => ({
    run: runOf(commits.withRefused(commits.batchAt(address), address), count),
    previousId: idsBefore.get(address),
  }));
  // Before the record: a crash between them leaves a batch that is known already.
  for (const { run, previousId } of parts) {
    if (previousId !== undefined) writer?.appendPart(run, previousId);
  }
  const body = encodeWithdrawal(withdrawal);
  const address = log.append(recordKind.withdrawal, [body]);
  fence?.();
  withdrawals.add(address, withdrawal);
  commits.withdrawn(withdrawal.cuts);
  graph.become(plan.graph);
  outdate?.(plan.address);
  return undo(state, cells);
}

/** Puts the touched items back to what stays. */
export function undo(state: State, cells: Remains["cells"]): Touched[] {
  const touched: Touched[] = [];
  for (const [collection, byId] of cells) {
    const table = state.find(collection);
    if (table === undefined) continue;
    for (const [id, cell] of byId) {
      const ordinal = table.ordinalOf(id);
      if (ordinal < 0) continue;
      touched.push({ table, id, before: table.itemAt(ordinal) });
      table.put(cell ?? blankCell(id, collection), ordinal);
    }
  }
  return touched;
}

/**
 * After a repair: takes back again what a record says that stood behind the
 * damage. The commits that it wrote again came in through the door already.
 */
export function withdrawAgain(
  parts: TakeBackParts,
  withdrawal: Withdrawal,
): void {
  const { loaded, commits } = parts;
  const [{ chain, from }] = withdrawal.cuts as [Cut];
  const request = { chain, from, isOwn: () => true, canSeal: () => true };
  const plan = planWithdrawal(commits, loaded.genesisId, request);
  const remains = gatherRemains(commits, loaded, plan);
  takeBack(parts, withdrawal, plan, remains);
}

/** One withdrawal under way. */
class Withdrawing {
  readonly #parts: WithdrawParts;
  readonly #plan: WithdrawalPlan;
  readonly #withdrawal: Withdrawal;
  readonly #kept: readonly VoidCommit[];
  /** Where what folds texts is not loaded, none was ever read. */
  readonly #lost = lateRich.isLoaded
    ? new lateRich.code.LostUnits()
    : undefined;
  readonly #renaming: Renaming;
  #batch: Batch | undefined;
  #batchAddress = -1;

  constructor(
    parts: WithdrawParts,
    plan: WithdrawalPlan,
    isOwn: (key: string) => boolean,
  ) {
    this.#parts = parts;
    this.#plan = plan;
    this.#kept = plan.voided.filter((one) =>
      !one.isRefused && isOwn(one.chain.slice(0, 32))
    );
    this.#withdrawal = {
      cuts: plan.cuts,
      // Or the next opening could take an older incarnation for the latest.
      closed: [...plan.graph.vector().keys()].filter((name) =>
        isOwn(name.slice(0, 32)) &&
        !parts.loaded.withdrawals.isClosed(name) &&
        !plan.cuts.some((cut) => cut.chain === name)
      ),
      chain: parts.writer.beginChain(),
      count: this.#kept.length,
    };
    this.#renaming = {
      stampOf: (stamp) => moved(stamp, this.#withdrawal),
      chains: plan.cuts.map((cut) => cut.chain),
      lost: this.#lost,
    };
  }

  /** The chain that it begins. */
  get chain(): string {
    return this.#withdrawal.chain;
  }

  run(remains: Remains): () => void {
    const touched = takeBack(
      this.#parts,
      this.#withdrawal,
      this.#plan,
      remains,
    );
    this.#writeAgain();
    this.#move();
    const changes = changesOf(touched);
    return () => publish(changes);
  }

  /** Writes what was not refused, in batches that stay sendable. */
  #writeAgain(): void {
    const { chain } = this.#withdrawal;
    const parents = new NewParents(this.#withdrawal.cuts);
    const kept = new Set(this.#kept);
    let group = new Group();
    let last: Hlc | undefined;
    for (const one of this.#plan.voided) {
      parents.follow(one);
      if (!kept.has(one)) {
        this.#lost?.add(changesIn(this.#payloadOf(one)));
        continue;
      }
      const stamp = last !== undefined && compareHlc(one, last) <= 0
        ? nextHlc(last, 0)
        : { wall: one.wall, count: one.count };
      last = stamp;
      const commit = this.#commit(one, stamp, chain, parents);
      if (!group.fits(commit)) {
        this.#append(group);
        group = new Group();
      }
      group.add(commit);
    }
    if (group.rewritten.length > 0) this.#append(group);
  }

  #commit(
    one: VoidCommit,
    { wall, count }: Hlc,
    chain: string,
    parents: NewParents,
  ): Rewritten {
    const payload = rechainPayload(this.#payloadOf(one), this.#renaming);
    const patch = decodePatch(payload);
    const header = { wall, count, parents: parents.take() };
    const origin: Origin = { wall, count, chain, operationsAt: -1 };
    const { operationsOffset } = patch;
    this.#parts.loaded.graph.add(chain, header);
    return {
      patch,
      commit: {
        header: encodeHeader(header),
        payload,
        payloadAt: -1,
        operationsOffset,
        origin,
      },
    };
  }

  #payloadOf({ address, number }: VoidCommit): Uint8Array {
    if (this.#batch === undefined || this.#batchAddress !== address) {
      this.#batch = this.#parts.commits.batchAt(address);
      this.#batchAddress = address;
    }
    return payloadOf(
      this.#batch,
      this.#batch.commits[number - this.#batch.first]!,
    );
  }

  #append({ rewritten }: Group): void {
    const { writer, loaded } = this.#parts;
    writer.appendBatch(rewritten.map(({ commit }) => commit));
    for (const { commit, patch } of rewritten) {
      loaded.state.fold(patch, commit.origin);
    }
  }

  /** Tells places where their commits are now. */
  #move(): void {
    const { cuts, chain } = this.#withdrawal;
    const numbers = new Map(this.#kept.map((one, i) => [one, i]));
    for (const cut of cuts) {
      this.#parts.writer.moves.note(cut.chain, {
        from: cut.from,
        chain,
        numbers: this.#plan.voided
          .filter((one) => one.chain === cut.chain)
          .map((one) => numbers.get(one)),
      });
    }
  }
}

interface Rewritten {
  readonly commit: QueuedCommit;
  readonly patch: DecodedPatch;
}

/** Commits that become one batch. */
class Group {
  readonly rewritten: Rewritten[] = [];
  #bytes = 0;

  fits({ commit }: Rewritten): boolean {
    const { length } = this.rewritten;
    return length === 0 || length < limits.batchCommitsMax &&
        this.#bytes + commit.payload.length <= limits.batchBytesSoft;
  }

  add(rewritten: Rewritten): void {
    this.rewritten.push(rewritten);
    this.#bytes += rewritten.commit.payload.length;
  }
}

/** The first commits of a batch, as they were written. */
function runOf(batch: Batch, count: number): Run {
  const { bytes, chain, first } = batch;
  const prepared = (commit: BatchCommit) => ({
    header: bytes.subarray(commit.at, commit.headerEnd),
    payload: commit.isVoid ? stubOf(batch, commit) : payloadOf(batch, commit),
    payloadAt: -1,
  });
  const commits = batch.commits.slice(0, count).map(prepared);
  return { chain, first, commits };
}

/** Tells what became of items. */
export function tellTouched(touched: readonly Touched[]): void {
  publish(changesOf(touched));
}

/** What became of the items, one change for each that is another one now. */
function changesOf(touched: readonly Touched[]): Changes {
  const changes: Changes = new Map<Table, ItemChange[]>();
  for (const { table, id, before } of touched) {
    const ordinal = table.ordinalOf(id);
    const after = keepSame(table, ordinal, before);
    if (after === before) continue;
    getOrMake(changes, table, () => []).push({ ordinal, before, after });
  }
  return changes;
}

/** An item that is what it was stays the same object: nobody needs to look at it again. */
function keepSame(
  table: Table,
  ordinal: number,
  before: Item | undefined,
): Item | undefined {
  const after = table.itemAt(ordinal);
  if (before === undefined || after === undefined) return after;
  const isSame = equalValues(before, after) &&
    JSON.stringify(before) === JSON.stringify(after);
  if (!isSame) return after;
  const cell: Cell = { ...table.cellAt(ordinal), item: before };
  table.put(cell, ordinal);
  return before;
}

/** Gathers the parents of the next commit of the new chain. */
export class NewParents {
  readonly #cuts: ReadonlyMap<string, number>;
  /** The end of a cut chain that stays: it is named first. */
  readonly #ends = new Map<string, number>();
  readonly #named = new Map<string, number>();
  #last: readonly string[] = [];

  /** @param cuts which commits are no parents any more */
  constructor(cuts: readonly Cut[]) {
    this.#cuts = new Map(cuts.map(({ chain, from }) => [chain, from]));
  }

  /** The next commit in order, refused ones included. */
  follow({ chain, number, parents }: VoidCommit): void {
    if (number === this.#cuts.get(chain) && number > 0) {
      this.#ends.set(chain, number - 1);
    }
    const last: string[] = [];
    for (const parent of parents) {
      if (parent.number >= (this.#cuts.get(parent.chain) ?? Infinity)) continue;
      const known = this.#named.get(parent.chain) ?? -1;
      this.#named.set(parent.chain, Math.max(known, parent.number));
      last.push(parent.chain);
    }
    this.#last = last;
  }

  /**
   * The parents of the commit that was followed last, in order of chain. Where
   * they are too many, the others are left for the next commit.
   */
  take(): readonly Position[] {
    const parents: Position[] = [];
    const take = (from: Map<string, number>, chain: string) => {
      const number = from.get(chain);
      const isRoom = parents.length < limits.parentsMax;
      if (number === undefined || !isRoom) return;
      from.delete(chain);
      const known = parents.findIndex((parent) => parent.chain === chain);
      if (known < 0) parents.push({ chain, number });
      else if (parents[known]!.number < number) {
        parents[known] = { chain, number };
      }
    };
    for (const chain of [...this.#ends.keys()]) take(this.#ends, chain);
    for (const chain of this.#last) take(this.#named, chain);
    for (const chain of [...this.#named.keys()].sort()) {
      take(this.#named, chain);
    }
    return parents.sort((a, b) => a.chain < b.chain ? -1 : 1);
  }
}
