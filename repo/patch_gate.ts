/**
 * What a gate has decoded of a batch before it knows more of it: no more than
 * there is room for.
 *
 * Decoded, a patch takes a multiple of its bytes. A batch that honest writers
 * gather is small; a commit that is larger was counted by its writer as well
 * (`PatchWriter`).
 *
 * @module
 */

import { type Refusal, refuseAt } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import {
  countOperations,
  type DecodedPatch,
  decodePatch,
} from "../src/schema/patch_codec.ts";
import { patchesOf } from "./admit.ts";
import { type Batch, payloadOf } from "./batch.ts";

/** The patches of a batch's commits from index `from` on; `too-large` where they hold over `nodesMax`. */
export function boundedPatches(
  batch: Batch,
  from: number,
): readonly DecodedPatch[] | Refusal {
  const { bytes, first, commits } = batch;
  // No more nodes than bytes: nothing to count.
  if (bytes.length <= limits.nodesMax) return patchesOf(batch, from);
  const detail = `Its batch holds over ${limits.nodesMax} values`;
  const room = { left: limits.nodesMax };
  let operations = 0;
  for (let i = from; i < commits.length; i++) {
    operations += countOperations(payloadOf(batch, commits[i]!));
    if (operations > room.left) return refuseAt(first + i, "too-large", detail);
  }
  const patches: DecodedPatch[] = [];
  for (let i = from; i < commits.length; i++) {
    patches.push(decodePatch(payloadOf(batch, commits[i]!), room));
    if (room.left < 0) return refuseAt(first + i, "too-large", detail);
  }
  return patches;
}
