/**
 * A process that opens what another one has written and closed: what it reads,
 * it finds on the medium, and its memory never held the writing.
 *
 * @module
 */

import { difference, itemAt, touch } from "../harness/items.ts";
import type { Outcome } from "../harness/suite.ts";
import { rows } from "./cases.ts";
import { type Entry, entryOf } from "./engines.ts";
import { readBoth, readCold, readOutcome } from "./read.ts";
import { hasFiles, memoryOfProcess } from "./space.ts";
import type { Place } from "./store.ts";

/** What the process is told. */
export interface Reading {
  readonly engine: string;
  readonly place: Place;
  readonly size: number;
  readonly isQuick: boolean;
  /** Opens and reads all, once; else one by id first, and then both again and again. */
  readonly isCold: boolean;
}

/** Has a new process read the first `size` items there, which must be all. */
export async function readElsewhere(
  reading: Reading,
  msMax: number,
): Promise<Outcome[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      "--quiet",
      "--allow-all",
      "--unstable-kv",
      import.meta.url,
      JSON.stringify(reading),
    ],
    stdin: "null",
    signal: AbortSignal.timeout(msMax),
  }).output();
  const decoder = new TextDecoder();
  if (success) return JSON.parse(decoder.decode(stdout));
  throw new Error(
    `the reading process failed: ${decoder.decode(stderr).trim().slice(-500)}`,
  );
}

async function read(reading: Reading): Promise<Outcome[]> {
  const { engine: name, place, size, isQuick, isCold } = reading;
  const entry = entryOf(name);
  const engine = await (await entry.load())(place);
  if (isCold) return [await readCold(engine, size)];
  const wanted = itemAt(Math.floor(size / 2));
  const start = performance.now();
  const store = await engine.open();
  const soon = store.get(wanted.id);
  const first = soon instanceof Promise ? await soon : soon;
  if (first !== undefined) touch(first);
  const firstMs = performance.now() - start;
  const { resident } = memoryOfProcess();
  const outcomes = [
    readOutcome(rows.first, [firstMs], difference(first, wanted)),
    ...await readBoth(store, size, isQuick),
    ...memory(entry, resident),
  ];
  await store.close();
  return outcomes;
}

/** What this process took; a server's memory is not seen from here. */
function memory(entry: Entry, resident: number): Outcome[] {
  if (!hasFiles(entry)) return [];
  const { peak } = memoryOfProcess();
  return [[rows.resident, resident] as const, [rows.peak, peak] as const]
    .map(([operation, bytes]) => ({
      table: rows.space,
      operation,
      durability: "none",
      unit: "B",
      samples: [bytes],
    }));
}

if (import.meta.main) {
  // Only the process that inserted writes the text.
  const outcomes = await read(JSON.parse(Deno.args[0] ?? "") as Reading);
  // Not by console.log: some packages write lines of their own there.
  const text = new TextEncoder().encode(JSON.stringify(outcomes));
  for (let at = 0; at < text.length;) {
    at += Deno.stdout.writeSync(text.subarray(at));
  }
  // Some packages leave timers behind.
  Deno.exit(0);
}
