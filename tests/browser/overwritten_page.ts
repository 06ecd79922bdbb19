/**
 * A page of the proofs that listens for its edits that lost.
 *
 * @module
 */

import { type Database, openDatabase } from "../../src/browser/mod.ts";
import { Item } from "./proof_schema.ts";

const told: string[] = [];
let database: Database;

async function items() {
  return (await database.repository("team/board")).collection(Item);
}

/** Opens the database, and connects it. */
export async function open(
  name: string,
  rootKey: string,
  url: string,
): Promise<void> {
  const worker = "/worker.js";
  database = await openDatabase({ worker, schemas: [Item], name, rootKey });
  connect(url);
}

export function connect(url: string): void {
  database.connect(url, { session: { anonymous: true } });
}

export async function disconnect(): Promise<void> {
  await database.connection?.close();
}

/** Writes the one item; resolves when that is durable. */
export async function write(text: string): Promise<void> {
  await (await items()).upsert({ id: "x", run: "x", n: 1, text });
}

export async function text(): Promise<string | undefined> {
  return (await items()).get("x")?.text;
}

/** Does the server lack anything? */
export async function unsent(): Promise<number> {
  const { sync } = await database.repository("team/board");
  return sync.status.state === "live" ? sync.status.unsent.commits : -1;
}

export async function listen(): Promise<void> {
  (await items()).onOverwritten((edits) => {
    for (const { kind, id, before, after } of edits) {
      told.push(`${kind} ${id} ${before} ${after}`);
    }
  });
}

/** What it was told so far. */
export function heard(): string[] {
  return told;
}
