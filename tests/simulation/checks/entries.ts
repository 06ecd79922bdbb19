/**
 * What a key-value store shows is a naive fold of all that was admitted: the
 * last write of a key counts, until it ends. And each writing of a value is
 * replaced by one compare-and-set at most.
 *
 * @module
 */

import { isDeepStrictEqual } from "node:util";
import type { Stamp } from "../../../src/base/hlc.ts";
import { compareStamps } from "../../../src/base/hlc.ts";
import { openedOf } from "../../../src/db/internals.ts";
import { openKv } from "../../../src/kv/mod.ts";
import { decodeValue } from "../../../src/kv/codec.ts";
import {
  absentDigest,
  digestOf,
  isEntryCollection,
} from "../../../src/kv/entry.ts";
import type { KvValue } from "../../../src/kv/value.ts";
import type { Replica } from "../../../repo/replica.ts";
import type { Operation } from "../../../src/schema/patch.ts";
import type { Desk } from "../desk.ts";
import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";
import { commitsOf } from "./judge.ts";

/** One write of a key. */
interface Written {
  readonly key: string;
  readonly stamp: Stamp;
  readonly value: KvValue | undefined;
  readonly expiresAt: number;
  /** Digest of what a compare-and-set expects. */
  readonly expected: string | undefined;
}

/** Compares every store with what the server admitted. */
export function checkEntries({ clients, server, stage }: Cast): void {
  for (const name of stage.repositories) {
    const served = server.replica(name);
    if (served === undefined) continue;
    const commits = commitsOf(served);
    const writes = commits.flatMap(({ operations, origin }) =>
      operations.flatMap((operation) => writtenBy(operation, origin))
    );
    // No store deletes the item of an entry: a villain does, and the key is absent once more.
    const deleted = commits.flatMap(({ operations }) =>
      operations.filter(({ what, shape }) =>
        what === "delete" && isEntryCollection(shape.collection)
      ).map(({ id }) => id)
    );
    // What a server had accepted and lost stands, also where others swapped before it was back.
    if (!stage.blames.has("wipe")) checkSwaps(name, writes, deleted);
    const last = lastOf(writes);
    const spoilt = spoiltIn(served);
    for (const client of clients) {
      if (client.isRevoked) continue;
      for (const desk of client.desks) {
        if (desk.name !== name) continue;
        checkStore(client.name, desk, last, spoilt);
      }
    }
  }
}

/** What an operation writes of a store. */
function writtenBy(operation: Operation, stamp: Stamp): Written[] {
  const { what, shape, id: key } = operation;
  if (!isEntryCollection(shape.collection) || what === "delete") return [];
  const registers: Record<string, unknown> = what === "create"
    ? operation.item
    : Object.fromEntries(
      operation.changes.flatMap(({ field, change }) =>
        change.what === "set" ? [[field.name, change.value]] : []
      ),
    );
  const { value, data, expiresAt, expected } = registers;
  return [{
    key,
    stamp,
    value: (data instanceof Uint8Array ? decodeValue(data) : value) as
      | KvValue
      | undefined,
    expiresAt: expiresAt as number | undefined ?? Infinity,
    expected: expected as string | undefined,
  }];
}

/** Keys of entries in a generation that no store begins: a relay takes those of villains. */
function spoiltIn(served: Replica): Set<string> {
  return new Set(
    commitsOf(served).flatMap(({ operations }) =>
      operations.filter(({ shape, generation }) =>
        isEntryCollection(shape.collection) && generation > 0
      ).map(({ id }) => id)
    ),
  );
}

function lastOf(writes: readonly Written[]): Map<string, Written> {
  const last = new Map<string, Written>();
  for (const write of writes) {
    const known = last.get(write.key);
    if (known === undefined || compareStamps(known.stamp, write.stamp) <= 0) {
      last.set(write.key, write);
    }
  }
  return last;
}

function checkStore(
  who: string,
  { repository, name }: Desk,
  last: ReadonlyMap<string, Written>,
  spoilt: ReadonlySet<string>,
): void {
  // A device that knows its server's clock goes by that one.
  const nowMs = openedOf(repository)[0]!.world.now();
  const there = [...last.values()].filter(({ key, expiresAt }) =>
    expiresAt > nowMs && !spoilt.has(key)
  );
  const kv = openKv(repository);
  const shown = kv.list().entries.filter(({ key }) => !spoilt.has(key));
  check(
    shown.length === there.length &&
      there.every(({ key, value }) => isDeepStrictEqual(kv.get(key), value)),
    "entries",
    () =>
      `${who} ${name} shows ${shown.map(({ key }) => key)}, admitted were ${
        there.map(({ key }) => key).sort()
      }`,
  );
}

/** Of those who knew nothing of each other and expected the same one won. */
function checkSwaps(
  name: string,
  writes: readonly Written[],
  deleted: readonly string[],
): void {
  const counts = new Map<string, { writes: number; swaps: number }>();
  const countOf = (key: string, digest: string) => {
    const what = `${key} ${digest}`;
    // What is not there was so before anybody wrote.
    const known = counts.get(what) ??
      { writes: digest === absentDigest ? 1 : 0, swaps: 0 };
    counts.set(what, known);
    return known;
  };
  for (const key of deleted) countOf(key, absentDigest).writes++;
  for (const { key, value, expiresAt, expected } of writes) {
    countOf(key, digestOf(value)).writes++;
    if (value !== undefined && expiresAt < Infinity) {
      countOf(key, absentDigest).writes++;
    }
    if (expected !== undefined) countOf(key, expected).swaps++;
  }
  for (const [what, { writes, swaps }] of counts) {
    check(
      swaps <= writes,
      "entries",
      () =>
        `${name}: ${swaps} compare-and-sets of ${what} won, written was it ${writes} times`,
    );
  }
}
