/**
 * Refusing: own commits that the server does not take are void from now on, and
 * their chain goes on: others get stubs in their place, under the same seals.
 *
 * The record comes first, with reasons; the items that they touched are folded
 * anew from what is left.
 *
 * Architecture invariant: a refusal undoes what was refused and nothing else
 * (law 11); what stays is the same as where the refused commits never were (law 4).
 *
 * @module
 */

import type { SessionSigner } from "../../crypto/ed25519.ts";
import { concatBytes } from "../../src/base/bytes.ts";
import { getOrMake } from "../../src/base/collections.ts";
import { decodePatch } from "../../src/schema/patch_codec.ts";
import { payloadOf } from "../commit/batch.ts";
import { chainBytes } from "../commit/commit.ts";
import { voidLayout, type VoidRange } from "../commit/void.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import { isSilent } from "../history/known_commits.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { recordKind } from "../log/format.ts";
import type { RefusedCommit } from "../port.ts";
import type { State } from "../state/state.ts";
import { type TakeBackParts, tellTouched, undo } from "./withdraw.ts";
import { Refold } from "./withdraw_plan.ts";
import { encodeRefusal, GIVEN_UP, type RefusedRecord } from "./withdrawals.ts";

/** What refused commits leave to be done. */
export interface Refusing {
  /** Tells listeners. */
  readonly tell: () => void;
  /** Which commits are void that were not. */
  readonly numbers: readonly number[];
  /** The first of them that brought units of a text: what was typed behind these has to be written again. */
  readonly typedFrom: number | undefined;
}

/**
 * Makes commits of a chain void; `undefined` when all of them are, or none of
 * them is here.
 *
 * @param signer gives them up: before they are refused here, or a crash between
 *   the records would leave stubs that nobody takes
 */
export function refuse(
  { loaded, commits, fence, outdate }: TakeBackParts,
  chain: string,
  refused: readonly RefusedCommit[],
  signer?: SessionSigner,
): Refusing | undefined {
  const { log, withdrawals, state } = loaded;
  const found = new Found(loaded, commits, chain);
  for (const one of refused) found.take(one);
  const { records, touched, typedFrom } = found;
  if (records.length === 0) return undefined;
  const numbers = records.map(({ number }) => number);
  if (signer !== undefined) giveUp(loaded, chain, numbers, signer);
  const refusal = { chain, refused: records };
  const at = log.append(recordKind.refusal, [encodeRefusal(refusal)]);
  fence?.();
  withdrawals.refuse(at, refusal);
  commits.refused();
  outdate?.(Math.min(...records.map(({ address }) => address)));
  const changed = undo(state, refolded(touched, state, commits));
  return { tell: () => tellTouched(changed), numbers, typedFrom };
}

/** Items folded anew: each from what touched it, where that is known, else in one pass over the log. */
function refolded(
  touched: ReadonlyMap<string, ReadonlySet<string>>,
  state: State,
  commits: CommitReader,
): Refold["cells"] {
  const { touches } = commits;
  const items = new Refold(touched, state);
  if (touches === undefined) {
    if (touched.size > 0) commits.each((logged) => items.take(logged));
    return items.cells;
  }
  for (const [collection, cells] of items.cells) {
    const { view } = state.find(collection)!;
    for (const id of cells.keys()) {
      cells.set(id, touches.cellOf({ collection, id }, view, () => true));
    }
  }
  return items.cells;
}

/** The author's word that commits of its chain are given up: others take stubs in their place by that. */
function giveUp(
  { genesisId, credentials: { voids }, log, mode }: Pick<
    LoadedReplica,
    "genesisId" | "credentials" | "log" | "mode"
  >,
  chain: string,
  numbers: readonly number[],
  signer: SessionSigner,
): void {
  if (mode !== "default") return;
  const ranges = rangesOf(
    numbers.filter((number) => !voids.covers(chain, number)),
  );
  if (ranges.length === 0) return;
  const said = { genesisId, chain: chainBytes(chain), ranges };
  const { unsigned, message } = voidLayout.begin(said, signer.publicKey);
  const add = (signature: Uint8Array) =>
    voids.add(voidLayout.decode(concatBytes(unsigned, signature)));
  const signature = signer.sign(message);
  if (signature instanceof Uint8Array) {
    log.append(recordKind.void, [unsigned, signature]);
    return add(signature);
  }
  log.append(recordKind.void, [unsigned], signature);
  signature.then(add, () => {}); // The log has failed then, and says so.
}

function rangesOf(numbers: readonly number[]): VoidRange[] {
  const ranges: { first: number; count: number }[] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last.first + last.count === number) last.count++;
    else ranges.push({ first: number, count: 1 });
  }
  return ranges;
}

/** Commits that are refused, as they stand in the log. */
class Found {
  readonly records: RefusedRecord[] = [];
  /** Ids of items by collection. */
  readonly touched = new Map<string, Set<string>>();
  typedFrom: number | undefined;
  readonly #loaded: LoadedReplica;
  readonly #commits: CommitReader;
  readonly #chain: string;

  constructor(loaded: LoadedReplica, commits: CommitReader, chain: string) {
    this.#loaded = loaded;
    this.#commits = commits;
    this.#chain = chain;
  }

  take(refused: RefusedCommit): void {
    const { number } = refused;
    const chain = this.#chain;
    if (number >= this.#loaded.graph.lengthOf(chain)) return;
    const found = this.#commits.read(chain, number);
    if (found === undefined || isSilent(this.#commits, chain, number)) return;
    const { logged: { batch, address }, commit } = found;
    const { wall, count } = commit;
    const { operations } = decodePatch(payloadOf(batch, commit));
    for (const operation of operations) {
      const { id, shape: { collection } } = operation;
      getOrMake(this.touched, collection, () => new Set()).add(id);
      const isTyped = operation.what === "update" &&
        operation.changes.some(({ change }) => change.what === "edit");
      if (isTyped) this.typedFrom ??= number;
    }
    // Of one that says nothing there is nothing to retry.
    const reason = operations.length === 0 ? GIVEN_UP : refused.reason;
    this.records.push({ ...refused, reason, wall, count, address });
  }
}
