/**
 * What the order cannot tell in the end, asked while it grows: nothing is
 * accepted before its time, no lease is taken that lasts, and a session that
 * was revoked adds nothing.
 *
 * @module
 */

import type { Replica } from "../../../repo/replica.ts";
import { payloadOf } from "../../../repo/batch.ts";
import { chainHex } from "../../../repo/commit.ts";
import { limits } from "../../../src/base/limits.ts";
import {
  absentDigest,
  isEntryCollection,
  isThere,
} from "../../../src/kv/entry.ts";
import type { Cell, Origin } from "../../../src/schema/cell.ts";
import { fold, stampIn } from "../../../src/schema/merge.ts";
import type { Operation } from "../../../src/schema/patch.ts";
import { decodePatch } from "../../../src/schema/patch_codec.ts";
import { knowing } from "../collections.ts";
import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";

/** How far the order of a replica was looked at. */
interface Looked {
  end: number;
  readonly lengths: Map<string, number>;
  /** Entries of stores. */
  readonly cells: Map<string, Cell>;
}

const looked = new WeakMap<Replica, Looked>();
/** Lengths of chains whose session was revoked, by repository and chain. */
const ended = new WeakMap<Cast, Map<string, number>>();

/** Looks at what the server has accepted since the last look. */
export function checkVillains(cast: Cast): void {
  const { server, stage, villains } = cast;
  if (villains.length === 0) return;
  for (const name of stage.repositories) {
    const served = server.replica(name);
    if (served === undefined) continue;
    // A disk that comes back has what another one had refused.
    if (!stage.blames.has("wipe")) checkEnded(cast, served);
    // What was right when it was accepted may be wrong by a clock that was set.
    if (!stage.blames.has("clock s")) lookAt(served, server.world.now());
    const chains = chainsBy(served);
    check(
      Math.max(0, ...chains.values()) <= limits.sessionChainsMax,
      "bounds",
      () => `${name} has ${[...chains.values()]} chains by session`,
    );
    const { size } = served.state;
    check(
      size <= limits.collectionsMax,
      "bounds",
      () => `${name} has ${size} collections`,
    );
  }
}

/** How many chains each session has. */
function chainsBy({ graph }: Replica): Map<string, number> {
  const chains = new Map<string, number>();
  for (const { name } of graph.chains()) {
    const key = name.slice(0, 32);
    chains.set(key, (chains.get(key) ?? 0) + 1);
  }
  return chains;
}

function checkEnded(cast: Cast, { name, graph }: Replica): void {
  const { server } = cast;
  let lengths = ended.get(cast);
  if (lengths === undefined) ended.set(cast, lengths = new Map());
  for (const { name: chain, length } of graph.chains()) {
    const hex = chainHex(chain);
    if (!server.hasRevoked(hex.slice(0, 64))) continue;
    const key = `${name} ${hex}`;
    const known = lengths.get(key) ?? length;
    lengths.set(key, known);
    check(
      length <= known,
      "revoked",
      () => `${length - known} commits of ${key} came after its revocation`,
    );
  }
}

function lookAt(replica: Replica, nowMs: number): void {
  let known = looked.get(replica);
  if (known === undefined) {
    known = { end: 0, lengths: new Map(), cells: new Map() };
    looked.set(replica, known);
  }
  const { lengths, cells } = known;
  replica.flush();
  const { end } = replica.loaded.log;
  replica.commits.each(
    ({ batch }) => {
      const { chain, first, commits } = batch;
      const from = Math.max(0, (lengths.get(chain) ?? 0) - first);
      for (const commit of commits.slice(from)) {
        const { wall, count } = commit;
        check(
          wall <= nowMs,
          "early",
          () => `${replica.name} took a commit of ${wall} at ${nowMs}`,
        );
        const origin = { wall, count, chain, operationsAt: -1 };
        for (
          const operation of decodePatch(payloadOf(batch, commit)).operations
        ) {
          checkLease(cells, operation, origin, nowMs);
        }
      }
      lengths.set(
        chain,
        Math.max(lengths.get(chain) ?? 0, first + commits.length),
      );
    },
    known.end,
    end,
  );
  known.end = end;
}

/** A lease of somebody else that lasts is there for a compare-and-set. */
function checkLease(
  cells: Map<string, Cell>,
  operation: Operation,
  origin: Origin,
  nowMs: number,
): void {
  const { shape: { collection }, id } = operation;
  if (!isEntryCollection(collection)) return;
  const key = `${collection} ${id}`;
  const before = cells.get(key);
  const after = fold(before, operation, origin, -1, knowing(collection));
  cells.set(key, after);
  const isTaken = before?.item !== undefined &&
    before.item["expiresAt"] !== undefined && isThere(before.item, nowMs) &&
    stampIn(before, "expiresAt")?.chain !== origin.chain &&
    expectsNothing(operation);
  check(!isTaken, "lease", () => `${key} was taken before its lease had ended`);
}

function expectsNothing(operation: Operation): boolean {
  if (operation.what === "create") {
    return operation.item["expected"] === absentDigest;
  }
  return operation.what === "update" &&
    operation.changes.some(({ field: { name }, change }) =>
      name === "expected" && change.what === "set" &&
      change.value === absentDigest
    );
}
