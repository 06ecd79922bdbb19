/**
 * The naive judge: replays the order of acceptance from nothing, one commit
 * after the other, and asks plain predicates whether each was allowed: by whom
 * (`allowed.ts`), in which generation, as which kind, and naming what.
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
import { Names } from "./names.ts";

/** An accepted commit. */
export interface Known {
  readonly chain: string;
  readonly origin: Origin;
  readonly operations: readonly Operation[];
}

/** Judges everything that the server accepted, in its order. */
export function checkJudged({ stage, server }: Cast): void {
  const { hasRules, villains } = stage.plan;
  if (!hasRules && villains === 0) return;
  for (const name of stage.repositories) {
    const served = server.replica(name);
    if (served !== undefined) judgeAll(served, name, hasRules);
  }
}

function judgeAll(
  replica: Replica,
  repository: string,
  hasRules: boolean,
): void {
  const cells = new Map<string, Cell>();
  const names = new Names();
  for (const { chain, origin, operations } of commitsOf(replica)) {
    const asker = askerOf(replica, chain, repository);
    names.begin(origin);
    for (const operation of operations) {
      const { shape: { collection }, id } = operation;
      const key = `${collection} ${id}`;
      const before = cells.get(key);
      const after = fold(before, operation, origin, -1, knowing(collection));
      cells.set(key, after);
      if (asker === undefined || isEnded(operation, before)) continue;
      const fault = skipped(operation, before) ??
        names.fault(operation, origin);
      check(
        fault === undefined && (!hasRules ||
          mayWrite(asker, collection, before?.item, after.item)),
        "judge",
        () => {
          return `${asker.user} was let change ${key} in ${repository}: ` +
            `${JSON.stringify(before?.item)} to ${JSON.stringify(after.item)} ${
              fault ?? ""
            }`;
        },
      );
    }
  }
}

/** Is it of a generation that nobody has come to? */
function skipped({ generation }: Operation, before?: Cell): string | undefined {
  const due = before === undefined
    ? 0
    : before.generation + Number(before.item === undefined);
  return generation > due ? `in generation ${generation}` : undefined;
}

/** Is it meant for a generation that has ended, so that it changes nothing? */
function isEnded({ generation }: Operation, before: Cell | undefined): boolean {
  if (before === undefined) return false;
  return generation < before.generation ||
    generation === before.generation && before.item === undefined;
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

/** All commits, in the order in which they were accepted. */
export function commitsOf(replica: Replica): Known[] {
  const commits: Known[] = [];
  replica.flush();
  replica.commits.each(({ batch, address, from }) => {
    for (let i = from; i < batch.commits.length; i++) {
      const { chain } = batch;
      const commit = batch.commits[i]!;
      const patch = decodePatch(payloadOf(batch, commit));
      const operationsAt = address + commit.payloadAt + patch.operationsOffset;
      const { wall, count } = commit;
      const origin = { wall, count, chain, operationsAt };
      commits.push({ chain, operations: patch.operations, origin });
    }
  });
  return commits;
}
