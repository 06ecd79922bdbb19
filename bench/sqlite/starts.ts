/**
 * Whole processes: the time from the moment in which one is asked for until it
 * has said what it read, and what one takes that reads nothing.
 *
 * Warm ones find Deno's caches filled by the two before, and the files of the
 * database in memory. Cold ones find those caches empty, as after an update:
 * everything is transpiled and compiled. Where `dd` can ask for it (GNU), the
 * files of the database have been dropped from memory as well.
 *
 * @module
 */

import { difference, idOf, itemAt } from "../harness/items.ts";
import type { FirstRead } from "./first_read.ts";
import type { Reply } from "./protocol.ts";

/** Some are never measured: they fill the caches. */
const warmUps = 2;
const startMsMax = 60_000;

/** Whose first read is timed. */
export interface StartOrder extends Omit<FirstRead, "id"> {
  /** The number of the item that is read, if one is. */
  readonly index?: number | undefined;
  readonly isCold: boolean;
}

/** Milliseconds of one start, and beside it of one that reads nothing. */
export async function timeStart(
  { index, isCold, ...program }: StartOrder,
): Promise<Reply> {
  const { core } = program;
  const id = index === undefined ? undefined : idOf(index);
  const argument: FirstRead = { ...program, id };
  const options = { isCold, isPackaged: core !== undefined };
  const read = () => timeProcess("first_read.ts", argument, options);
  const nothing = () => timeProcess("empty_start.ts", {}, options);
  for (let turn = 0; !isCold && turn < warmUps; turn++) {
    await read();
    await nothing();
  }
  if (isCold) await dropFromMemory(program.folder);
  const { ms, said } = await read();
  const item = said === "undefined" ? undefined : JSON.parse(said);
  const wrong = index === undefined
    ? undefined
    : difference(item, itemAt(index));
  return {
    samples: [ms],
    floor: (await nothing()).ms,
    ...wrong === undefined ? {} : { wrong },
  };
}

async function timeProcess(
  module: string,
  argument: unknown,
  { isCold, isPackaged }: {
    readonly isCold: boolean;
    readonly isPackaged: boolean;
  },
): Promise<{ ms: number; said: string }> {
  const cache = isCold ? await Deno.makeTempDir() : undefined;
  const command = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      "--quiet",
      "--cached-only",
      "--allow-all",
      // Who has the package has none of what the clone's own says.
      ...isPackaged ? ["--no-config"] : [],
      new URL(module, import.meta.url).href,
      JSON.stringify(argument),
    ],
    ...cache === undefined ? {} : { env: { DENO_DIR: cache } },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
    signal: AbortSignal.timeout(startMsMax),
  });
  try {
    const start = performance.now();
    const process = command.spawn();
    let ms = Number.NaN;
    let said = "";
    const text = process.stdout.pipeThrough(new TextDecoderStream());
    for await (const part of text) {
      if (said === "") ms = performance.now() - start;
      said += part;
    }
    const { success } = await process.status;
    if (!success || said === "") throw new Error(`${module} ended early`);
    return { ms, said: said.trim() };
  } finally {
    if (cache !== undefined) await Deno.remove(cache, { recursive: true });
  }
}

async function dropFromMemory(folder: string): Promise<void> {
  if (Deno.build.os !== "linux") return;
  for await (const { name, isFile, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) await dropFromMemory(path);
    if (!isFile) continue;
    await new Deno.Command("dd", {
      args: [`if=${path}`, "iflag=nocache", "count=0"],
      stderr: "null",
      stdout: "null",
    }).output();
  }
}
