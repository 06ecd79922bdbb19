/**
 * Statements of kinds that nobody knows, as a later version signs them.
 *
 * @module
 */

import type { Signer } from "../../crypto/mod.ts";
import { writeBytes } from "../../repo/commit/canonical.ts";
import { ByteWriter, concatBytes, encodeText } from "../../src/base/bytes.ts";

/** What somebody says in one. */
export interface Said {
  readonly kind: number;
  readonly genesisId: Uint8Array;
  readonly wall: number;
  readonly content: Uint8Array;
}

/** The bytes of a statement. */
export function statementBytes(
  { kind, genesisId, wall, content }: Said,
  signer: Signer,
): Uint8Array {
  const writer = new ByteWriter();
  writer.u8(1);
  writer.bytes(genesisId);
  writer.u48(wall);
  writeBytes(writer, content);
  writer.bytes(signer.publicKey);
  const domain = encodeText("sheaf statement 1\n");
  const message = concatBytes(domain, Uint8Array.of(kind), writer.view());
  writer.bytes(signer.sign(message));
  return writer.copy();
}
