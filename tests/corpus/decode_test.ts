/**
 * The second decoder, which was written from docs/format.md alone, says of the
 * corpus what the product says of it, and refuses what was spoilt.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { sha256 } from "../../crypto/mod.ts";
import { decodeBatch, payloadOf, writeBatch } from "../../repo/commit/batch.ts";
import { isBatch, isStatement, recordKind } from "../../repo/log/format.ts";
import { createLog, openLog } from "../../repo/log/log.ts";
import { lateRich } from "../../src/schema/late_rich.ts";
import { decodePatch } from "../../src/schema/patch_codec.ts";
import rfc from "../vectors/rfc8032.json" with { type: "json" };
import vectors from "../vectors/format.json" with { type: "json" };
import {
  ByteWriter,
  concatBytes,
  encodeText,
  fromHex,
  toHex,
} from "../../src/base/bytes.ts";
import { memoryStorage, type Mode } from "../../mod.ts";
import { type Files, filesOf } from "../kit/images.ts";
import { seededWorld } from "../kit/log.ts";
import { seededRandom } from "../kit/random.ts";
import { sized } from "../kit/tier.ts";
import { folderOf, modes, readFiles, type Said } from "./corpus.ts";
import { make } from "./make.ts";
import {
  judgePayloads,
  judgeSignatures,
  segmentsIn,
  testDecoder,
  told,
} from "./second_decoder.ts";

/** Texts that were edited: how these are shown is Yjs's affair. */
const EDITED = new Set(["full", "shared"]);
/** What readers see of a field that nobody wrote. */
const NOTHING = new Set(["0", '""', "[]", "{}"]);
const world = seededWorld(5);

/** The segments of a folder of the corpus, by their own names. */
function segmentsOf(mode: Mode): Files {
  return segmentsIn(readFiles(folderOf(mode)));
}

function expectedOf(mode: Mode): Said {
  const path = new URL("expected.json", folderOf(mode));
  return JSON.parse(Deno.readTextFileSync(path));
}

interface LogRecord {
  readonly kind: number;
  readonly body: Uint8Array;
}

/** The records of a log. */
async function recordsOf(files: Files): Promise<LogRecord[]> {
  const named = files.map(([name, bytes]) => [`log/${name}`, bytes] as const);
  const records: LogRecord[] = [];
  const opened = await openLog(memoryStorage(named), "log", {
    world,
    onRecord: (kind, body) => void records.push({ kind, body: body.slice() }),
  });
  await opened!.log.close();
  return records;
}

/** A log of these records, in one segment. */
async function logOf(records: readonly LogRecord[]): Promise<Files> {
  const storage = memoryStorage();
  storage.makeFolder("log");
  const first = records.map(({ kind, body }) => ({ kind, parts: [body] }));
  await createLog(storage, "log", { world }, first).close();
  return filesOf(storage, "log")
    .map(([name, bytes]) => [name.split("/").at(-1)!, bytes] as const);
}

function isSigned(kind: number): boolean {
  return kind === recordKind.signedBatch || kind === recordKind.certificate ||
    kind === recordKind.revocation || kind === recordKind.void ||
    kind === recordKind.redaction || kind === recordKind.retirement ||
    isStatement(kind);
}

/** The same bytes, with one bit of one of them flipped. */
function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[at]! ^= 1 << bit;
  return copy;
}

testDecoder(
  "decode.py reads of the corpus what the product reads, and finds each signature right",
  async () => {
    await readsAll(
      modes.map((mode) => [segmentsOf(mode), expectedOf(mode)] as const),
    );
  },
);

testDecoder("decode.py reads what this version writes", async () => {
  const made: (readonly [Files, Said])[] = [];
  for (const mode of modes) {
    const { files, expected } = await make(mode);
    made.push([segmentsIn(files), expected]);
  }
  await readsAll(made);
});

