/**
 * What tabs were promised in the life of an origin, and whether it was kept:
 * in every tab, at the server, on another device, and in the files.
 *
 * @module
 */

import assert from "node:assert/strict";
import {
  defineRules,
  defineSchema,
  memoryStorage,
  openDatabase,
  type Repository,
  rulesFor,
} from "../../mod.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { field } from "../../src/text/mod.ts";
import { filesOf, restored } from "./images.ts";
import type { MemoryServer } from "./memory_server.ts";
import type { Tab } from "./tab_place.ts";
import { until } from "./patience.ts";

/** A card; all tabs share one of them. */
export const Card = defineSchema("card", {
  title: field.string(),
  votes: field.counter(),
  note: field.text(),
});
export const schemas = [Card];
/** The card that all share. */
export const SHARED = "shared";
/** Nothing takes longer, on a machine that is busy or slow either. */
export const WAIT_MS = 60_000;

/** Only the server has them: who writes learns of a refusal when it is too late. */
export const rules = defineRules({
  "**": {
    read: () => true,
    collections: [
      rulesFor(Card, {
        create: ({ after }) => !after.title.startsWith("bad") || "No bad cards",
        update: () => true,
        delete: () => true,
      }),
    ],
  },
});

/** Dice with a seed. */
export function dice(seed: number): (sides: number) => number {
  let state = Math.imul(seed, 2654435761) >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * sides);
  };
}

/** What is known of one write. */
export interface Entry {
  readonly tab: Tab;
  readonly isBad: boolean;
  isDurable: boolean;
  isSynced: boolean;
}

/** The server has everything, and another device sees the same. */
export async function judgeServer(
  server: MemoryServer,
  repositories: readonly Repository[],
): Promise<void> {
  const isDone = ({ sync: { status } }: Repository) =>
    status.state === "live" && status.unsent.commits === 0;
  await until(
    () => repositories.every(isDone),
    "the server has everything",
    WAIT_MS,
  ).catch((cause) => {
    const all = repositories.map(({ sync }) => JSON.stringify(sync.status));
    throw new Error(all.join("\n"), { cause });
  });
  await using other = await openDatabase({
    storage: memoryStorage(),
    rootKey: server.rootKey,
    mode: repositories[0]!.mode,
    schemas,
  });
  other.connect(server.connector, {
    session: () => ({ token: "t" }),
    login: server.login,
  });
  const there = await other.repository("board");
  await until(
    () => repositories.every((one) => stateOf(one) === stateOf(there)),
    "another device sees the same",
    WAIT_MS,
  ).catch((cause) => {
    const all = [there, ...repositories].map(stateOf);
    throw new Error(all.join("\n"), { cause });
  });
}

/** Is there what was promised, once, and nothing else? */
export function judgeLedger(
  ledger: ReadonlyMap<string, Entry>,
  repository: Repository,
): void {
  const cards = repository.collection(Card);
  const titles = titlesOf(repository);
  assert.equal(titles.size + 1, cards.all().length, "no card is there twice");
  for (const title of titles) {
    assert.ok(ledger.has(title), `nobody wrote ${title}`);
  }
  for (const [title, { isBad, isDurable, isSynced }] of ledger) {
    if (isBad) assert.ok(!titles.has(title), `${title} was refused`);
    else if (isDurable || isSynced) {
      assert.ok(titles.has(title), `${title} was lost`);
    }
  }
  const { votes, note } = cards.get(SHARED)!;
  assert.equal(votes, titles.size, "each write voted once");
  assert.equal(note, "x".repeat(titles.size), "each write left its mark");
}

/** Are its files sound, and is it what the server has? */
export async function audit(
  repository: Repository,
  hasServer: boolean,
): Promise<void> {
  const { damage } = await repository.verify();
  assert.equal(damage, undefined);
  if (!hasServer) return;
  const { equal, message } = await repository.sync.audit();
  assert.ok(equal, message);
}

/** What the files say to who opens them cold. */
export async function judgeFiles(
  files: Storage,
  rootKey: string | undefined,
  state: string,
): Promise<void> {
  await using database = await openDatabase({
    storage: restored(filesOf(files)),
    schemas,
    ...rootKey !== undefined && { rootKey },
  });
  assert.equal(stateOf(await database.repository("board")), state);
}

/** Titles of all cards but the one that all share. */
export function titlesOf(repository: Repository): Set<string> {
  const titles = repository.collection(Card).all().map(({ title }) => title);
  return new Set(titles.filter((title) => title !== SHARED));
}

/** All that there is to see. */
export function stateOf(repository: Repository): string {
  const all = repository.collection(Card).all()
    .map(({ id, title, votes, note }) => `${id} ${title} ${votes} ${note}`);
  return all.sort().join(", ");
}
