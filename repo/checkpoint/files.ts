/** The checkpoint files of a folder, by their names: whole ones, and outlines, which hold no item. */

import type { Storage } from "../../src/storage/storage.ts";

const NAME = /^(checkpoint|outline)-(\d{8})$/;

export function checkpointName(number: number): string {
  return `checkpoint-${padded(number)}`;
}

/** The file name of a checkpoint without items. */
export function outlineName(number: number): string {
  return `outline-${padded(number)}`;
}

function padded(number: number): string {
  return String(number).padStart(8, "0");
}

/** The number in a file name. */
export function numberIn(name: string): number {
  return Number(name.replace(/\D/g, ""));
}

/** Names of the whole checkpoints among some, newest first. */
export function wholeCheckpoints(names: readonly string[]): string[] {
  return listCheckpoints(names).filter((name) => name.startsWith("checkpoint"));
}

/** Names of all checkpoints among some, newest first. */
export function listCheckpoints(names: readonly string[]): string[] {
  return names.filter((name) => NAME.test(name))
    .sort((a, b) => numberIn(b) - numberIn(a));
}

/** Removes the checkpoints that one called `name` stands for, or all of them, and what was left half-written. */
export function removeOldCheckpoints(
  storage: Storage,
  folder: string,
  name?: string,
): void {
  const isOutline = name?.startsWith("outline") === true;
  const number = name === undefined ? Infinity : numberIn(name);
  for (const other of storage.list(folder)) {
    const match = NAME.exec(other);
    // The items of a whole one are in no outline.
    const isOld = match !== null && Number(match[2]) < number &&
      (!isOutline || match[1] === "outline");
    const isHalf = /^checkpoint-\d+\.new$/.test(other);
    if (isOld || isHalf) storage.remove(`${folder}/${other}`);
  }
}
