/**
 * The lock of a storage that no other process or page can have open: it keeps two
 * databases of one program apart.
 */

import { DatabaseError } from "../base/errors.ts";

export class InstanceLock {
  #isTaken = false;

  /** Takes it, or throws `database-locked`; the result gives it back. */
  take(): () => void {
    if (this.#isTaken) {
      throw new DatabaseError(
        "database-locked",
        "Cannot open this storage: another handle has it open. Close that one first.",
      );
    }
    this.#isTaken = true;
    let isHeld = true;
    return () => {
      if (isHeld) this.#isTaken = false;
      isHeld = false;
    };
  }
}
