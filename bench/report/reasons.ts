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

/** All reasons; the first that matches speaks. */
export const reasons: readonly Reason[] = [
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
  { suite: "sqlite", operation: /memory/, why: objects },
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
