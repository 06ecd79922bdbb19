/**
 * A vault of this process. It clones what it is given, as a browser does.
 *
 * @module
 */

import { toHex } from "../../src/base/bytes.ts";
import type { KeyVault } from "../../src/storage/key_vault.ts";

/** See the file's header. */
export class Vault implements KeyVault {
  /** Keys by public key, in hexadecimal digits. */
  readonly keys: Map<string, object> = new Map();

  put(publicKey: Uint8Array, key: object): Promise<void> {
    this.keys.set(toHex(publicKey), structuredClone(key));
    return Promise.resolve();
  }

  get(publicKey: Uint8Array): Promise<unknown> {
    return Promise.resolve(this.keys.get(toHex(publicKey)));
  }

  remove(publicKey: Uint8Array): Promise<void> {
    this.keys.delete(toHex(publicKey));
    return Promise.resolve();
  }
}
