/**
 * The door of who is ready for others from the start, and may serve them.
 *
 * @module
 */

import type { Door } from "./door.ts";
import { epochFactsOf, openEpoch } from "./epoch.ts";
import { Intake } from "./intake.ts";
import { provideWithdrawing } from "./late_withdrawing.ts";
import { ReplicaPort } from "./replica_port.ts";
import { withdrawing } from "./withdrawing.ts";

provideWithdrawing(withdrawing);

/** Lets in what is sound. */
export const servingDoor: Door = {
  intake: (parts) => new Intake(parts),
  port: (parts) => new ReplicaPort(parts),
  lives: { open: openEpoch, factsOf: epochFactsOf },
};
