/**
 * Reissuing: own commits that cannot go on under their names are written again,
 * as new ones that are dated now.
 *
 * The record that settles each stands before its commit: a crash takes both,
 * and the next opening writes it again. No rule is asked here and no step of
 * undo made: it was allowed once, and the server judges it like any other.
 *
 * Architecture invariant: nothing that its author wrote is lost, and nothing
 * written twice (law 11).
 */

import { compareStamps, type Stamp } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import { withoutBlank } from "../../src/schema/erasure.ts";
import { lateRich } from "../../src/schema/late_rich.ts";
import type { LostUnits } from "../../src/schema/lost_units.ts";
import {
  type DecodedPatch,
  decodePatch,
} from "../../src/schema/patch_codec.ts";
import { changesIn } from "../../src/schema/patch_parts.ts";
import { rechainOperation, type Renaming } from "../../src/schema/rechain.ts";
import { type Batch, payloadOf } from "../commit/batch.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { isOf } from "../redaction/erased.ts";
import type { Transaction } from "../write/transaction.ts";
import type { Writer } from "../write/writer.ts";
import { type Refused, resolveIn } from "./void_commits.ts";

export function reissue(
  loaded: LoadedReplica,
  writer: Pick<Writer, "flush" | "transact">,
  pending: readonly Refused[],
): void {
  const lost = new LostLately(loaded);
  const payloads = new Payloads(loaded.commits);
  const ordered = pending.toSorted(compareStamps);
  for (let i = 0; i < ordered.length; i += limits.reissuedTogetherMax) {
    writer.flush(); // What waits gets its place in the log first.
    for (const one of ordered.slice(i, i + limits.reissuedTogetherMax)) {
      const payload = payloads.of(one);
      const patch = decodePatch(payload);
      const unchecked = () => {}; // Also while it closes.
      writer.transact(
        (tx) => {
          putAgain(tx, loaded, patch, one, lost.before(payload));
          settle(tx, loaded, one);
        },
        unchecked,
        true,
      );
    }
    writer.flush();
  }
}

/** The record stands before the commit that is under way, whenever that gets there; none comes where nothing is left. */
function settle(
  { operations, origin: { chain, wall, count } }: Transaction,
  loaded: LoadedReplica,
  one: Refused,
): void {
  const number = loaded.graph.lengthOf(chain);
  const retried = operations === 0 ? undefined : { chain, number, wall, count };
  const { chain: of, number: refused } = one;
  resolveIn(loaded, { chain: of, number: refused, retried });
}

/** Puts into a transaction what a commit said and was not erased, by the names that it goes by now. */
export function putAgain(
  tx: Transaction,
  { items, voided, credentials: { redactions } }: LoadedReplica,
  { operations }: DecodedPatch,
  { wall, count, chain }: Stamp,
  lost?: LostUnits,
): void {
  const old = { wall, count, chain };
  const renaming: Renaming = {
    stampOf: (stamp) =>
      compareStamps(stamp, old) === 0 ? tx.origin : voided.stampOf(stamp),
    chains: voided.moved,
    lost,
  };
  const isMeant = isOf(redactions.items());
  for (const operation of operations) {
    const left = isMeant(operation) ? withoutBlank(operation) : operation;
    if (left === undefined) continue;
    const renamed = rechainOperation(left, renaming);
    const table = items.state.table(operation.shape.collection);
    tx.put(table, renamed, tx.cellOf(table, operation.id));
  }
}

/** What refused commits said, cut or not: their records tell where they stand. */
class Payloads {
  readonly #commits: CommitReader;
  /** The last batch that was read: neighbours follow each other. */
  #batch: Batch | undefined;
  #address = -1;

  constructor(commits: CommitReader) {
    this.#commits = commits;
  }

  of({ address, number }: Pick<Refused, "address" | "number">): Uint8Array {
    if (this.#batch === undefined || this.#address !== address) {
      this.#batch = this.#commits.batchAt(address);
      this.#address = address;
    }
    const { commits, first } = this.#batch;
    return payloadOf(this.#batch, commits[number - first]!);
  }
}

/** Units of texts that refused commits brought. */
export function lostUnits({ voided, commits }: LoadedReplica): LostUnits {
  const lost = new lateRich.code.LostUnits();
  const payloads = new Payloads(commits);
  for (const one of voided.lost()) lost.add(changesIn(payloads.of(one)));
  return lost;
}

/** The same, read when the first text is to be written again. */
class LostLately {
  readonly #loaded: LoadedReplica;
  #lost: LostUnits | undefined;

  constructor(loaded: LoadedReplica) {
    this.#loaded = loaded;
  }

  before(payload: Uint8Array): LostUnits | undefined {
    const isTyped = changesIn(payload).some(({ change }) =>
      change.what === "edit"
    );
    if (!isTyped) return undefined;
    return this.#lost ??= lostUnits(this.#loaded);
  }
}
