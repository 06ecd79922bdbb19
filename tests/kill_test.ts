/**
 * kill -9: a real process that writes to a real folder is killed at random
 * moments. What it was promised is there, what is there is whole, and life goes
 * on.
 *
 * In Fast mode an acknowledged write is in memory only, so the promise is
 * another one (docs/guide/modes.md): what remains is a prefix, and everything
 * that `durable()` covered is in it.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { type Mode, openDatabase, type Repository } from "../mod.ts";
import { Entry, Sum } from "./kit/ledger.ts";
import { seededRandom } from "./kit/mod.ts";
import { Child } from "./kit/child.ts";

const KILLS = 5;
/** Steps that are promised in the last round at least: how far the others get is the machine's affair. */
const LONG = 60;
const script = new URL("./kit/writer.ts", import.meta.url).pathname;

/** What a process told before it was killed. */
interface Told {
  hasBegun: boolean;
  /** Number of its last acknowledged step; -1: none. */
  kept: number;
  /** Number of the last step that `durable()` covered; -1: none. */
  synced: number;
}

/** Runs the writer and kills it `delayMs` after so many steps were promised. */
async function runAndKill(
  path: string,
  mode: Mode,
  round: number,
  { steps, delayMs }: { readonly steps: number; readonly delayMs: number },
): Promise<Told> {
  await using child = new Child(
    ["run", "--no-check", "-A", script, path, mode, `${round}`],
  );
  const told = { hasBegun: false, kept: -1, synced: -1 };
  let timer: ReturnType<typeof setTimeout> | undefined;
  for await (const line of child.lines()) {
    note(told, line);
    // The first one only says that it lives, whatever the mode.
    if (told.kept >= 0 && promisedBy(told, mode) + 1 >= steps) {
      timer ??= setTimeout(() => child.kill(), delayMs);
    }
  }
  const { signal, report } = await child.ended;
  clearTimeout(timer);
  equal(signal, "SIGKILL", `Nobody killed it. ${report}`);
  return told;
}

function note(told: Told, line: string): void {
  const [what, number] = line.split(" ");
  if (what === "begun") told.hasBegun = true;
  else if (what === "kept") told.kept = Number(number);
  else if (what === "synced") told.synced = Number(number);
}

/** Number of the last step that must be there; -1: none. */
function promisedBy({ kept, synced }: Told, mode: Mode): number {
  return mode === "fast" ? synced : kept;
}

/** Checks one round; says how many of its steps are there. */
function checkRound(
  repo: Repository,
  mode: Mode,
  round: number,
  told: Told,
): number {
  const entries = repo.collection(Entry);
  const found = entries.where({ round }).orderBy("number").run();
  const steps = found.filter(({ id }) => !id.endsWith("-twin"));
  deepEqual(
    steps.map(({ id }) => id),
    steps.map((_, number) => `${round}-${number}`),
    "what remains is a prefix",
  );
  for (const { number, text } of found) equal(text.length, number % 7 * 150);
  const transactions = Math.ceil(steps.length / 3);
  equal(found.length - steps.length, transactions, "a half transaction");
  const last = repo.collection(Sum).get(`${round}`)?.last;
  equal(last, transactions === 0 ? undefined : (transactions - 1) * 3);
  const promised = promisedBy(told, mode);
  ok(steps.length > promised, `${promised} was promised: ${steps.length}`);
  return steps.length;
}

for (const mode of ["default", "trusted", "fast"] as const) {
  Deno.test(`kill -9 in ${mode} mode takes back no promise and leaves no half transaction`, async () => {
    const path = await Deno.makeTempDir();
    const random = seededRandom(5);
    const lengths: number[] = [];
    try {
      for (let round = 0; round < KILLS; round++) {
        const told = await runAndKill(path, mode, round, {
          steps: round === KILLS - 1 ? LONG : 0,
          delayMs: random() * 250,
        });
        ok(told.hasBegun && told.kept >= 0);
        const db = await openDatabase({ path, mode, schemas: [Entry, Sum] });
        const repo = await db.repository("ledger");
        equal(repo.status().recovery.quarantine, undefined);
        lengths.push(checkRound(repo, mode, round, told));
        // Earlier rounds lost nothing more.
        for (const [earlier, length] of lengths.entries()) {
          const told = { hasBegun: true, kept: length - 1, synced: length - 1 };
          equal(checkRound(repo, mode, earlier, told), length);
        }
        const report = await repo.verify();
        ok(report.ok, report.damage?.reason);
        await db.close();
      }
    } finally {
      await Deno.remove(path, { recursive: true });
    }
    ok(lengths.at(-1)! >= LONG, `steps of each round: ${lengths}`);
  });
}
