/**
 * The doors of who is ready for others from the start, and may serve them: for who
 * does not load his code into a page.
 */

import { lateRich } from "../../src/schema/late_rich.ts";
import { rich } from "../../src/schema/rich.ts";
import type { Door } from "./door.ts";
import { lateReading } from "../checkpoint/late_reading.ts";
import { reading } from "../checkpoint/reading.ts";
import { ServedOrder } from "../log/served_order.ts";
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

export const servingDoor: Door = {
  intake: (parts) => new Intake(parts),
  port: (parts) => new ReplicaPort(parts),
  order: ServedOrder,
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
  outline: (shapes = []) => new Outline(shapes),
};
