/**
 * What is kept between connections, and when it is of this log no more.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { Place } from "../tests/kit/replica_place.ts";
import {
  decodeResume,
  emptyResume,
  encodeResume,
  type ResumeState,
  usableCursor,
} from "./resume.ts";

const cursor = {
  epoch: new Uint8Array(16).fill(1),
  position: 1_000,
  order: new Uint8Array(32).fill(2),
};

async function start() {
  const place = await Place.open();
  await place.write("a", "1");
  await place.write("b", "2");
  const port = place.replica.port();
  const { genesisId, commits, shareable: uploadedTo } = port;
  const state = { ...emptyResume(genesisId), cursor, uploadedTo, commits };
  return { place, port, state };
}

Deno.test("usableCursor() goes on where the log is the one that was kept", async () => {
  const { place, port, state } = await start();
  deepEqual(usableCursor(state, port), cursor);
  await place.write("c", "3");
  deepEqual(usableCursor(decodeResume(encodeResume(state)), port), cursor);
  deepEqual(usableCursor({ ...state, uploadedTo: 0 }, port), cursor);
});

Deno.test("usableCursor() gives none where the log is shorter, or another one", async () => {
  const { place, port, state } = await start();
  const { commits, uploadedTo } = state;
  const others: Partial<ResumeState>[] = [
    { commits: commits + 1 }, // A folder that was set back.
    { uploadedTo: uploadedTo + 100 },
    { uploadedTo: uploadedTo - 1 }, // In the middle of a record.
  ];
  for (const other of others) {
    equal(usableCursor({ ...state, ...other }, port), undefined);
  }
  const text = "x".repeat(limits.resendBytesMax);
  await place.write("large", text);
  equal(usableCursor(state, port), undefined, "too much would go twice");
});
