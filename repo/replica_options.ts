/** How a repository is opened, and what its log is loaded over. */

import type { World } from "../src/base/world.ts";
import type { Rules } from "../src/schema/rules.ts";
import type { Schema } from "../src/schema/schema.ts";
import type { Storage } from "../src/storage/storage.ts";
import type { LentChain } from "./graph/continuity.ts";
import type { Door } from "./admission/door.ts";
import type { LoadedReplica } from "./loaded_replica.ts";
import type { ReplayOptions } from "./replay.ts";
import type { ItemName } from "./state/state.ts";
import type { StoreReader } from "./log/store.ts";
import type { Session } from "./commit/session.ts";

export interface OpenReplicaOptions extends ReplayOptions {
  readonly storage: Storage;
  readonly world: World;
  readonly session: Session;
  /** Does the folder lie where it always did? */
  readonly isOriginal: boolean;
  /**
   * For one device with many replicas: a tab writes the chain that it was lent,
   * the owner of the files none of those that it lends.
   */
  readonly lent?: LentChain | "new" | undefined;
  /** The app's rules; without any, whatever is soundly signed is admitted. */
  readonly rules?: Rules | undefined;
  /** Do own payloads carry a salt, so that a hash cannot be guessed back? */
  readonly salt?: boolean | undefined;
  /** The app's schemas, for what they say of more than one value; those of the rules besides. */
  readonly schemas?: readonly Schema[];
  /** Where records of others come in; `undefined` for a tab, which follows its owner. */
  readonly door: Door | undefined;
  /** Set damaged log bytes aside instead of failing. */
  readonly repair: boolean;
  /** Takes what others keep of erased items out of files beside the log. */
  readonly forget?: (
    place: Pick<LoadedReplica, "folder" | "genesisId">,
    items: readonly ItemName[],
  ) => Promise<void>;
  /** Makes the keys durable on which a new repository depends. */
  readonly settle: () => Promise<void>;
}

export interface LoadParts
  extends Pick<LoadedReplica, "folder" | "checkpoint" | "skipped"> {
  readonly names: readonly string[];
  readonly late: { log?: StoreReader };
}
