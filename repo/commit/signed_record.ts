/**
 * Signed records: what an issuer says, under its signature.
 *
 * `1 | fields | issuer key {32} | signature {64}`: the signature is Ed25519 over
 * a domain of its own and everything before it.
 *
 * Architecture invariant: a record is its bytes (law 1); nothing is encoded again
 * to be checked.
 */

import type { SessionSigner, Signer } from "../../crypto/keys.ts";
import {
  ByteReader,
  ByteWriter,
  concatBytes,
  encodeText,
} from "../../src/base/bytes.ts";
import { type Field, unfit } from "../../src/base/layout.ts";

const FORMAT = 1;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** A decoded record: well formed, not yet checked. */
export interface Signed {
  /** All of it, as it is stored and travels. */
  readonly bytes: Uint8Array;
  /** The key that signed it: 32 bytes. */
  readonly issuerKey: Uint8Array;
}

export class SignedLayout<Said extends object> {
  readonly layout: Field<Said>;
  readonly #domain: Uint8Array;
  readonly #bytesMax: number;

  /**
   * @param domain what is signed before the bytes; of no other kind
   * @param layout what an issuer says
   * @param bytesMax of a record
   */
  constructor(domain: string, layout: Field<Said>, bytesMax: number) {
    this.layout = layout;
    this.#domain = encodeText(`${domain}\n`);
    this.#bytesMax = bytesMax;
  }

  /** Makes and signs one; what it says must be allowed. */
  sign(
    said: Said,
    issuer: Pick<Signer, "publicKey" | "sign">,
  ): Said & Signed {
    const unsigned = this.#unsigned(said, issuer.publicKey);
    return this.#join(unsigned, issuer.sign(this.#message(unsigned)));
  }

  /** The same by an issuer whose key signs later. */
  async signLater(said: Said, issuer: SessionSigner): Promise<Said & Signed> {
    const unsigned = this.#unsigned(said, issuer.publicKey);
    return this.#join(unsigned, await issuer.sign(this.#message(unsigned)));
  }

  /** The bytes of one without its signature, and what is signed. */
  begin(
    said: Said,
    key: Uint8Array,
  ): { unsigned: Uint8Array; message: Uint8Array } {
    const unsigned = this.#unsigned(said, key);
    return { unsigned, message: this.#message(unsigned) };
  }

  #unsigned(said: Said, key: Uint8Array): Uint8Array {
    const writer = new ByteWriter();
    writer.u8(FORMAT);
    this.layout.write(writer, said);
    writer.bytes(key);
    return writer.copy();
  }

  #message(unsigned: Uint8Array): Uint8Array {
    return concatBytes(this.#domain, unsigned);
  }

  #join(unsigned: Uint8Array, signature: Uint8Array): Said & Signed {
    return this.decode(concatBytes(unsigned, signature));
  }

  /** Reads one and keeps a copy; `SyntaxError` when the bytes are none. */
  decode(foreign: Uint8Array): Said & Signed {
    const end = foreign.length - SIGNATURE_BYTES;
    if (foreign.length > this.#bytesMax || end < 0) {
      throw unfit("its size is not allowed");
    }
    const bytes = foreign.slice();
    const reader = new ByteReader(bytes, 0, end);
    if (reader.u8() !== FORMAT) throw unfit("the format is unknown");
    const said = this.layout.read(reader);
    const issuerKey = reader.take(KEY_BYTES);
    if (!reader.done) throw unfit("there are bytes after its end");
    return { ...said, bytes, issuerKey };
  }

  /** What its issuer says to have signed: `isSigned()` of the door asks whether he did. */
  signedPart(
    { bytes }: Signed,
  ): { message: Uint8Array; signature: Uint8Array } {
    const end = bytes.length - SIGNATURE_BYTES;
    const message = this.#message(bytes.subarray(0, end));
    return { message, signature: bytes.subarray(end) };
  }
}
