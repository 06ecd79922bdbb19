/**
 * What opening a repository brought into memory: what all that works on an open
 * one is given.
 */

import type { Credentials } from "./commit/credentials.ts";
import type { Checkpoint, SkippedCheckpoint } from "./checkpoint/checkpoint.ts";
import type { Constraints } from "./admission/constraints.ts";
import type { Mode } from "./commit/genesis.ts";
import type { Graph } from "./graph/graph.ts";
import type { CommitReader } from "./history/commit_reader.ts";
import type { Store } from "./log/store.ts";
import type { LoggedMark } from "./log/order.ts";
import type { Recovery } from "./log/recovery.ts";
import type { Salvage } from "./repair/salvage.ts";
import type { SavedState } from "./checkpoint/saved_state.ts";
import type { Items } from "./state/items.ts";
import type { VoidCommits } from "./refusal/void_commits.ts";

export interface LoadedReplica {
  readonly folder: string;
  /** The session key that signed here when it was opened, as 32 characters. */
  readonly ownKey: string;
  readonly mode: Mode;
  readonly genesis: Uint8Array;
  readonly genesisId: Uint8Array;
  readonly graph: Graph;
  readonly credentials: Credentials;
  readonly items: Items;
  readonly log: Store;
  /** Reads commits back from the log. */
  readonly commits: CommitReader;
  readonly checkpoint: Checkpoint | undefined;
  readonly skipped: readonly SkippedCheckpoint[];
  readonly recovery: Recovery;
  /** Which commits are void, and the refusals that stand. */
  readonly voided: VoidCommits;
  /** The last mark of the order of acceptance; `undefined` where nobody was ever served. */
  order: LoggedMark | undefined;
  /** What repairs could not connect, until it connects again. */
  salvage: Salvage | undefined;
  /** In a repair: what the newest checkpoint knew. */
  readonly saved?: SavedState | undefined;
  /** What its schemas say of more than one value; `undefined` where they do not. */
  readonly constraints: Constraints | undefined;
}
