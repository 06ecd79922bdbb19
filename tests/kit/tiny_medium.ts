/**
 * What a program does on a medium that is full or read-only. Run by
 * `medium_test.ts` on a small file system of its own; prints one line of JSON.
 *
 * @module
 */

import {
  type Database,
  DatabaseError,
  openDatabase,
  type Repository,
} from "../../mod.ts";
import { Entry, Sum, toMode } from "./ledger.ts";

const [phase, path, modeName] = Deno.args;
const mode = toMode(modeName);

/** How an attempt ended. */
interface Ending {
  readonly code: string | undefined;
  readonly message: string;
}

function open(folder = path!): Promise<Database> {
  return openDatabase({ path: folder, mode, schemas: [Entry, Sum] });
}

async function endingOf(action: () => unknown): Promise<Ending> {
  try {
    await action();
    return { code: undefined, message: "" };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return { code: error.code, message: error.message };
  }
}

/** Writes until the medium is full; says what was acknowledged by then. */
async function fill() {
  const db = await open();
  const repo = await db.repository("ledger");
  const entries = repo.collection(Entry);
  let kept = 0;
  const text = "x".repeat(5_000);
  const ending = await endingOf(async () => {
    for (;; kept++) {
      await entries.create({ id: `${kept}`, round: 0, number: kept, text });
      if (mode === "fast") await repo.durable();
    }
  });
  const again = await endingOf(() =>
    entries.create({ id: "late", round: 0, number: kept, text })
  );
  const readable = entries.get("0")?.number === 0;
  await endingOf(() => db.close());
  return { kept, ending, again, readable, reopened: await reopen() };
}

/** Opens what is there, counts it, and tries to write a little. */
async function reopen() {
  const seen = { count: -1, isPrefix: false, ok: false };
  let write: Ending | undefined;
  const opening = await endingOf(async () => {
    const db = await open();
    const repo = await db.repository("ledger");
    Object.assign(seen, look(repo), { ok: (await repo.verify()).ok });
    write = await endingOf(() =>
      repo.collection(Sum).upsert({ id: "more", last: 1 }).durable
    );
    await endingOf(() => db.close());
  });
  return { opening, ...seen, write };
}

function look(repo: Repository): { count: number; isPrefix: boolean } {
  const entries = repo.collection(Entry);
  const count = entries.count();
  const isPrefix = entries.keys().every((id) => Number(id) < count);
  return { count, isPrefix };
}

/** Opens on a medium that cannot be written, what is there and what is not. */
async function readonly() {
  const known = await endingOf(() => open());
  const unknown = await endingOf(() => open(`${path}/elsewhere`));
  return { known, unknown };
}

const phases = { fill, reopen, readonly };
if (phase !== "fill" && phase !== "reopen" && phase !== "readonly") {
  throw new SyntaxError(`No phase: ${phase}`);
}
console.log(JSON.stringify(await phases[phase]()));
