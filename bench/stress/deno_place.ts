/**
 * Engines that run in this process.
 *
 * @module
 */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isSheaf, isSqlite } from "../engines/names.ts";
import { openSheaf } from "../engines/sheaf_open.ts";
import type { Place } from "./part.ts";
import type { Part } from "./rows.ts";
import { playerSchema, SheafStore } from "./sheaf_store.ts";
import { SqliteStore } from "./sqlite_store.ts";
import type { PlayerStore } from "./store.ts";

/** Engines in memory, and the ones on disk that they are otherwise. */
const memories: ReadonlyMap<string, string> = new Map([
  ["sheaf-fast-memory", "sheaf-fast"],
  ["sqlite-memory", "sqlite-off"],
]);

/** Where an engine keeps its stores: folders inside `folder`, or memory. */
export async function denoPlace(
  engine: string,
  folder: string,
  part: Part,
): Promise<Place> {
  const collect = collector();
  return {
    open: await openerOf(engine, folder, part),
    learn: (store) => store instanceof SqliteStore && store.learn(),
    residentBytes() {
      collect();
      return Deno.memoryUsage().rss;
    },
  };
}

/** Sheaf is loaded only when it is the engine. */
async function openerOf(
  engine: string,
  folder: string,
  part: Part,
): Promise<() => PlayerStore | Promise<PlayerStore>> {
  const isInMemory = memories.has(engine);
  const name = memories.get(engine) ?? engine;
  const next = isInMemory ? () => folder : folders(folder);
  if (isSqlite(name)) {
    const settings = { isInMemory, hasHistory: part === "versions" };
    return () => SqliteStore.open(next(), name, settings);
  }
  if (!isSheaf(name)) throw new RangeError(`no engine is named ${engine}`);
  const schema = playerSchema(await import("../../mod.ts"));
  const options = { schemas: [schema], isInMemory };
  return async () => {
    const { database, repository } = await openSheaf(next(), name, options);
    return new SheafStore(database, repository, schema);
  };
}

/** Gives another new folder with each call. */
function folders(folder: string): () => string {
  let count = 0;
  return () => {
    const path = `${folder}/${count++}`;
    Deno.mkdirSync(path);
    return path;
  };
}

/** A full collection of garbage, so that memory is what is held. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  return () => {
    if (typeof collect === "function") collect();
  };
}

/** The most that this process ever held, in bytes; `undefined` where the system does not say. */
export function peakBytes(): number | undefined {
  if (Deno.build.os !== "linux") return undefined;
  const status = Deno.readTextFileSync("/proc/self/status");
  const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
}