/** Items without what readers see of a field that nobody wrote, and without edited texts. */
function asWritten(items: Said["items"], found: Said["items"]): Said["items"] {
  const leaves = Object.entries(items.leaf!).map(([id, item]) => {
    const there = found.leaf?.[id] ?? {};
    const written = Object.entries(item as object).filter(([name, value]) => {
      if (Object.hasOwn(there, name)) return true;
      const isEdited = name === "body" && EDITED.has(id);
      equal(isEdited, !NOTHING.has(JSON.stringify(value)), `${id} ${name}`);
      return false;
    });
    return [id, Object.fromEntries(written)];
  });
  return { ...items, leaf: Object.fromEntries(leaves) };
}

/** It says of each log what is expected of it. */
async function readsAll(
  logs: readonly (readonly [Files, Said])[],
): Promise<void> {
  const all = await told(logs.map(([files]) => files));
  for (const [i, [, { items, ...expected }]] of logs.entries()) {
    const { items: found, records, signatures, refused, ...rest } = all[i]!;
    equal(refused, undefined);
    const { name, ...other } = rest;
    equal(name, "corpus/tree");
    deepEqual(other, expected);
    deepEqual(found, asWritten(items, found));
    const signed = Object.entries(records)
      .filter(([kind]) => isSigned(Number(kind)));
    equal(signatures, signed.reduce((sum, [, count]) => sum + count, 0));
    ok(signatures > 2);
  }
}

testDecoder(
  "decode.py refuses a log with a flipped bit, and says where",
  async () => {
    const random = seededRandom(7);
    const int = (end: number) => Math.floor(random() * end);
    const spoilt: { files: Files; from: number; to: number }[] = [];
    for (const mode of modes) {
      const files = segmentsOf(mode);
      let from = 0;
      for (const [name, bytes] of files) {
        const to = from + bytes.length;
        for (let i = 0; i < sized(20, 300); i++) {
          const bad = flipped(bytes, int(bytes.length), int(8));
          const others = files.filter((file) => file[0] !== name);
          spoilt.push({ files: [...others, [name, bad]], from, to });
        }
        from = to;
      }
    }
    const all = await told(spoilt.map(({ files }) => files));
    for (const [i, { place, refused }] of all.entries()) {
      const { from, to } = spoilt[i]!;
      ok(refused !== undefined, `number ${i}`);
      ok(from <= place! && place! < to, `${refused} at ${place}`);
    }
  },
);

testDecoder(
  "decode.py refuses each signed record with a flipped bit under a right checksum",
  async () => {
    const records = await recordsOf(segmentsOf("default"));
    const random = seededRandom(8);
    const spoilt: Files[] = [];
    for (const [i, { kind, body }] of records.entries()) {
      for (let n = 0; isSigned(kind) && n < sized(1, 10); n++) {
        const at = Math.floor(random() * body.length);
        const bad = { kind, body: flipped(body, at, n % 8) };
        spoilt.push(await logOf(records.with(i, bad)));
      }
    }
    const all = await told([await logOf(records), ...spoilt]);
    equal(all[0]!.digest, expectedOf("default").digest);
    for (const { refused } of all.slice(1)) ok(refused !== undefined);
    ok(all.length > 20);
  },
);

testDecoder(
  "decode.py takes a stub in the place of a payload: ids and seals stay, and the digest says that it is void",
  async () => {
    const marked = await recordsOf(segmentsOf("default"));
    const records = marked.filter(({ kind }) => kind !== recordKind.order);
    const at = records.findLastIndex(({ kind }) =>
      kind === recordKind.signedBatch
    );
    const batch = decodeBatch(records[at]!.body, true);
    const stubbed = (hash: (payload: Uint8Array) => Uint8Array) => {
      const writer = new ByteWriter();
      const commits = batch.commits.map((commit) => {
        const header = batch.bytes.subarray(commit.at, commit.headerEnd);
        const stub = Uint8Array.of(2, 0, 0);
        const payload = concatBytes(stub, hash(payloadOf(batch, commit)));
        return { header, payload, payloadAt: -1 };
      });
      writeBatch(writer, { ...batch, commits });
      writer.bytes(batch.seal!);
      const body = writer.copy();
      return logOf(records.with(at, { kind: records[at]!.kind, body }));
    };
    const [whole, wrong] = await told([
      await stubbed(sha256),
      await stubbed((payload) => sha256(sha256(payload))),
    ]);
    const { chains, digest } = expectedOf("default");
    deepEqual(whole!.chains, chains);
    ok(whole!.digest !== digest);
    ok(
      JSON.stringify(whole!.items) !==
        JSON.stringify(expectedOf("default").items),
    );
    equal(wrong!.refused, "a signature that is not right");
  },
);

