/**
 * The suite `compare`: inserting and reading the same items with Sheaf and
 * with whom people weigh it against, each in a process of its own.
 *
 * Engines differ in what they are: some keep all in memory, some sign, some
 * merge, some only store. The figures say what an insert and a read cost, and
 * beside each what a write had promised when it was done.
 *
 * @module
 */

import type { CaseSpec, Outcome, Stage, Suite } from "../harness/suite.ts";
import { casesOf, type Work } from "./cases.ts";
import { entryOf } from "./engines.ts";
import { insert } from "./insert.ts";

/** The suite. */
export const suite: Suite = {
  name: "compare",
  peers: [
    "@automerge/automerge",
    "classic-level",
    "ioredis",
    "lmdb",
    "loro-crdt",
    "pg",
    "pouchdb-adapter-leveldb",
    "pouchdb-core",
    "rxdb",
    "rxdb-old",
    "rxjs",
    "tinybase",
    "yjs",
  ],
  cases: casesOf,
  run(spec: CaseSpec, stage: Stage): Promise<Outcome[]> {
    return insert(spec, entryOf(spec.engine), workOf(spec), stage);
  },
};

function workOf({ params }: CaseSpec): Work {
  const { work } = params;
  switch (work) {
    case "one":
    case "hundreds":
    case "all":
      return work;
    default:
      throw new RangeError(`no work is named ${work}`);
  }
}
