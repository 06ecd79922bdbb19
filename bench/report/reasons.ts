/**
 * Why we are behind where we are, in our own words.
 *
 * A reason is written here after a profile showed it, never before. A row that
 * is behind and matches none is listed as "reason not found yet".
 *
 * @module
 */

import type { Figure, SuiteName } from "../harness/figure.ts";

/** What a profile showed, and for which rows. */
export interface Reason {
  readonly suite: SuiteName;
  readonly table?: RegExp;
  readonly operation: RegExp;
  /** Only for engines of ours that match. */
  readonly engine?: RegExp;
  readonly why: string;
}

/** What is said of a row that nobody has explained. */
export const reasonUnknown = "reason not found yet";

const signs =
  "Default hashes and signs each commit: two SHA-256 and one Ed25519 signature, 45 to 60 µs of CPU on this machine beside " +
  "a sync of 90. SQLite and the others sign nothing; Trusted, which does not either, shows the rest of the way.";

const coldCode =
  "SQLite comes compiled; Sheaf's code is compiled by V8 when it is first called. The same call " +
  "is many times quicker when it comes again.";

const objects =
  "Items are kept as objects on V8's heap, ready to be handed out without a copy; SQLite keeps pages and makes rows anew " +
  "each time. The same is why reading them is several times quicker.";

const waves =
  "All 64 are asked for at once and wait for one sync together, so each takes as long as its wave. The others answer " +
  "one call after the other, and what a call waits for those before it is not in its own figure. The rate of all operations " +
  "in the same table is what both took.";

const memory =
  "A read goes through a hash table to an item and its value, which lie scattered on V8's heap: with 10,000 of them each of " +
  "these five or six steps waits for memory. Of 1,000 entries the same get takes 0.25 to 0.35 µs and LMDB's, whose entries lie " +
  "side by side in pages, 0.6 to 0.8.";

const optimized =
  "V8 optimizes what was called some 500 times, and drops that again when a garbage collection finds nothing alive that it was " +
  "made for.";

const largeAtOnce =
  "It is the first large transaction of a process. V8 has optimized little of what it runs by then: repeated in the same " +
  "process it takes half of the CPU time, which is LMDB's (60 ms of 20,000 items) and comes near SQLite's (5,000).";

const twoMedia =
  "It waits for two media, one after the other, with the wire between: the client must not send what it could still lose, " +
  "and the server acknowledges what it has synced. Each syncs once, and nothing else is waited for. Redis and PostgreSQL sync " +
  "once, as their clients keep nothing.";

const servedWaves =
  "Reads make no trip, so soon all 64 are writes: a wave of 64 commits, which the client makes (in Default it hashes, signs " +
  "and syncs them) and then the server takes (and checks, hashes and syncs them). Each process waits for half of the time, " +
  "while the other works. A wave of the others is reads, too, and one medium.";

