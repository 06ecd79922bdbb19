/**
 * What processes that will be killed write, and how they say what they were
 * promised: see `server.ts`, `client.ts` and `sync_kill_test.ts`.
 *
 * @module
 */

import { defineSchema, field, type Mode, type Repository } from "../../mod.ts";

/** Written once; with a twin when a transaction wrote both. */
export const Entry = defineSchema("entry", {
  text: field.string(),
  twin: field.string().optional(),
});

/** Changed by everybody: one vote and one tag a write. */
export const Shared = defineSchema("shared", {
  last: field.string(),
  votes: field.counter(),
  tags: field.set(field.string()),
});

/** The repository that all write. */
export const REPOSITORY = "team/ledger";
/** How many shared items there are. */
export const SHARED = 16;

/** How a server process is started. */
export interface ServerOrder {
  readonly data: string;
  readonly mode: Mode;
  readonly port: number;
  readonly rootKeyFile: string;
}

/** How a client process is started. */
export interface ClientOrder {
  readonly name: string;
  /** Folder of its database. */
  readonly path: string;
  /** Its ledgers are this and ".durable" or ".synced". */
  readonly ledger: string;
  readonly mode: Mode;
  readonly url: string;
  readonly rootKey: string;
  /** Lone writes of items of its own, or transactions and updates of shared items as well. */
  readonly writes: "lone" | "shared";
  readonly seed: number;
  /** How often it was started. */
  readonly run: number;
}

/** What processes tell, one JSON object a line. */
export type Told =
  | { readonly is: "warm" | "rested" | "over" }
  | { readonly is: "listening"; readonly url: string; readonly rootKey: string }
  | { readonly is: "log"; readonly level: string; readonly text: string }
  | { readonly is: "restoring"; readonly missing: number }
  | { readonly is: "status"; readonly text: string }
  | { readonly is: "opened"; readonly lost: readonly string[] }
  | ({ readonly is: "settled" } & Settled);

/** How a client is when nobody writes any more. */
export interface Settled {
  /** What the last audit found, where the two sides differ. */
  readonly difference: string;
}

/** What is told, as a line. */
export function tell(told: Told): void {
  const bytes = new TextEncoder().encode(`${JSON.stringify(told)}\n`);
  Deno.stdout.writeSync(bytes);
}

/** What is read, line by line. */
export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}

/** The text of an entry, which its id decides. */
export function textOf(id: string): string {
  let sum = 0;
  for (let i = 0; i < id.length; i++) sum = sum * 31 + id.charCodeAt(i) | 0;
  return "x".repeat((sum >>> 0) % 7 * 150);
}

/** The shared item of a number. */
export function sharedId(number: number): string {
  return `shared-${number}`;
}

/** One promise: `entry id`, `pair id shared`, `tag id shared` or `gone id`. */
export type Line = string;

/** Those promises of a ledger that a repository does not keep. */
export function brokenIn(repo: Repository, ledger: readonly Line[]): Line[] {
  const entries = repo.collection(Entry);
  const tags = new Map(
    repo.collection(Shared).all().map(({ id, tags }) => [id, new Set(tags)]),
  );
  return ledger.filter((line) => {
    const [what, id = "", shared = ""] = line.split(" ");
    const isEntry = entries.get(id)?.text === textOf(id);
    const isTagged = tags.get(shared)?.has(id) ?? false;
    if (what === "entry") return !isEntry;
    if (what === "tag") return !isTagged;
    if (what === "gone") return entries.has(id);
    return !(isEntry && isTagged && entries.has(`${id}-twin`));
  });
}

/** The whole lines of a ledger; none when there is no file yet. */
export async function readLedger(path: string): Promise<Line[]> {
  try {
    const lines = (await Deno.readTextFile(path)).split("\n");
    lines.pop(); // What was cut off was not promised.
    return lines;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/**
 * A file of promises. Each is written before the next thing happens; a kill
 * takes nothing back that the system has taken.
 */
export class Ledger {
  readonly #file: Deno.FsFile;

  /** Goes on at the end of the file. */
  constructor(path: string) {
    this.#file = Deno.openSync(path, {
      append: true,
      create: true,
      write: true,
    });
  }

  /** Notes a promise that was given. */
  note(line: Line): void {
    const bytes = new TextEncoder().encode(`${line}\n`);
    if (this.#file.writeSync(bytes) < bytes.length) {
      throw new Error("The ledger took only a part of a line");
    }
  }
}
