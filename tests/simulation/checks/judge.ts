/**
 * The naive judge: folds the ancestors of every admitted commit anew, one by
 * one, and asks the plain predicates whether the commit was allowed.
 *
 * @module
 */

import type { Replica } from "../../../repo/replica.ts";
import { payloadOf } from "../../../repo/batch.ts";
import type { Cell, Origin } from "../../../src/schema/cell.ts";
import { fold } from "../../../src/schema/merge.ts";
import type { Operation } from "../../../src/schema/patch.ts";
import { decodePatch } from "../../../src/schema/patch_codec.ts";
import { type Asker, mayWrite } from "../allowed.ts";
import { knowing } from "../collections.ts";
import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";

/** A commit, with all that came before it. */
export interface Known {
  readonly chain: string;
  readonly number: number;
  readonly origin: Origin;
  readonly operations: readonly Operation[];
  /** How many commits of each chain are its ancestors. */
  readonly before: ReadonlyMap<string, number>;
}

/** Judges everything that the server admitted. */
export function checkJudged({ stage, server }: Cast): void {
  if (!stage.plan.hasRules) return;
  for (const name of stage.repositories) {
    const served = server.replica(name);
    if (served !== undefined) judgeAll(served, name);
  }
}

function judgeAll(replica: Replica, repository: string): void {
  const commits = commitsOf(replica);
  const touches = touchesOf(commits);
  for (const commit of commits) {
    const asker = askerOf(replica, commit.chain, repository);
    if (asker === undefined) continue;
    const cells = new Map<string, Cell | undefined>();
    for (const operation of commit.operations) {
      const { shape: { collection }, id } = operation;
      const key = keyOf(collection, id);
      if (!cells.has(key)) {
        const touching = touches.get(key) ?? [];
        cells.set(key, cellBefore(commit, touching, collection, id));
      }
      const before = cells.get(key);
      const after = fold(
        before,
        operation,
        commit.origin,
        -1,
        knowing(collection),
      );
      cells.set(key, after);
      check(
        mayWrite(asker, collection, before?.item, after.item),
        "judge",
        () => {
          return `${asker.user} was let change ${key} in ${repository}: ` +
            `${JSON.stringify(before?.item)} to ${JSON.stringify(after.item)}`;
        },
      );
    }
  }
}

function keyOf(collection: string, id: string): string {
  return `${collection} ${id}`;
}

/** The commits that touch each item, in their order. */
function touchesOf(commits: readonly Known[]): Map<string, Known[]> {
  const touches = new Map<string, Known[]>();
  for (const commit of commits) {
    const keys = commit.operations.map(({ shape, id }) =>
      keyOf(shape.collection, id)
    );
    for (const key of new Set(keys)) {
      const touching = touches.get(key);
      if (touching === undefined) touches.set(key, [commit]);
      else touching.push(commit);
    }
  }
  return touches;
}

/** Who signed the chain; `undefined` for those who are not judged. */
function askerOf(
  replica: Replica,
  chain: string,
  repository: string,
): Asker | undefined {
  const [certificate] = replica.certificates.of(chain.slice(0, 32));
  check(
    certificate !== undefined,
    "judge",
    () => `a chain in ${repository} has no certificate`,
  );
  if (certificate.mayIssue) return undefined;
  const { team } = JSON.parse(certificate.claims) as { team: string };
  return { user: certificate.user, team, repository };
}

function cellBefore(
  { before }: Known,
  commits: readonly Known[],
  collection: string,
  id: string,
): Cell | undefined {
  let cell: Cell | undefined;
  for (const { chain, number, origin, operations } of commits) {
    if (number >= (before.get(chain) ?? 0)) continue;
    for (const operation of operations) {
      if (operation.id !== id || operation.shape.collection !== collection) {
        continue;
      }
      cell = fold(cell, operation, origin, -1, knowing(collection));
    }
  }
  return cell;
}

/** All commits, parents before children. */
export function commitsOf(replica: Replica): Known[] {
  const commits: Known[] = [];
  const after = new Map<string, ReadonlyMap<string, number>>();
  replica.flush();
  replica.commits.each(({ batch, address, from }) => {
    for (let i = from; i < batch.commits.length; i++) {
      const { chain } = batch;
      const commit = batch.commits[i]!;
      const number = batch.first + i;
      const before = new Map(after.get(`${chain} ${number - 1}`));
      before.set(chain, number);
      for (const parent of commit.parents) {
        const known = after.get(`${parent.chain} ${parent.number}`);
        for (const [name, count] of known ?? []) {
          before.set(name, Math.max(count, before.get(name) ?? 0));
        }
      }
      after.set(`${chain} ${number}`, new Map(before).set(chain, number + 1));
      const patch = decodePatch(payloadOf(batch, commit));
      const operationsAt = address + commit.payloadAt + patch.operationsOffset;
      const { wall, count } = commit;
      commits.push({
        chain,
        number,
        before,
        operations: patch.operations,
        origin: { wall, count, chain, operationsAt },
      });
    }
  });
  return commits;
}
