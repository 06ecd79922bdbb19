/**
 * The doors of who is ready for others from the start, and may serve them: for who
 * does not load his code into a page.
 */

import { lateRich } from "../../src/schema/late_rich.ts";
import { rich } from "../../src/schema/rich.ts";
import type { Door, Unfolded } from "./door.ts";
import type { Checkpoint } from "../checkpoint/checkpoint.ts";
import { isDispensable } from "../checkpoint/dispensable.ts";
import { replayed } from "../replay.ts";
import type { FoldedItems } from "../state/items.ts";
import type { State } from "../state/state.ts";
import { lateReading } from "../checkpoint/late_reading.ts";
import { reading } from "../checkpoint/reading.ts";
import { logStores } from "../log/log_stores.ts";
import { ServedOrder } from "../log/served_order.ts";
import type { Stores } from "../log/store.ts";
import { Intake } from "./intake.ts";
import { lateStateTree } from "../state/late_state_tree.ts";
import { StateTree } from "../state/state_tree.ts";
import { lateRefusing } from "../refusal/late_refusing.ts";
import { ReplicaPort } from "../replica_port.ts";
import { refusing } from "../refusal/refusing.ts";
import { ItemTouches } from "../history/item_touches.ts";
import { Outline } from "../state/outline.ts";
import { TouchFiles } from "../checkpoint/touches_writer.ts";

lateReading.provide(reading);
lateRefusing.provide(refusing);
lateRich.provide(rich);
lateStateTree.provide((state) => new StateTree(state));

/** What serves from stores of a kind. */
export function servedFrom(stores: Stores): Pick<Door, "order" | "stores"> {
  const { epoch } = stores;
  return {
    stores,
    order: {
      open: (storage, world, loaded) =>
        ServedOrder.open(epoch(storage, loaded.folder), world, loaded),
      end: (storage, folder) => epoch(storage, folder).end(),
    },
  };
}

export const servingDoor: Door = {
  intake: (parts) => new Intake(parts),
  port: (parts) => new ReplicaPort(parts),
  ...servedFrom(logStores),
};

/** Lets in what is sound, and indexes what touches each item. */
export const indexedDoor: Door = {
  ...servingDoor,
  index({ log, checkpoint, commits }) {
    const files = new TouchFiles(checkpoint?.file);
    commits.touches = new ItemTouches(commits, log, files);
  },
};

/** The door of a server: what it judges nothing by it does not fold. */
export const relayDoor: Door = {
  ...indexedDoor,
  relay: { outline: (shapes = []) => new Outline(shapes), fold },
};

/** The items of a relay, when somebody needs them: the newest whole checkpoint, and the log behind it. */
function fold({ storage, folder, log, viewOf, over }: Unfolded): FoldedItems {
  const readLog = (target: Uint8Array, at: number) => log.readAt(target, at);
  const { openCheckpoint } = reading;
  const { checkpoint } = openCheckpoint(storage, folder, readLog, viewOf);
  const foldOver = (checkpoint: Checkpoint | undefined) => {
    const { replay, base } = replayed(over, log, checkpoint);
    return { state: replay.finish().into as State, base }; // proof: it has no outline.
  };
  try {
    return foldOver(checkpoint);
  } catch (cause) {
    checkpoint?.close();
    if (checkpoint === undefined || !isDispensable(cause)) throw cause;
    return foldOver(undefined);
  }
}
