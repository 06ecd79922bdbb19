/**
 * A place for keys that cannot be read: a browser keeps them, bytes of a file
 * could not.
 *
 * Never looks into a key: it is an object that survives a structured clone.
 */

/** Keeps keys by their public halves. */
export interface KeyVault {
  /** Keeps a key; it is durable when this resolves. */
  put(publicKey: Uint8Array, key: object): Promise<void>;
  get(publicKey: Uint8Array): Promise<unknown>;
  remove(publicKey: Uint8Array): Promise<void>;
}
