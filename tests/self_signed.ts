/**
 * A self-signed TLS certificate for 127.0.0.1 and localhost, made here: X.509
 * version 3, P-256, just what a TLS client asks for.
 *
 * @module
 */

import { generateKeyPairSync, sign } from "node:crypto";

const OID = {
  commonName: [0x55, 0x04, 0x03],
  subjectAltName: [0x55, 0x1d, 0x11],
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
};
const DAY_MS = 86_400_000;

function der(tag: number, ...parts: (readonly number[] | Uint8Array)[]) {
  const body = parts.flatMap((part) => [...part]);
  const { length } = body;
  if (length < 0x80) return [tag, length, ...body];
  if (length < 0x100) return [tag, 0x81, length, ...body];
  return [tag, 0x82, length >> 8, length & 0xff, ...body];
}

const sequence = (...parts: (readonly number[] | Uint8Array)[]) =>
  der(0x30, ...parts);
const oid = (bytes: readonly number[]) => der(0x06, bytes);
const text = (value: string) => new TextEncoder().encode(value);

function time(ms: number): number[] {
  const iso = new Date(ms).toISOString().replace(/[-:T]/g, "");
  return der(0x17, text(`${iso.slice(2, 14)}Z`));
}

function pem(label: string, bytes: Uint8Array): string {
  const lines = bytes.toBase64().match(/.{1,64}/g)!.join("\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

/** Certificate and private key, PEM. */
export function selfSigned(): { cert: string; key: string } {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const name = sequence(
    der(0x31, sequence(oid(OID.commonName), der(0x0c, text("localhost")))),
  );
  const names = sequence(
    der(0x82, text("localhost")),
    der(0x87, [127, 0, 0, 1]),
  );
  const extension = sequence(oid(OID.subjectAltName), der(0x04, names));
  const now = Date.now();
  const body = sequence(
    der(0xa0, der(0x02, [2])),
    der(0x02, [1]),
    algorithm,
    name,
    sequence(time(now - DAY_MS), time(now + DAY_MS)),
    name,
    pair.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extension)),
  );
  const signature = sign("sha256", new Uint8Array(body), pair.privateKey);
  const whole = sequence(body, algorithm, der(0x03, [0], signature));
  const key = pair.privateKey.export({ type: "pkcs8", format: "der" });
  return {
    cert: pem("CERTIFICATE", new Uint8Array(whole)),
    key: pem("PRIVATE KEY", new Uint8Array(key)),
  };
}
