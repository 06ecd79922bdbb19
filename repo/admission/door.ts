/**
 * The door of a replica, through which it deals with others: handed to it by who
 * opens it, so that one without visitors (a tab's) loads none.
 */

import type { LoadedReplica } from "../loaded_replica.ts";
import { assert } from "../../src/base/errors.ts";
import type { World } from "../../src/base/world.ts";
import type { ServedOrder } from "../log/served_order.ts";
import type { Intake, IntakeParts } from "./intake.ts";
import type { ReplicaPort, ReplicaPortParts } from "../replica_port.ts";
import type { Store, Stores } from "../log/store.ts";
import type { Over } from "../replay.ts";
import type { FoldedItems } from "../state/items.ts";
import type { Outline } from "../state/outline.ts";
import type { ViewOf } from "../state/state.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Shape } from "../../src/schema/patch.ts";

/** A repository that is open, and how it is folded. */
export interface Unfolded {
  readonly storage: Storage;
  readonly folder: string;
  readonly log: Store;
  readonly viewOf: ViewOf;
  readonly over: Over;
}

export interface Relay {
  /** @param shapes what a checkpoint says of collections and fields */
  readonly outline: (shapes?: readonly Shape[]) => Outline;
  /** Folds what is in the files. */
  readonly fold: (unfolded: Unfolded) => FoldedItems;
}

/** The orders of stores of a kind. */
export interface Orders {
  /** Goes on with the order of a store, or begins one. */
  open(
    storage: Storage,
    world: World,
    loaded: LoadedReplica,
  ): Promise<ServedOrder>;
  /** Ends the epoch of one of which it cannot be proved that it has all that was given out. */
  end(storage: Storage, folder: string): void;
}

export interface Door {
  /** Takes in what they bring; made when something comes. */
  readonly intake: (parts: IntakeParts) => Intake;
  /** Notes what touches each item, from when it is opened. */
  readonly index?: (loaded: LoadedReplica) => void;
  /** Makes it a relay, where nothing is judged by items: none is folded before somebody needs it. */
  readonly relay?: Relay | undefined;
  /** Shows the replica to them. */
  readonly port: (parts: ReplicaPortParts) => ReplicaPort;
  /**
   * Loads what that takes, where it is not here yet: before anybody comes, and before a
   * repair, of which remains come in again.
   */
  readonly prepare?: () => Promise<void>;
  /** Keeps the order of a log; where it is served. */
  readonly order?: Orders;
  /** Where records are kept; in logs, where nothing is served. */
  readonly stores?: Stores;
}

interface DoorCode {
  readonly Intake: typeof Intake;
  readonly ReplicaPort: typeof ReplicaPort;
}

/** A door where nothing is served; what it takes is loaded when somebody is about to come. */
export function lateDoor(load: () => Promise<DoorCode>): Door {
  let loaded: DoorCode | undefined;
  const code = () => {
    assert(loaded !== undefined, "the door is prepared before others come");
    return loaded;
  };
  return {
    async prepare() {
      loaded ??= await load();
    },
    intake: (parts) => new (code().Intake)(parts),
    port: (parts) => new (code().ReplicaPort)(parts),
  };
}
