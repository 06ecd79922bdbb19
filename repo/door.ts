/**
 * The door of a replica, through which it deals with others: handed to it by who
 * opens it, so that one without visitors (a tab's) loads none.
 *
 * @module
 */

import { assert } from "../src/base/errors.ts";
import type { epochFactsOf, openEpoch } from "./epoch.ts";
import type { Intake, IntakeParts } from "./intake.ts";
import { provideWithdrawing } from "./late_withdrawing.ts";
import type { ReplicaPort, ReplicaPortParts } from "./replica_port.ts";
import type { withdrawing } from "./withdrawing.ts";

/** What is asked of an intake. */
export interface Entrance
  extends Pick<Intake, "receive" | "readmit" | "redate"> {
  readonly parking: { readonly size: number };
}

/** How a replica deals with others. */
export interface Door {
  /** Takes in what they bring. */
  readonly intake: (parts: IntakeParts) => Entrance;
  /** Shows the replica to them. */
  readonly port: (parts: ReplicaPortParts) => ReplicaPort;
  /**
   * Loads what that takes, where it is not here yet: before anybody comes, and before a
   * repair, of which remains come in again.
   */
  readonly prepare?: () => Promise<void>;
  /** Tells who is given positions of the log which life of it they are of; where it is served. */
  readonly lives?: {
    readonly open: typeof openEpoch;
    readonly factsOf: typeof epochFactsOf;
  };
}

/** The code of a door. */
interface DoorCode {
  readonly Intake: typeof Intake;
  readonly ReplicaPort: typeof ReplicaPort;
  readonly withdrawing: typeof withdrawing;
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
      provideWithdrawing(loaded.withdrawing);
    },
    intake: (parts) => new LateIntake(parts, () => new (code().Intake)(parts)),
    port: (parts) => new (code().ReplicaPort)(parts),
  };
}

/** An intake that is made when something comes. */
class LateIntake implements Entrance {
  readonly #parts: Pick<IntakeParts, "loaded">;
  readonly #make: () => Intake;
  #intake: Intake | undefined;

  constructor(
    parts: Pick<IntakeParts, "loaded">,
    make: () => Intake,
  ) {
    this.#parts = parts;
    this.#make = make;
  }

  get parking(): { readonly size: number } {
    return this.#intake?.parking ?? { size: 0 };
  }

  receive(
    ...asked: Parameters<Intake["receive"]>
  ): ReturnType<Intake["receive"]> {
    this.#intake ??= this.#make();
    return this.#intake.receive(...asked);
  }

  redate(...asked: Parameters<Intake["redate"]>): void {
    this.#intake ??= this.#make();
    this.#intake.redate(...asked);
  }

  async readmit(): Promise<void> {
    const { log, recovery: { survivors }, saved } = this.#parts.loaded;
    // As a rule nothing was damaged.
    if (survivors.length === 0 && saved === undefined) return await log.sync();
    this.#intake ??= this.#make();
    await this.#intake.readmit();
  }
}
