/**
 * What a redaction of some items has to say: every commit here that said
 * something of them, with what it was and what is left of it.
 */

import type { Signer } from "../../crypto/keys.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { erase } from "../../src/schema/erasure.ts";
import { isErased } from "../../src/schema/stub.ts";
import type { Judged } from "../admission/admit.ts";
import type { Arrival } from "../admission/arrival.ts";
import type { Batch } from "../commit/batch.ts";
import type { Position } from "../commit/commit.ts";
import {
  type ErasedCommit,
  type RedactionFields,
  redactionLayout,
} from "../commit/redaction.ts";
import { recordKind } from "../log/format.ts";
import { eachChosen } from "../history/time_travel.ts";
import { erasedChains, isOf, itemsOf } from "./erased.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import type { ItemName } from "../state/state.ts";

/** Of so many items and commits a record is never too large. */
const ITEMS_MAX = 32;
const COMMITS_MAX = 400;

export type RedactionHead = Pick<RedactionFields, "wall" | "reason">;

type Found = Position & Omit<ErasedCommit, "number">;

export interface Redactor extends Signer {
  readonly certificate?: Uint8Array | undefined;
}

/** Says so in the name of who may; how many commits it means. */
export function redact(
  { loaded, receive }: {
    readonly loaded: LoadedReplica;
    readonly receive: (arrivals: readonly Arrival[]) => readonly Judged[];
  },
  items: readonly ItemName[],
  redactor: Redactor,
  head: RedactionHead,
): number {
  const said = composeRedactions(loaded, items, head);
  const arrivals: Arrival[] = said.map((one) => ({
    kind: recordKind.redaction,
    bytes: redactionLayout.sign(one, redactor).bytes,
  }));
  const { certificate: bytes } = redactor;
  if (bytes !== undefined && arrivals.length > 0) {
    arrivals.unshift({ kind: recordKind.certificate, bytes });
  }
  const judged = receive(arrivals);
  for (const { verdict } of judged) {
    if (verdict.verdict !== "refuse") continue;
    const { refused, detail = refused } = verdict.refusal;
    throw new DatabaseError("refused", `Nothing was erased: ${detail}`);
  }
  return said.flatMap(({ chains }) => chains.flatMap(({ commits }) => commits))
    .length;
}

/** Says what it takes to erase some items; nothing where nothing is left to erase. */
export function composeRedactions(
  loaded: LoadedReplica,
  items: readonly ItemName[],
  head: RedactionHead,
): RedactionFields[] {
  const said: RedactionFields[] = [];
  for (let at = 0; at < items.length; at += ITEMS_MAX) {
    const some = items.slice(at, at + ITEMS_MAX);
    for (const group of groupsOf(loaded, some)) {
      for (let i = 0; i < group.found.length; i += COMMITS_MAX) {
        const chains = erasedChains(group.found.slice(i, i + COMMITS_MAX));
        const { genesisId } = loaded;
        said.push({ ...head, genesisId, items: group.items, chains });
      }
    }
  }
  return said;
}

/** Commits of which the same items are to be erased. */
interface Group {
  readonly items: readonly ItemName[];
  readonly found: Found[];
}

/**
 * A record names what earlier ones erased of its commits, too: the hash of what is
 * left is then the same for who never knew them.
 */
function groupsOf(
  { commits, credentials: { redactions } }: LoadedReplica,
  items: readonly ItemName[],
): Iterable<Group> {
  const groups = new Map<string, Group>();
  const isMeant = isOf(items);
  eachSpoken(commits, items, (batch, i) => {
    const { bytes, chain, first } = batch;
    const { payloadAt, end, isVoid } = batch.commits[i]!;
    const payload = bytes.subarray(payloadAt, end);
    if (isVoid || erase(payload, isMeant) === undefined) return;
    const number = first + i;
    const all = [...items, ...itemsOf(redactions, { chain, number })];
    const named = new Map(all.map((one) => [JSON.stringify(one), one]));
    const left = erase(payload, isOf(all))!;
    const was = isErased(payload)
      ? redactions.hashOf(chain, number)!
      : sha256(payload);
    const key = [...named.keys()].sort().join();
    const group = groups.get(key) ?? { items: [...named.values()], found: [] };
    groups.set(key, group);
    group.found.push({ chain, number, was, is: sha256(left) });
  });
  return groups.values();
}

/** Visits commits that may speak of items, each once: those that do, where an index knows. */
function eachSpoken(
  commits: CommitReader,
  items: readonly ItemName[],
  visit: (batch: Batch, index: number) => void,
): void {
  const { touches } = commits;
  if (touches === undefined) {
    return eachChosen(commits, visit);
  }
  const seen = new Set<string>();
  for (const { chain, number } of items.flatMap((one) => touches.of(one))) {
    const name = `${chain}${number}`;
    if (seen.has(name)) continue;
    seen.add(name);
    const { batch } = commits.read(chain, number)!.logged;
    visit(batch, number - batch.first);
  }
}
