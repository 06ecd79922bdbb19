/**
 * A log of plain ASCII texts, for tests of the log.
 *
 * @module
 */

import {
  createLog,
  type Log,
  type LogSizes,
  openLog,
} from "../../repo/log/log.ts";
import type { Recovery } from "../../repo/log/recovery.ts";
import { decodeAscii, encodeText } from "../../src/base/bytes.ts";
import type { World } from "../../src/base/world.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { seededRandom } from "./random.ts";

/** The folder of the log. */
export const FOLDER = "log";

/** The first segment's file. */
export const FIRST_SEGMENT = "log/log-00000000";

/** A world whose dice follow from `seed`; no time passes in it. */
export function seededWorld(seed: number): World {
  const random = seededRandom(seed);
  return {
    now: () => 0,
    monotonic: () => 0,
    random(target) {
      for (let i = 0; i < target.length; i++) target[i] = random() * 256;
    },
    after: () => () => {},
  };
}

const world = seededWorld(1);

/** How to open a log of texts. */
export interface TextLogOptions extends LogSizes {
  /** See `openLog`. */
  readonly repair?: boolean;
  /** See `openLog`. */
  readonly from?: number;
}

/** An open log, and the texts that opening it found. */
export interface OpenedTexts {
  /** The log. */
  readonly log: Log;
  /** Its records. */
  readonly texts: string[];
  /** What opening found. */
  readonly recovery: Recovery;
}

/** Creates a log whose first record is `text`; not synced. */
export function createTexts(
  storage: Storage,
  text: string,
  options: TextLogOptions = {},
): Log {
  storage.makeFolder(FOLDER);
  storage.syncFolder("");
  const first = { kind: 1, parts: [encodeText(text)] };
  return createLog(storage, FOLDER, { world, ...options }, [first]);
}

/** Opens the log; `undefined` when it was never created. */
export async function openTexts(
  storage: Storage,
  options: TextLogOptions = {},
): Promise<OpenedTexts | undefined> {
  const texts: string[] = [];
  const onRecord = (_: number, body: Uint8Array) => {
    texts.push(decodeAscii(body, 0, body.length));
  };
  const opened = await openLog(storage, FOLDER, {
    world,
    onRecord,
    ...options,
  });
  return opened && { ...opened, texts };
}

/** Appends a text and says at which address its body is. */
export function putText(log: Log, text: string): number {
  return log.append(4, [encodeText(text)]);
}

/** The bytes of a file. */
export function bytesOfFile(storage: Storage, name: string): Uint8Array {
  const file = storage.open(name);
  if (file === undefined) throw new Error(`There is no ${name}`);
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  file.close();
  return bytes;
}

/** A text of `length` characters that names its number. */
export function longText(number: number, length: number): string {
  return `${number}:`.padEnd(length, String.fromCharCode(97 + number % 26));
}
