import { deepEqual, equal } from "node:assert/strict";
import { crc32 } from "../base/crc32.ts";
import {
  encodeResume,
  type LogFacts,
  parseResume,
  type Resume,
} from "./repository_link.ts";

const resume: Resume = { bytes: new Uint8Array([1, 2, 3, 4, 5]), known: 700 };

function factsOf(changes: Partial<LogFacts> = {}): LogFacts {
  return {
    genesisId: new Uint8Array(32).fill(7),
    end: 1_000,
    sumBefore: (address) => address * 3,
    ...changes,
  };
}

/** As a folder's file is read. */
function readOrNone(bytes: Uint8Array): Resume | undefined {
  try {
    return parseResume(bytes, factsOf());
  } catch {
    return undefined;
  }
}

Deno.test("what is known of a server is read as it was written", () => {
  const bytes = encodeResume(resume, factsOf());
  deepEqual(parseResume(bytes, factsOf()), resume);
  deepEqual(parseResume(bytes, factsOf({ end: 5_000 })), resume);
});

Deno.test("what is known of a server holds for no other log", () => {
  const bytes = encodeResume(resume, factsOf());
  const other = new Uint8Array(32).fill(8);
  equal(parseResume(bytes, factsOf({ genesisId: other })), undefined);
  equal(parseResume(bytes, factsOf({ end: 999 })), undefined);
  equal(parseResume(bytes, factsOf({ sumBefore: () => 1 })), undefined);
});

Deno.test("every damaged or cut resume file is as none", () => {
  const bytes = encodeResume(resume, factsOf());
  for (let i = 0; i < bytes.length; i++) {
    const damaged = bytes.slice();
    damaged[i]! ^= 0x10;
    equal(readOrNone(damaged), undefined);
    equal(readOrNone(bytes.slice(0, i)), undefined);
  }
});

Deno.test("a resume file that knows more than the log has is as none", () => {
  const bytes = encodeResume({ ...resume, known: 1_001 }, factsOf());
  equal(parseResume(bytes, factsOf({ end: 2_000 })), undefined);
});

Deno.test("a resume file of a later format is as none", () => {
  const bytes = encodeResume(resume, factsOf());
  bytes[8] = 9;
  new DataView(bytes.buffer).setUint32(
    bytes.length - 4,
    crc32(bytes.subarray(0, -4)),
    true,
  );
  equal(readOrNone(bytes), undefined);
});
