/** Keys and who signs with them. Types only. */

/** A key pair as plain bytes. */
export interface KeyPair {
  /** 32 bytes: the encoded point. */
  readonly publicKey: Uint8Array;
  /** 32 bytes: the seed of RFC 8032. Whoever has it can sign. */
  readonly secretKey: Uint8Array;
}

export interface Signer {
  /** 32 bytes: the encoded point. */
  readonly publicKey: Uint8Array;
  /** The signature of `message`: 64 bytes. */
  sign(message: Uint8Array): Uint8Array;
}

/** Signs with a session's key: at once, or later where the key cannot be read. */
export interface SessionSigner {
  /** 32 bytes: the encoded point. */
  readonly publicKey: Uint8Array;
  /** The signature of `message`: 64 bytes. */
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}
