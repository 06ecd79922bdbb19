/**
 * A process that writes until it is killed, and tells on its standard output
 * what it was promised. Run by `kill_test.ts`, never by a user.
 *
 * Lines: `begun <round>`; `kept <number>`: this step was acknowledged;
 * `synced <number>`: `durable()` covered all steps up to this one.
 *
 * @module
 */

import { openDatabase, type Repository } from "../../mod.ts";
import { Entry, Sum, toMode } from "./ledger.ts";

const [path, modeName, roundText] = Deno.args;
const round = Number(roundText);
const mode = toMode(modeName);
const db = await openDatabase({ path: path!, mode, schemas: [Entry, Sum] });
const repo = await db.repository("ledger");
tell(`begun ${round}`);
for (let number = 0;; number++) await step(repo, number);

/** One step: a lone write, or a transaction of three items; now and then a checkpoint. */
async function step(repo: Repository, number: number): Promise<void> {
  const id = `${round}-${number}`;
  const text = "x".repeat(number % 7 * 150);
  if (number % 3 === 0) {
    await repo.transact((tx) => {
      tx.collection(Entry).create({ id, round, number, text });
      tx.collection(Entry).create({ id: `${id}-twin`, round, number, text });
      tx.collection(Sum).upsert({ id: `${round}`, last: number });
    });
  } else {
    await repo.collection(Entry).create({ id, round, number, text });
  }
  tell(`kept ${number}`);
  if (number % 40 === 39) {
    await repo.durable();
    tell(`synced ${number}`);
  }
  if (number % 100 === 99) await repo.checkpoint();
  // Fast mode writes when the event loop comes round.
  if (number % 25 === 0) await new Promise((resolve) => setTimeout(resolve));
}

function tell(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
