/**
 * Looks for a text in every file of a storage: as it stands there, and in what
 * every record, note and local file says when it is decoded.
 *
 * @module
 */

import { decodeText, encodeText } from "../../src/base/bytes.ts";
import { decodePatch } from "../../src/schema/patch_codec.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { batchIn } from "../../repo/commit/batch.ts";
import { decodeRefusal } from "../../repo/refusal/void_commits.ts";
import { parseSegmentName, recordKind } from "../../repo/log/format.ts";
import { readRecords, segmentIn } from "../../repo/log/segment.ts";

/** Names of the files in which a text stands, or bytes, and how it was found. */
export function filesWith(
  storage: Storage,
  text: string | Uint8Array,
): string[] {
  const wanted = typeof text === "string" ? encodeText(text) : text;
  const found: string[] = [];
  for (const path of filesOf(storage, "")) {
    const file = storage.open(path)!;
    const bytes = new Uint8Array(file.size());
    file.readAt(bytes, 0);
    if (isIn(bytes, wanted)) found.push(`${path} (raw)`);
    const name = path.split("/").at(-1)!;
    if (parseSegmentName(name) !== undefined && typeof text === "string") {
      const segment = segmentIn(file, path);
      readRecords(segment, segment.start, segment.limit, (kind, body) => {
        if (saidIn(kind, body).includes(text)) found.push(`${path} (decoded)`);
      });
    }
    file.close();
  }
  return found;
}

function* filesOf(storage: Storage, folder: string): Generator<string> {
  const prefix = folder === "" ? "" : `${folder}/`;
  for (const name of storage.list(folder)) yield `${prefix}${name}`;
  for (const name of storage.folders(folder)) {
    yield* filesOf(storage, `${prefix}${name}`);
  }
}

function isIn(bytes: Uint8Array, wanted: Uint8Array): boolean {
  for (let at = 0; at + wanted.length <= bytes.length; at++) {
    let same = 0;
    while (same < wanted.length && bytes[at + same] === wanted[same]) same++;
    if (same === wanted.length) return true;
  }
  return false;
}

/** Everything that a record says, as text. */
function saidIn(kind: number, body: Uint8Array): string {
  if (kind === recordKind.refusal) return JSON.stringify(decodeRefusal(body));
  const batch = batchIn(kind, body.slice());
  if (batch === undefined) return "";
  return batch.commits.map(({ payloadAt, end }) => {
    const payload = batch.bytes.subarray(payloadAt, end);
    return JSON.stringify(decodePatch(payload).operations, readable);
  }).join();
}

function readable(_key: string, value: unknown): unknown {
  if (value instanceof Map) return [...value];
  if (value instanceof Uint8Array) {
    try {
      return decodeText(value);
    } catch {
      return [...value];
    }
  }
  if (typeof value !== "object" || value === null) return value;
  // What is shown when somebody asks.
  return "clients" in value ? [...value.clients as Iterable<unknown>] : value;
}
