/**
 * Commits in the order in which the server accepted them, with what was refused
 * and why, as far as a device knows: flush by flush while somebody looks, and
 * before that as its log has them, own ones where they were written.
 *
 * For the inspector.
 */

import type { Position } from "../../repo/mod.ts";
import { chainName } from "../../repo/commit/commit.ts";
import { fromHex } from "../base/bytes.ts";
import { commitName } from "./commit_name.ts";
import type { CommitSummary } from "./history.ts";
import { type AcceptedChain, openedOf } from "./internals.ts";
import type { RefusedWrite } from "./refused_write.ts";
import type { Repository } from "./repository.ts";

/** A commit at its place. */
export interface PlacedCommit {
  readonly commit: CommitSummary;
  /** `void`: refused, or given up: it says nothing. */
  readonly state: "accepted" | "waiting" | "void";
  /** When it was accepted, by the server's clock; `undefined` where that was not heard. */
  readonly acceptedAt: Date | undefined;
  /** Why it was refused: for its author, until that is settled. */
  readonly refusal: RefusedWrite | undefined;
}

/**
 * The newest commits, newest first.
 *
 * @param told what the server told while somebody looked, oldest first
 * @param before how much of each chain it had accepted when that began
 */
export function orderOfAcceptance(
  repository: Repository,
  limit: number,
  told: readonly AcceptedChain[],
  before: ReadonlyMap<string, number>,
): PlacedCommit[] {
  const { replica } = openedOf(repository)[0]!; // It is open: who asks sees it.
  const counts = new Map(before);
  /** Commits that were told to be accepted, in that order, and when. */
  const heard = new Map<string, Date>();
  for (const [chain, [commits, at]] of told) {
    for (let number = counts.get(chain) ?? 0; number < commits; number++) {
      heard.set(commitName({ chain, number }), new Date(at));
    }
    counts.set(chain, Math.max(counts.get(chain) ?? 0, commits));
  }
  const history = repository.history({ limit });
  const byName = new Map(history.map((commit) => [commit.commit, commit]));
  const isAccepted = ({ commit }: CommitSummary) => {
    const { chain, number } = positionOf(commit);
    return number < (counts.get(chain) ?? 0);
  };
  const unheard = history.filter(({ commit }) => !heard.has(commit));
  const inOrder = [
    ...unheard.filter(isAccepted),
    ...[...heard.keys()].flatMap((name) => byName.get(name) ?? []),
    ...unheard.filter((commit) => !isAccepted(commit)),
  ];
  const refusals = new Map(
    repository.sync.status.refusals.map((one) => [one.commit, one]),
  );
  return inOrder.reverse().map((commit) => {
    const refusal = refusals.get(commit.commit);
    const { chain, number } = positionOf(commit.commit);
    const isVoid = refusal !== undefined ||
      replica.commits.read(chain, number)?.commit.isVoid === true;
    const state = isAccepted(commit) ? "accepted" : "waiting";
    return {
      commit,
      state: isVoid ? "void" : state,
      acceptedAt: heard.get(commit.commit),
      refusal,
    };
  });
}

function positionOf(commit: string): Position {
  const [chain = "", number] = commit.split(":");
  return { chain: chainName(fromHex(chain)), number: Number(number) };
}
