/**
 * Refusing: own commits that the server does not take are void from now on, and
 * their chain goes on: others get stubs in their place, under the same seals.
 *
 * The record comes first, with reasons; the items that they touched are folded
 * anew from what is left. What was typed behind refused units of a text nobody
 * would take: it is void as well, and waits to be written again (`reissue.ts`).
 *
 * Architecture invariant: a refusal undoes what was refused and nothing else
 * (law 11); what stays is the same as where the refused commits never were (law 4).
 */

import type { SessionSigner } from "../../crypto/keys.ts";
import { concatBytes } from "../../src/base/bytes.ts";
import { getOrMake } from "../../src/base/collections.ts";
import type { Operation } from "../../src/schema/patch.ts";
import { decodePatch } from "../../src/schema/patch_codec.ts";
import { changesIn } from "../../src/schema/patch_parts.ts";
import { lateRich } from "../../src/schema/late_rich.ts";
import type { LostUnits } from "../../src/schema/lost_units.ts";
import { payloadOf } from "../commit/batch.ts";
import { chainBytes } from "../commit/commit.ts";
import { voidLayout, type VoidRange } from "../commit/void.ts";
import { isSilent } from "../history/known_commits.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { RECORD_HEADER_BYTES, recordKind } from "../log/format.ts";
import {
  type Cut,
  encodeRefusal,
  GIVEN_UP,
  type RefusedCommit,
  type RefusedRecord,
  REISSUED,
} from "./void_commits.ts";
import type { VoidParts } from "./cut.ts";
import { foldAnew, Touched } from "./refold.ts";
import { lostUnits } from "./reissue.ts";

export interface Refuser {
  readonly signer: SessionSigner;
  /** Is it a key of ours? As the first 32 characters of its chains' names. */
  readonly isOwn: (key: string) => boolean;
  /** Can commits of this chain be given up here? */
  readonly canSeal: (chain: string) => boolean;
}

export interface Refusing {
  readonly tell: () => void;
  /** Of chains of old keys nobody can give up commits: their ends are to be cut. */
  readonly stuck: readonly Cut[];
}

/**
 * Makes commits of a chain void; `undefined` when all of them are, or none of
 * them is here.
 *
 * @param refuser gives them up: before they are refused here, or a crash between
 *   the records would leave stubs that nobody takes. Where another replica of
 *   the device has done so, there is none
 */
export function refuse(
  { loaded, fence, outdate }: VoidParts,
  chain: string,
  refused: readonly RefusedCommit[],
  refuser?: Refuser,
): Refusing | undefined {
  const { log, graph, commits, voided, credentials: { voids } } = loaded;
  const found = new Found(loaded);
  const isOwn = refuser?.isOwn(chain.slice(0, 32)) === true;
  for (const one of refused) found.take(chain, one, isOwn);
  if (found.records.size === 0) return undefined;
  if (isOwn) found.takeBehind(refuser.isOwn);
  const { records, touched } = found;
  const stuck: Cut[] = [];
  for (const [chain, refused] of records) {
    const numbers = refused.map(({ number }) => number);
    if (refuser?.canSeal(chain)) giveUp(loaded, chain, numbers, refuser.signer);
    else if (refuser && !numbers.every((one) => voids.covers(chain, one))) {
      stuck.push({ chain, from: Math.min(...numbers) });
    }
  }
  for (const [chain, refused] of records) {
    const refusal = { chain, refused };
    const at = log.append(recordKind.refusal, [encodeRefusal(refusal)]);
    voided.refuse(at, refusal);
    graph.setVoid(chain, refused.map(({ number }) => number));
  }
  fence?.();
  commits.refused();
  const all = [...records.values()].flat();
  outdate?.(Math.min(...all.map(({ address }) => address)));
  return { tell: foldAnew(touched, loaded), stuck };
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
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last.first + last.count === number) last.count++;
    else ranges.push({ first: number, count: 1 });
  }
  return ranges;
}

const BEHIND: Omit<RefusedCommit, "number"> = {
  reason: REISSUED,
  rule: "",
  detail: "",
  kept: false,
};

/** Commits that are refused, as they stand in the log. */
class Found {
  /** By chain. */
  readonly records = new Map<string, RefusedRecord[]>();
  readonly touched = new Touched();
  readonly #loaded: LoadedReplica;
  /** Units of texts that the refused ones brought … */
  #lost: LostUnits | undefined;
  /** … and the address of the first batch of them. */
  #typedAt = Infinity;
  /** Units that earlier refusals took. */
  #lostBefore: LostUnits | undefined;

  constructor(loaded: LoadedReplica) {
    this.#loaded = loaded;
  }

  take(chain: string, refused: RefusedCommit, isOwn: boolean): void {
    const { number } = refused;
    const { graph, commits } = this.#loaded;
    if (number >= graph.lengthOf(chain)) return;
    const found = commits.read(chain, number);
    if (found === undefined || isSilent(commits, chain, number)) return;
    const { logged: { batch, address }, commit } = found;
    const payload = payloadOf(batch, commit);
    const { operations } = decodePatch(payload);
    const { wall, count } = commit;
    const at = { number, wall, count, address };
    const isTyped = operations.some(edits);
    if (isTyped && isOwn && this.#isBehindLost(refused, payload)) {
      return this.#add(chain, { ...at, ...BEHIND }, operations);
    }
    if (isTyped && isOwn) {
      this.#lost ??= new lateRich.code.LostUnits();
      this.#lost.add(changesIn(payload));
      this.#typedAt = Math.min(this.#typedAt, address);
    }
    // Of one that says nothing there is nothing to retry.
    const reason = operations.length === 0 ? GIVEN_UP : refused.reason;
    this.#add(chain, { ...refused, ...at, reason }, operations);
  }

  /** Is it not known only since another refusal took units before it? */
  #isBehindLost({ reason }: RefusedCommit, payload: Uint8Array): boolean {
    if (reason !== "unknown-name") return false;
    this.#lostBefore ??= lostUnits(this.#loaded);
    return this.#lostBefore.arePassed(changesIn(payload));
  }

  /** Takes what was typed behind the units that are lost now. */
  takeBehind(isOwn: (key: string) => boolean): void {
    const lost = this.#lost;
    const { voided, commits: reader } = this.#loaded;
    if (lost === undefined) return;
    const taken = new Map(
      Array.from(
        this.records,
        ([chain, refused]) => [
          chain,
          new Set(refused.map(({ number }) => number)),
        ],
      ),
    );
    reader.each(({ batch, address, from }) => {
      const { chain, first, commits } = batch;
      // What is here of a chain that was cut came back as a server has it, or is refused in its turn.
      if (!isOwn(chain.slice(0, 32)) || voided.isEnded(chain)) return;
      for (let i = from; i < commits.length; i++) {
        const { wall, count, isVoid } = commits[i]!;
        const number = first + i;
        if (isVoid || taken.get(chain)?.has(number)) continue;
        const payload = payloadOf(batch, commits[i]!);
        const { operations } = decodePatch(payload);
        if (!operations.some(edits)) continue;
        if (!lost.arePassed(changesIn(payload))) continue;
        const at = { number, wall, count, address };
        this.#add(chain, { ...at, ...BEHIND }, operations);
      }
    }, this.#typedAt - RECORD_HEADER_BYTES);
  }

  #add(
    chain: string,
    record: RefusedRecord,
    operations: readonly Operation[],
  ): void {
    getOrMake(this.records, chain, () => []).push(record);
    this.touched.add(operations);
  }
}

function edits(operation: Operation): boolean {
  return operation.what === "update" &&
    operation.changes.some(({ change }) => change.what === "edit");
}
