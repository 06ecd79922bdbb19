/**
 * Who may sign: the root key, and the users with their claims.
 *
 * @module
 */

import { generateKeyPair } from "../../crypto/mod.ts";
import type { KeyPair } from "../../crypto/keys.ts";
import type { Dice } from "./dice.ts";

/** A user with one device. */
export interface Person {
  readonly user: string;
  readonly team: string;
}

/** See the file's header. */
export class Authority {
  /** The server's; clients know its public half. */
  readonly root: KeyPair;

  constructor(dice: Dice) {
    this.root = generateKeyPair(dice.fill);
  }
}
