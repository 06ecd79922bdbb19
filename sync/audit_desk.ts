/**
 * Where a server answers what the audits of one client ask.
 *
 * Hashing the items of a large repository takes seconds: it is done in slices,
 * one a turn for all channels of a connection, as fast as they are paid for.
 *
 * Architecture invariant: of each channel one question waits at most (law 10).
 */

import type { Sliced } from "../repo/port.ts";
import { limits } from "../src/base/limits.ts";
import type { ServerOptions } from "./conversation.ts";
import type { Line } from "./line.ts";

/** Where there is no memory for an answer it is asked again so often. */
const FULL_MS = 1_000;

/** A question whose answer takes more than one slice. */
interface Waiting {
  readonly work: Sliced<Uint8Array>;
  readonly tell: (answer: Uint8Array) => void;
}

/** The questions of one connection. */
export class AuditDesk {
  readonly #line: Line;
  readonly #charge: NonNullable<ServerOptions["chargeAudit"]>;
  readonly #hasRoom: NonNullable<ServerOptions["hasRoom"]>;
  /** By channel, in the order in which they came. */
  readonly #waiting = new Map<number, Waiting>();
  /** When the next slice is due, on the monotonic clock. */
  #dueMs = 0;

  constructor(
    line: Line,
    { chargeAudit = () => 0, hasRoom = () => true }: Pick<
      ServerOptions,
      "chargeAudit" | "hasRoom"
    >,
  ) {
    this.#line = line;
    this.#charge = chargeAudit;
    this.#hasRoom = hasRoom;
  }

  /** Begins an answer; tells it now where one slice is enough. */
  ask(channel: number, work: Sliced<Uint8Array>, tell: Waiting["tell"]): void {
    if (this.#waiting.has(channel)) {
      const detail = "A question before the last one was answered";
      return this.#line.fail("bad-message", detail);
    }
    this.#slice(channel, { work, tell });
  }

  /** The channel is closed: nobody waits for its answer. */
  forget(channel: number): void {
    this.#waiting.delete(channel);
  }

  /** Goes on with the first question, if it is time. */
  tick(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    if (this.#line.moment.monotonicMs < this.#dueMs) {
      return this.#line.due(this.#dueMs);
    }
    this.#slice(...first);
  }

  #slice(channel: number, waiting: Waiting): void {
    const { monotonicMs } = this.#line.moment;
    if (!this.#hasRoom(channel)) {
      this.#waiting.set(channel, waiting);
      this.#dueMs = monotonicMs + FULL_MS;
      return this.#line.due(this.#dueMs);
    }
    const step = waiting.work.next();
    if (step.done === true) {
      this.#waiting.delete(channel);
      waiting.tell(step.value);
    } else {
      this.#waiting.set(channel, waiting);
      const restMs = this.#charge(limits.auditItemsPerSlice);
      this.#dueMs = monotonicMs + restMs;
    }
    if (this.#waiting.size > 0) this.#line.due(this.#dueMs);
  }
}
