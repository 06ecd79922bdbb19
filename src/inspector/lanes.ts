/**
 * The graph of commits as rows and lanes: one row a commit, newest first, one
 * lane a chain, a line to each commit that its writer had seen.
 *
 * Pure: it knows nothing of the screen.
 */

export interface GraphCommit {
  readonly commit: string;
  readonly chain: string;
  readonly number: number;
  /** Names of commits of other chains that its writer had seen. */
  readonly parents: readonly string[];
}

/** A line from a commit to one that came before it. */
export interface Edge {
  readonly lane: number;
  /** Row of the earlier commit; one past the last row where it is not shown. */
  readonly row: number;
}

export interface GraphRow<C extends GraphCommit> {
  readonly commit: C;
  readonly lane: number;
  readonly edges: readonly Edge[];
}

export interface Graph<C extends GraphCommit> {
  /** Newest first. */
  readonly rows: readonly GraphRow<C>[];
  readonly lanes: number;
}

/** Lays out commits, which come oldest first, as `repository.history()` gives them. */
export function layOut<C extends GraphCommit>(commits: readonly C[]): Graph<C> {
  const newest = commits.toReversed();
  const rowOf = new Map(newest.map(({ commit }, row) => [commit, row]));
  const places = new Map(
    newest.map(({ chain, number }, row) => [`${chain} ${number}`, row]),
  );
  const lanes = new Map<string, number>();
  for (const { chain } of newest) {
    if (!lanes.has(chain)) lanes.set(chain, lanes.size);
  }
  const below = newest.length;
  const rows = newest.map((commit): GraphRow<C> => {
    const lane = lanes.get(commit.chain)!;
    const edges: Edge[] = [];
    if (commit.number > 0) {
      const row = places.get(`${commit.chain} ${commit.number - 1}`) ?? below;
      edges.push({ lane, row });
    }
    for (const parent of commit.parents) {
      const row = rowOf.get(parent);
      // Older than what is shown: its lane may be unknown, and the line says nothing.
      if (row !== undefined) {
        edges.push({ lane: lanes.get(newest[row]!.chain)!, row });
      }
    }
    return { commit, lane, edges };
  });
  return { rows, lanes: lanes.size };
}
