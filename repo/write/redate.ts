/**
 * Dating anew: own commits that a wrong clock dated too far ahead for the server
 * are taken back and written again as of now, without the app.
 *
 * They become refusals first, each of which a record settles that stands right
 * before the new commit; what a crash leaves of them is shown like any other.
 *
 * Architecture invariant: only what no server has is taken back, and nothing of
 * it is lost (law 11).
 *
 * @module
 */

import { DatabaseError } from "../../src/base/errors.ts";
import { compareHlc } from "../../src/base/hlc.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import type { Graph } from "../graph/graph.ts";
import type { RefusedCommit, RepositoryPort } from "../port.ts";
import type { RefusedEntry } from "../refusal/refusals.ts";
import type { Done, Writer } from "./writer.ts";
import { lowerBound } from "../../src/base/collections.ts";

const REASON = "bad-clock";

/** What dating anew works with. */
export interface Dated extends Pick<RepositoryPort, "refuse" | "withdraw"> {
  readonly graph: Graph;
  readonly commits: CommitReader;
  flush(): void;
  publishing(tell: () => void): void;
  refusals(): readonly RefusedEntry[];
  retry(entry: RefusedEntry): Done<void>;
}

/**
 * Takes own commits back that are dated later than `latestMs`, and writes them
 * again. What rules forbid by now stays a refusal.
 *
 * @param latestMs wall milliseconds
 * @param has how many commits of a chain others have: they stay
 */
export function redate(
  replica: Dated,
  writer: Pick<Writer, "ownKeys" | "moves">,
  latestMs: number,
  has: (chain: string) => number,
): void {
  // Callbacks run when all of it was written again.
  replica.publishing(() => writeAll(replica, writer, latestMs, has));
}

function writeAll(
  replica: Dated,
  writer: Pick<Writer, "ownKeys" | "moves">,
  latestMs: number,
  has: (chain: string) => number,
): void {
  const { graph } = replica;
  replica.flush();
  const keys = writer.ownKeys();
  const seen = new Set<string>();
  // Taking one back may put others that are as late into a new chain.
  for (;;) {
    const chain = [...graph.chains()].find(({ name, last }) =>
      last.wall > latestMs && !seen.has(name) && keys.has(name.slice(0, 32))
    )?.name;
    if (chain === undefined) break;
    seen.add(chain);
    const from = Math.max(has(chain), firstAfter(replica, chain, latestMs));
    takeBack(replica, chain, from);
  }
  const ahead = replica.refusals().filter(({ reason, wall }) =>
    reason === REASON && wall > latestMs
  );
  for (const entry of ahead.sort(compareHlc)) {
    writeAgain(replica, writer, entry);
  }
}

function takeBack(replica: Dated, chain: string, from: number): void {
  const refused: RefusedCommit[] = [];
  for (let number = from; number < replica.graph.lengthOf(chain); number++) {
    const detail = "It was dated too far ahead";
    refused.push({ number, reason: REASON, rule: "", detail, kept: false });
  }
  if (refused.length === 0) return;
  replica.refuse(chain, refused);
  // Nothing goes on behind them: it would have to be later still.
  replica.withdraw(chain, from);
}

/** The number of a chain's first commit that is dated later; its clocks go up. */
function firstAfter(
  { graph, commits }: Dated,
  chain: string,
  latestMs: number,
): number {
  const isLater = (number: number) =>
    commits.clockAt(chain, number)!.wall > latestMs;
  return lowerBound(graph.lengthOf(chain) - 1, isLater);
}

function writeAgain(
  replica: Dated,
  { moves }: Pick<Writer, "moves">,
  entry: RefusedEntry,
): void {
  try {
    const { commit } = replica.retry(entry);
    if (commit === undefined) return;
    moves.redirect(entry.chain, entry.number, commit);
  } catch (cause) {
    // A rule forbids it by now: it stays a refusal.
    if (!(cause instanceof DatabaseError)) throw cause;
  }
}