testDecoder(
  "decode.py refuses a log whose marks say another order than its batches have",
  async () => {
    const records = await recordsOf(segmentsOf("default"));
    const marks = records.flatMap(({ kind }, i) =>
      kind === recordKind.order ? i : []
    );
    const spoilt = (i: number, at: number) => {
      const body = flipped(records[i]!.body, at, 0);
      return logOf(records.with(i, { kind: recordKind.order, body }));
    };
    // What comes first is asked of its parents, too.
    const late = marks.at(-1)!;
    const last = records.findLastIndex(({ kind }, i) =>
      isBatch(kind) && i < late
    );
    const batch = records[last]!;
    const all = await told([
      await spoilt(late, 20), // When it was accepted.
      await spoilt(late, 40), // The order.
      await spoilt(marks[0]!, 3), // The epoch.
      await logOf(records.toSpliced(last, 1).toSpliced(late, 0, batch)),
      await logOf(records.toSpliced(last, 0, batch)),
    ]);
    for (const { refused } of all) {
      equal(refused, "batches that came in another order");
    }
  },
);

testDecoder(
  "ed25519.py gives the verdicts of RFC 8032 and of ZIP-215",
  async () => {
    const sound = rfc.vectors.map((one) => ({
      ...one,
      key: one.publicKey,
      valid: true,
    }));
    const flipped = sound.map((one) => ({
      ...one,
      message: `${one.message}00`,
      valid: false,
    }));
    const redactions = vectors.redactions.map(({ bytes }) => ({
      key: bytes.slice(-192, -128),
      message: `${toHex(encodeText("sheaf redaction 1\n"))}${
        bytes.slice(0, -128)
      }`,
      signature: bytes.slice(-128),
      valid: true,
    }));
    const all = [...sound, ...flipped, ...redactions, ...vectors.signatures];
    deepEqual(await judgeSignatures(all), all.map(({ valid }) => valid));
  },
);

testDecoder(
  "decode.py and decodePatch() say the same of spoilt payloads",
  async () => {
    await lateRich.load();
    const payloads = (await recordsOf(segmentsOf("default")))
      .filter(({ kind }) => isBatch(kind))
      .map(({ body }) => decodeBatch(body, true))
      .flatMap((batch) =>
        batch.commits.map((commit) => payloadOf(batch, commit))
      );
    const random = seededRandom(9);
    const int = (end: number) => Math.floor(random() * end);
    const spoilt = Array.from({ length: sized(3_000, 100_000) }, () => {
      const bytes = [...payloads[int(payloads.length)]!];
      const at = int(bytes.length);
      const gone = int(2);
      const come = Array.from(
        { length: int(3) },
        () => int(random() < 0.5 ? 30 : 256),
      );
      bytes.splice(at, gone, ...come);
      return Uint8Array.from(bytes);
    });
    const refused = vectors.refusedPayloads;
    const pinned = [
      ...vectors.payloads.map(({ bytes }) => bytes),
      ...vectors.erased.flatMap(({ payload, left }) => [payload, left]),
      ...refused.map(({ instead }) => instead),
      ...refused.map(({ bytes }) => bytes),
    ].map(fromHex);
    const all = [...payloads, ...pinned, ...spoilt];
    const verdicts = await judgePayloads(all.map((bytes) => toHex(bytes)));
    let sound = 0;
    for (const [i, bytes] of all.entries()) {
      const isSound = isPatch(bytes);
      equal(
        verdicts[i] === "sound",
        isSound,
        `${verdicts[i]}: ${toHex(bytes)}`,
      );
      sound += Number(isSound);
    }
    ok(sound > payloads.length && sound < all.length / 2);
  },
);

function isPatch(bytes: Uint8Array): boolean {
  try {
    return decodePatch(bytes) !== undefined;
  } catch (error) {
    ok(error instanceof SyntaxError);
    return false;
  }
}
