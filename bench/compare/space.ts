/**
 * Bytes: of files, and of this process.
 *
 * @module
 */

import type { Entry } from "./engines.ts";

const blockLength = 512;

/** Are its files in the folder that it was given? */
export function hasFiles({ isKept, isServer }: Entry): boolean {
  return isKept && !isServer;
}

/** What the files below `folder` take on the medium: allocated blocks where the system tells, else lengths. */
export function bytesIn(folder: string): number {
  let sum = 0;
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) {
      sum += bytesIn(path);
      continue;
    }
    const { blocks, size } = Deno.statSync(path);
    sum += blocks === null ? size : blocks * blockLength;
  }
  return sum;
}

/** Resident bytes of this process: now, and at most so far (where the system tells; else now). */
export function memoryOfProcess(): { resident: number; peak: number } {
  const { rss } = Deno.memoryUsage();
  if (Deno.build.os !== "linux") return { resident: rss, peak: rss };
  const status = Deno.readTextFileSync("/proc/self/status");
  return {
    resident: lineOf(status, "VmRSS") ?? rss,
    peak: lineOf(status, "VmHWM") ?? rss,
  };
}

/** A line of /proc/self/status, in bytes. */
export function lineOf(status: string, name: string): number | undefined {
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}
