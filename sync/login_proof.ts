/**
 * What a device signs when it logs in: that it owns the session key.
 *
 * Without it, whoever knows a public key could have it certified for
 * themselves first. The credentials are hashed as the text that was sent, so
 * that nothing is ever re-encoded to be checked, and the time bounds how long
 * a recorded login can be shown again.
 */

import { sha256 } from "../crypto/sha256.ts";
import { ByteWriter, encodeText } from "../src/base/bytes.ts";

const DOMAIN = encodeText("sheaf login 1\n");

/** What one proof is about. */
export interface LoginStatement {
  /** Of the database, 32 bytes. */
  readonly rootKey: Uint8Array;
  /** The key that is to be certified, 32 bytes. */
  readonly sessionKey: Uint8Array;
  /** When it was signed, in milliseconds since 1970. */
  readonly atMs: number;
  /** JSON, as it is sent. */
  readonly credentials: string;
}

/** The bytes that the session key signs. */
export function loginMessage(
  { rootKey, sessionKey, atMs, credentials }: LoginStatement,
): Uint8Array {
  const writer = new ByteWriter();
  writer.bytes(DOMAIN);
  writer.bytes(rootKey);
  writer.bytes(sessionKey);
  writer.u48(atMs);
  writer.bytes(sha256(encodeText(credentials)));
  return writer.copy();
}
