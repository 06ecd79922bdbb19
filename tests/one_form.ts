/**
 * Payloads have one form: each is what a writer makes of what it says.
 *
 * @module
 */

import { deepEqual } from "node:assert/strict";
import { payloadOf } from "../repo/commit/batch.ts";
import type { Replica } from "../repo/mod.ts";
import type { Operation } from "../src/schema/patch.ts";
import { decodePatch, PatchWriter } from "../src/schema/patch_codec.ts";
import { isStub } from "../src/schema/stub.ts";

const writer = new PatchWriter();

/** The payload of these operations. */
export function encode(operations: readonly Operation[]): Uint8Array {
  writer.begin();
  for (const operation of operations) writer.add(operation);
  return writer.finish().payload;
}

/** Reads all payloads of a replica, which have the form that they should; gives their operations. */
export function assertOneForm(replica: Replica): Operation[] {
  const all: Operation[] = [];
  replica.flush();
  replica.commits.each(({ batch }) => {
    for (const commit of batch.commits) {
      const payload = payloadOf(batch, commit);
      if (isStub(payload)) continue;
      const { operations } = decodePatch(payload);
      deepEqual(encode(operations), payload);
      all.push(...operations);
    }
  });
  return all;
}
