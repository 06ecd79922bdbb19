/**
 * Carrying redactions out: what they mean is taken out of the log, and of all
 * that was made of it.
 *
 * First the record is durable, then a note of what is to stand where, then the log
 * is overwritten in place, items are folded anew, a checkpoint without it takes
 * the place of those that have it, and a note says that it is done. A crash in
 * between leaves a record without such a note, and the next opening does all of
 * it once more, without the checkpoint.
 *
 * Architecture invariant: nothing else changes, no address moves, and what is
 * erased stands in no file when it is noted as done.
 */

import { sha256 } from "../../crypto/sha256.ts";
import { decodePatch } from "../../src/schema/patch_codec.ts";
import { erase } from "../../src/schema/erasure.ts";
import { isErased, isStub } from "../../src/schema/stub.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type Batch, batchHead, batchIn } from "../commit/batch.ts";
import { withPayloads } from "../commit/batch_parts.ts";
import type { Position } from "../commit/commit.ts";
import {
  decodeErasure,
  encodeErasure,
  type ErasedCommit,
} from "../commit/redaction.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { isBatch, QUARANTINE, recordKind } from "../log/format.ts";
import { foldAnew, Touched } from "../refusal/refold.ts";
import { type Refused, resolveIn } from "../refusal/void_commits.ts";
import { eraseSalvaged } from "../repair/salvage_make.ts";
import type { ItemName, ViewOf } from "../state/state.ts";
import { erasedChains, isOf, leftOf } from "./erased.ts";
import {
  type Edit,
  editsOf,
  endRewriting,
  noteRewriting,
} from "./rewriting.ts";

export interface CarryOutParts {
  readonly storage: Storage;
  readonly loaded: LoadedReplica;
  readonly viewOf: ViewOf;
  readonly flush: () => void;
  /** Runs with no checkpoint being written; then those that there are give way to a new one. */
  readonly withoutCheckpoint: (run: () => Promise<void>) => Promise<void>;
  /** What was read of the log is not so any more; then tells listeners. */
  readonly changed: (tell: () => void) => void;
  readonly forget: (items: readonly ItemName[]) => Promise<void>;
  /** What is to be erased on this device alone: nobody else has it. */
  readonly here?: readonly ItemName[];
}

/** Carries out what is known; resolves when nothing is left of it. */
export async function carryOut(parts: CarryOutParts): Promise<void> {
  const { storage, loaded, forget } = parts;
  const { log, folder, credentials: { redactions } } = loaded;
  let size: number;
  do {
    size = redactions.size;
    parts.flush();
    await log.sync();
    await parts.withoutCheckpoint(async () => {
      const items = [...redactions.items(), ...parts.here ?? []];
      await eraseSalvaged(storage, loaded, items, parts.viewOf);
      await eraseInLog(parts, items);
      removeQuarantine(storage, folder);
      await forget(items);
    });
  } while (redactions.size > size);
  log.append(recordKind.erasure, [encodeErasure({ isDone: true, chains: [] })]);
  redactions.carriedOut();
  await log.sync();
}

interface Plan {
  readonly edits: Edit[];
  readonly touched: Touched;
  /** Commits that no redaction means: nobody else knows what they were. */
  readonly here: (Position & Omit<ErasedCommit, "number">)[];
}

async function eraseInLog(
  parts: CarryOutParts,
  meant: readonly ItemName[],
): Promise<void> {
  const { storage, loaded } = parts;
  const { log, commits, folder, items, credentials: { redactions } } = loaded;
  const plan = planOf(loaded, parts.here ?? []);
  // What was salvaged shows in the state, and in no record.
  if (loaded.salvage !== undefined) {
    for (const { collection, id } of meant) plan.touched.take(collection, id);
  }
  if (plan.edits.length === 0 && loaded.salvage === undefined) return;
  if (plan.here.length > 0) {
    const chains = erasedChains(plan.here);
    const bytes = encodeErasure({ isDone: false, chains });
    log.append(recordKind.erasure, [bytes]);
    redactions.note(decodeErasure(bytes));
    await log.sync();
  }
  await noteRewriting(storage, folder, plan.edits);
  const written = log.rewrite(plan.edits);
  for (const { address, bytes } of plan.edits) {
    for (const one of new Set([loaded.checkpoint, items.base])) {
      one?.log.rewritten(address, bytes.length);
    }
  }
  commits.rewritten();
  const also = () => loaded.salvage?.apply(items.state, isOf(meant));
  parts.changed(foldAnew(plan.touched, loaded, also));
  discardRefused(loaded, plan);
  await written;
  endRewriting(storage, folder);
}

function planOf(
  { log, commits, voided, credentials: { redactions } }: LoadedReplica,
  here: readonly ItemName[],
): Plan {
  const plan: Plan = { edits: [], touched: new Touched(), here: [] };
  const isMeant = isOf([...redactions.items(), ...here]);
  const isMeantHere = isOf(here);
  log.records(0, log.synced, (kind, body, address) => {
    if (!isBatch(kind)) return;
    const { chain, first } = batchHead(body);
    const isCut = commits.isCut(chain, first, address);
    const isLookedAt = here.length > 0 || isCut || redactions.means(chain) ||
      voided.hasRefused(chain);
    if (!isLookedAt) return;
    const batch = batchIn(kind, body)!;
    const payloads = new Map<number, Uint8Array>();
    for (const [i, { payloadAt, end }] of batch.commits.entries()) {
      const payload = body.subarray(payloadAt, end);
      const number = first + i;
      let left = leftOf(redactions, { chain, number }, payload) ?? payload;
      if (left === payload && !isStub(payload)) {
        const isRefused = voided.wasRefused(chain, number, address);
        const isGone = isCut || isRefused;
        left = erase(payload, isGone ? isMeant : isMeantHere) ?? payload;
        const was = isErased(payload)
          ? redactions.hashOf(chain, number)
          : sha256(payload);
        if (!isCut && left !== payload && was !== undefined) {
          plan.here.push({ chain, number, was, is: sha256(left) });
        }
      }
      if (left === payload) continue;
      payloads.set(i, left);
      plan.touched.add(decodePatch(left).operations.filter(isMeant));
    }
    plan.edits.push(...editsFor(log, batch, address, payloads));
  });
  return plan;
}

function editsFor(
  log: LoadedReplica["log"],
  batch: Batch,
  address: number,
  payloads: ReadonlyMap<number, Uint8Array>,
): Edit[] {
  if (payloads.size === 0) return [];
  const { bytes } = withPayloads(batch, payloads);
  return editsOf(log, address, batch.bytes, bytes);
}

/** Of what is erased there is nothing to try again. */
function discardRefused(
  loaded: LoadedReplica,
  { here }: Plan,
): void {
  const isErased = ({ chain, number }: Refused) =>
    here.some((one) => one.chain === chain && one.number === number);
  for (const { chain, number } of loaded.voided.refused.filter(isErased)) {
    resolveIn(loaded, { chain, number, retried: undefined });
  }
}

/** Damaged bytes of a log that were set aside: nobody can tell what they say. */
function removeQuarantine(storage: Storage, folder: string): void {
  const names = storage.list(folder).filter((name) =>
    name.startsWith(QUARANTINE)
  );
  for (const name of names) storage.remove(`${folder}/${name}`);
  if (names.length > 0) storage.syncFolder(folder);
}
