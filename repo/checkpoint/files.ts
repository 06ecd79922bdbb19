/** The checkpoint files of a folder, by their names. */

import type { Storage } from "../../src/storage/storage.ts";

const NAME = /^checkpoint-(\d{8})$/;

export function checkpointName(number: number): string {
  return `checkpoint-${String(number).padStart(8, "0")}`;
}

/** Numbers of the checkpoints in a folder, newest first. */
export function listCheckpoints(names: readonly string[]): number[] {
  const numbers: number[] = [];
  for (const name of names) {
    const match = NAME.exec(name);
    if (match !== null) numbers.push(Number(match[1]));
  }
  return numbers.sort((a, b) => b - a);
}

/** Removes checkpoints older than `number`, and what was left half-written. */
export function removeOldCheckpoints(
  storage: Storage,
  folder: string,
  number: number,
): void {
  for (const name of storage.list(folder)) {
    const match = NAME.exec(name);
    const isOld = match !== null && Number(match[1]) < number;
    const isHalf = /^checkpoint-\d+\.new$/.test(name);
    if (isOld || isHalf) storage.remove(`${folder}/${name}`);
  }
}
