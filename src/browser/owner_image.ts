/**
 * The image of a repository: its files as a tab gets them to begin with.
 *
 * Architecture invariant: an image holds the log up to a point and nothing
 * behind it, so that what the tab is told from there on is all it lacks.
 */

import {
  decodeSegmentHeader,
  LIFE,
  parseSegmentName,
  SALVAGE,
  SEGMENT_HEADER_BYTES,
} from "../../repo/log/format.ts";
import { wholeCheckpoints } from "../../repo/checkpoint/files.ts";
import { toHex } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import type { Storage } from "../storage/storage.ts";

export interface ImagePart {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Reads the files of a repository's folder up to a log address. */
export function readImage(
  storage: Storage,
  folder: string,
  to: number,
): ImagePart[] {
  const names = storage.list(folder);
  const [newest] = wholeCheckpoints(names);
  const parts: ImagePart[] = [];
  if (newest !== undefined) {
    const bytes = readFile(storage, `${folder}/${newest}`);
    parts.push({ name: newest, bytes });
  }
  if (names.includes(SALVAGE)) {
    parts.push({
      name: SALVAGE,
      bytes: readFile(storage, `${folder}/${SALVAGE}`),
    });
  }
  for (const name of names) {
    const index = parseSegmentName(name);
    if (index === undefined) continue;
    const path = `${folder}/${name}`;
    const head = readFile(storage, path, SEGMENT_HEADER_BYTES);
    const { base } = decodeSegmentHeader(head, path);
    if (index > 0 && base >= to) continue;
    parts.push({ name, bytes: readFile(storage, path, to - base) });
  }
  return parts;
}

/** What tells a repository from those of its name that were deleted; `undefined` where none was. */
export function lifeOf(storage: Storage, folder: string): string | undefined {
  if (!storage.list(folder).includes(LIFE)) return undefined;
  const bytes = readFile(storage, `${folder}/${LIFE}`, SEGMENT_HEADER_BYTES);
  return toHex(bytes);
}

function readFile(
  storage: Storage,
  path: string,
  bytesMax = Infinity,
): Uint8Array<ArrayBuffer> {
  const file = storage.open(path);
  if (file === undefined) {
    throw new DatabaseError(
      "storage-failed",
      `Cannot read ${path}: it is missing. Reload the page`,
    );
  }
  try {
    const bytes = new Uint8Array(Math.min(file.size(), bytesMax));
    return bytes.subarray(0, file.readAt(bytes, 0));
  } finally {
    file.close();
  }
}
