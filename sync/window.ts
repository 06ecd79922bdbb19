/**
 * Windows: how many bytes of records one side may send before credit comes.
 *
 * There is no queue behind a window: who has used it stops reading its log.
 *
 * Architecture invariant: what is on its way to a peer, or from it, is bounded
 * by the window that the receiver granted (law 10).
 */

import { limits } from "../src/base/limits.ts";

/** A window is granted again in so many frames. */
const CREDITS = 4;

/** What we may send. */
export class SendWindow {
  readonly #granted: number;
  #left: number;

  /** @param granted what the other side said at first */
  constructor(granted: number) {
    this.#granted = granted;
    this.#left = granted;
  }

  /** Bytes that may be sent now. */
  get left(): number {
    return this.#left;
  }

  /** Bytes that were sent and not granted again. */
  get used(): number {
    return this.#granted - this.#left;
  }

  /** Has the other side enough to grant that it has to, as {@linkcode ReceiveWindow} does? */
  get isCreditDue(): boolean {
    return this.used > this.#granted / CREDITS;
  }

  /** Sends bytes. */
  use(bytes: number): void {
    this.#left -= bytes;
  }

  /** Takes credit; false when it is more than what was sent. */
  grant(bytes: number): boolean {
    this.#left += bytes;
    return this.#left <= this.#granted;
  }
}

/** A bound over the halves of records that are being put together; a server shares one over all its connections. */
export class PartBudget {
  readonly #bytesMax: number;
  /** Bytes that are taken. */
  used = 0;

  constructor(bytesMax: number = limits.partBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Takes bytes; false when there is no room. */
  take(bytes: number): boolean {
    if (this.used + bytes > this.#bytesMax) return false;
    this.used += bytes;
    return true;
  }

  /** Gives bytes back. */
  free(bytes: number): void {
    this.used -= bytes;
  }
}

/** What the other side may send. */
export class ReceiveWindow {
  readonly #granted: number;
  /** Received and not granted again. */
  #used = 0;
  /** Dealt with: to be granted again. */
  #free = 0;

  /** @param granted what we said at first */
  constructor(granted: number) {
    this.#granted = granted;
  }

  /** Takes what came; false when the other side overran its window. */
  take(bytes: number): boolean {
    this.#used += bytes;
    return this.#used <= this.#granted;
  }

  /** Notes that bytes were dealt with. */
  release(bytes: number): void {
    this.#free += bytes;
  }

  /**
   * What to grant now: nothing while it is little, because every credit is a
   * frame; three quarters of a window are always left to the sender.
   */
  credit(): number {
    const bytes = Math.min(this.#free, this.#used);
    if (bytes < this.#granted / CREDITS) return 0;
    this.#free -= bytes;
    this.#used -= bytes;
    return bytes;
  }
}