/** All reasons; the first that matches speaks. */
export const reasons: readonly Reason[] = [
  {
    suite: "sqlite",
    operation: /^start of the process/,
    why:
      "From the sources most of it is import: 220 modules are found, read and evaluated one by one, 0.2 ms each. In the " +
      "package they are 7, and what a first read calls is compiled with them and kept for the next process; most is to load " +
      "and to evaluate them. SQLite is built into Deno, which has compiled it long before.",
  },
  { suite: "sqlite", operation: /fresh process/, why: coldCode },
  {
    suite: "sqlite",
    operation: /^create instance/,
    why:
      "The medium is asked to sync five names and files, which is most of the time.",
  },
  {
    suite: "sqlite",
    operation: /^(create|update)( one)?\b/,
    engine: /default/,
    why: signs,
  },
  {
    suite: "sqlite",
    operation: /^update( one)?\b/,
    engine: /trusted/,
    why:
      `${optimized} With a pause for the sync and no medium, an update takes 40 to 55 µs at first, then 20 to 25, and more ` +
      "again after a collection; SQLite's takes 20 to 30. Without the pause, in caches that nothing else used, it is 9 " +
      "against 12.",
  },
  {
    suite: "sqlite",
    operation: /^open all items' database/,
    why:
      `${optimized} So it does between openings: until some 500 of them an opening takes 0.2 to 0.3 ms, afterwards 0.10 to ` +
      "0.12, as SQLite's does.",
  },
  { suite: "sqlite", operation: /memory/, why: objects },
  {
    suite: "ycsb",
    table: /through a server, 64 in flight/,
    operation: /update|insert|modify|all operations/,
    why: servedWaves,
  },
  {
    suite: "ycsb",
    table: /through a server/,
    operation: /update|insert|modify|all operations/,
    engine: /default|trusted/,
    why: twoMedia,
  },
  {
    suite: "ycsb",
    table: /64 in flight/,
    operation: /update|insert|modify/,
    why: waves,
  },
  {
    suite: "ycsb",
    operation: /update|insert|modify/,
    engine: /default/,
    why: signs,
  },
  {
    suite: "kv",
    operation: /100 KB/,
    why:
      "A value is checked, frozen, written as JSON, summed and (in Default) hashed in JavaScript; half of the CPU is the JSON " +
      "and the garbage of it. LMDB copies bytes into mapped memory.",
  },
  { suite: "kv", operation: /^get\b|a get$/, why: memory },
  {
    suite: "kv",
    operation: /set|delete|mixed 80\/20$/,
    engine: /default/,
    why: signs,
  },
  {
    suite: "stress",
    operation: /27 questions, first time/,
    why:
      "Sheaf builds its indexes at the first question that wants them; SQLite built them while it inserted, which its rows of " +
      "inserting pay for. Asked again, the same questions lead.",
  },
  {
    suite: "stress",
    operation: /whole list/,
    engine: /memory/,
    why:
      "More than half of it is the 27 questions, asked for the first time: the indexes are built then, and in memory nothing " +
      "is waited for in which V8 could optimize that code. Of a second store in the same process the questions take a quarter. " +
      "It wanders: three more runs gave 59, 61 and 80 ms against SQLite's 69, 70 and 83.",
  },
  {
    suite: "stress",
    operation: /save one/,
    engine: /memory/,
    why:
      "Level, rather: three more runs gave 10.9, 11.0 and 12.7 µs against SQLite's 11.0, 11.2 and 11.5.",
  },
  {
    suite: "stress",
    operation: /versions of one/,
    why:
      "Each version is decoded from its commit, by JavaScript that so short a row runs before it is optimized; SQLite reads " +
      "rows of a history table, which a trigger wrote.",
  },
  {
    suite: "stress",
    operation: /resident memory|resident after/,
    why: objects,
  },
  {
    suite: "stress",
    operation: /save|insert|update|delete|CRUD|whole list/,
    engine: /default/,
    why: signs,
  },
  { suite: "compare", operation: /first by id|open and all/, why: coldCode },
  { suite: "compare", operation: /resident|memory/, why: objects },
  { suite: "compare", operation: /one by id/, why: memory },
  {
    suite: "compare",
    operation: /all in one transaction/,
    why: largeAtOnce,
  },
  {
    suite: "compare",
    operation: /bytes on disk/,
    why:
      "Every commit stays, with its hash chain, beside the checkpoint; the others keep the last state only.",
  },
  {
    suite: "compare",
    operation: /one at a time/,
    engine: /default/,
    why: signs,
  },
  {
    suite: "text",
    operation: /bytes of all changes/,
    why:
      "Of a commit's 175 bytes 64 are its signature, 54 say in whose chain it stands, and where; what it says takes 50. " +
      "Who was not there meanwhile gets, and keeps, 60: neighbours travel under one signature.",
  },
  {
    suite: "text",
    operation: /CPU/,
    why:
      "Sheaf does in a document of Yjs what Yjs does, finds what was typed, writes and folds a commit, and signs it: 18 µs " +
      "the signature alone, 1.5 times what Yjs takes for a key.",
  },
  {
    suite: "text",
    operation: /bytes of what they made/,
    why:
      "The checkpoint has the text as it is read beside its units, and where each commit stands that wrote to it.",
  },
];

/** The reason for a figure of ours, if one is known. */
export function reasonFor(
  figure: Figure,
  known: readonly Reason[] = reasons,
): Reason | undefined {
  return known.find((reason) =>
    reason.suite === figure.suite &&
    (reason.table?.test(figure.table) ?? true) &&
    reason.operation.test(figure.operation) &&
    (reason.engine?.test(figure.engine) ?? true)
  );
}
