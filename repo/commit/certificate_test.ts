import assert from "node:assert/strict";
import { certify, dayOne, root, signerOf } from "../../tests/kit/door.ts";
import { throwsOnlySyntaxError } from "../../tests/kit/garbage.ts";
import { ByteWriter, concatBytes, encodeText } from "../../src/base/bytes.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import { Certificates, decodeCertificate } from "./certificate.ts";
import { nameOf } from "./commit.ts";
import { checkCertificate } from "../admission/signature_check.ts";

const ada = signerOf(1);
const office = signerOf(2);
const key = nameOf(ada.publicKey, 0, 32);

function check(
  certificate: ReturnType<typeof certify>,
  known = new Certificates(),
): string | undefined {
  return checkCertificate(certificate, root.publicKey, known)?.refused;
}

Deno.test("decodeCertificate() gives back what issueCertificate() took", () => {
  const user = "ada \u{1F331}";
  const claims = '{"roles":["ä"]}';
  const certificate = certify(ada, { user, claims, mayIssue: true });
  const decoded = decodeCertificate(certificate.bytes);
  assert.deepEqual(decoded, certificate);
  assert.equal(decoded.user, user);
  assert.equal(decoded.claims, claims);
  assert.ok(decoded.mayIssue);
  assert.deepEqual(decoded.sessionKey, ada.publicKey);
  assert.deepEqual(decoded.issuerKey, root.publicKey);
  assert.equal(decoded.notBefore, dayOne - 1_000);
});

Deno.test("decodeCertificate() keeps a copy of its bytes", () => {
  const { bytes } = certify(ada);
  const foreign = bytes.slice();
  const certificate = decodeCertificate(foreign);
  foreign.fill(0);
  assert.deepEqual(certificate.bytes, bytes);
  assert.deepEqual(certificate.sessionKey, ada.publicKey);
});

Deno.test("issueCertificate() refuses dates, keys and claims that are none", () => {
  const bad = [
    { notBefore: 1.5 },
    { notBefore: -1 },
    { notBefore: NaN },
    { notBefore: 2, notAfter: 1 },
    { notAfter: 2 ** 48 },
    { sessionKey: new Uint8Array(31) },
    { claims: "[]" },
    { claims: "null" },
    { claims: "{" },
  ];
  for (const changes of bad) {
    assert.throws(
      () => certify(ada, changes),
      (error) =>
        error instanceof DatabaseError && error.code === "invalid-option",
    );
  }
  const large = [
    { user: "ä".repeat(limits.userBytesMax / 2) + "a" },
    { claims: JSON.stringify({ a: "a".repeat(limits.claimsBytesMax) }) },
  ];
  for (const changes of large) {
    assert.throws(
      () => certify(ada, changes),
      (error) =>
        error instanceof DatabaseError && error.code === "value-too-large",
    );
  }
});

Deno.test("issueCertificate() takes a user and claims of the largest size", () => {
  const room = limits.claimsBytesMax - '{"a":""}'.length;
  const certificate = certify(ada, {
    user: "u".repeat(limits.userBytesMax),
    claims: JSON.stringify({ a: "a".repeat(room) }),
  });
  assert.equal(check(certificate), undefined);
});

Deno.test("decodeCertificate() throws only SyntaxError on damaged bytes, and what decodes is refused", () => {
  const { bytes } = certify(ada, { user: "ä", claims: '{"a":1}' });
  throwsOnlySyntaxError(bytes, (damaged) => {
    const refused = check(decodeCertificate(damaged));
    assert.ok(refused === "bad-signature" || refused === "bad-certificate");
  });
});

Deno.test("decodeCertificate() refuses well-signed certificates whose fields are not allowed", () => {
  const good = { flags: 0, from: 1, to: 2, user: "ada", claims: "{}" };
  assert.equal(check(decodeCertificate(rawCertificate(good))), undefined);
  const bad = [
    { flags: 3 },
    { from: 3 },
    { user: "u".repeat(limits.userBytesMax + 1) },
    { claims: "[]" },
    { claims: '"x"' },
    { claims: "null" },
    { claims: "" },
    { claims: JSON.stringify({ a: "a".repeat(limits.claimsBytesMax) }) },
  ];
  for (const changes of bad) {
    const bytes = rawCertificate({ ...good, ...changes });
    assert.throws(() => decodeCertificate(bytes), SyntaxError);
  }
});

/** A certificate that the root signed without looking. */
function rawCertificate(fields: {
  readonly flags: number;
  readonly from: number;
  readonly to: number;
  readonly user: string;
  readonly claims: string;
}): Uint8Array {
  const writer = new ByteWriter();
  writer.u8(1);
  writer.u8(fields.flags);
  writer.bytes(ada.publicKey);
  writer.u48(fields.from);
  writer.u48(fields.to);
  writer.text(fields.user);
  writer.text(fields.claims);
  writer.bytes(root.publicKey);
  const domain = encodeText("sheaf certificate 1\n");
  writer.bytes(root.sign(concatBytes(domain, writer.view())));
  return writer.copy();
}

Deno.test("decodeCertificate() does not read bytes that are too many for any certificate", () => {
  const huge = new Uint8Array(64 * 1024 * 1024);
  assert.throws(() => decodeCertificate(huge), /size/);
});

Deno.test("checkCertificate() takes the root's certificates", () => {
  assert.equal(check(certify(ada)), undefined);
});

Deno.test("checkCertificate() takes those of a key that may issue within its own dates", () => {
  const known = new Certificates();
  const wide = { notBefore: dayOne, notAfter: dayOne + 1_000 };
  known.add(certify(office, { ...wide, mayIssue: true }));
  assert.equal(check(certify(ada, wide, office), known), undefined);
  const early = { ...wide, notBefore: dayOne - 1 };
  assert.equal(check(certify(ada, early, office), known), "bad-certificate");
  const late = { ...wide, notAfter: dayOne + 1_001 };
  assert.equal(check(certify(ada, late, office), known), "bad-certificate");
});

Deno.test("checkCertificate() refuses an issuer that is unknown or may not issue", () => {
  assert.equal(check(certify(ada, {}, office)), "bad-certificate");
  const known = new Certificates();
  known.add(certify(office, { mayIssue: false }));
  assert.equal(check(certify(ada, {}, office), known), "bad-certificate");
  assert.equal(check(certify(ada, {}, ada), known), "bad-certificate");
});

Deno.test("checkCertificate() refuses session keys that anybody can sign for", () => {
  const small = new Uint8Array(32);
  small[0] = 1; // The neutral point.
  for (const sessionKey of [small, new Uint8Array(32)]) {
    assert.equal(check(certify(ada, { sessionKey })), "bad-certificate");
  }
});

Deno.test("Certificates finds one that covers a date, and keeps no copies of one", () => {
  const certificates = new Certificates();
  const first = certify(ada, { notBefore: 10, notAfter: 20 });
  const second = certify(ada, { notBefore: 30, notAfter: 40 });
  certificates.add(first);
  certificates.add(second);
  certificates.add(decodeCertificate(first.bytes));
  assert.deepEqual([...certificates], [first, second]);
  assert.ok(certificates.has(decodeCertificate(second.bytes)));
  assert.equal(certificates.covering(key, 9), undefined);
  assert.equal(certificates.covering(key, 10), first);
  assert.equal(certificates.covering(key, 20), first);
  assert.equal(certificates.covering(key, 21), undefined);
  assert.equal(certificates.covering(key, 30, 40), second);
  assert.equal(certificates.covering(key, 20, 30), undefined);
  assert.equal(certificates.covering("?", 10), undefined);
});

Deno.test("checkCertificate() knows one user and one set of claims of a key", () => {
  const known = new Certificates();
  known.add(certify(ada, { claims: '{"role":"a"}' }));
  const later = {
    notBefore: dayOne,
    notAfter: dayOne + 1,
    claims: '{"role":"a"}',
  };
  assert.equal(check(certify(ada, later), known), undefined);
  const others = [{ user: "bob" }, { claims: "{}" }, { mayIssue: true }];
  for (const changes of others) {
    assert.equal(
      check(certify(ada, { ...later, ...changes }), known),
      "bad-certificate",
    );
  }
  assert.equal(check(certify(office, { user: "bob" }), known), undefined);
});

Deno.test("checkCertificate() has no room for a flood of one key's certificates", () => {
  const known = new Certificates();
  for (let i = 0; i < limits.certificatesOfKeyMax; i++) {
    known.add(decodeCertificate(certify(ada, { notAfter: dayOne + i }).bytes));
  }
  assert.equal(known.size, limits.certificatesOfKeyMax);
  assert.equal(check(certify(ada), known), "too-large");
});

Deno.test("checkCertificate() has room for so many certificates of a repository, and for no new session then", () => {
  const known = new Certificates();
  const certificate = certify(signerOf(2));
  for (let i = 0; i < limits.certificatesKeptMax; i++) {
    const sessionKey = new Uint8Array(32);
    new DataView(sessionKey.buffer).setUint32(0, i);
    known.add({ ...certificate, sessionKey });
  }
  assert.equal(known.size, limits.certificatesKeptMax);
  assert.equal(check(certify(ada), known), "too-large");
});

Deno.test("certificates are told in an order in which a door takes them all", () => {
  const server = signerOf(3);
  const dated = { mayIssue: true, user: "server" };
  const all = [
    certify(ada),
    certify(server, dated),
    certify(ada, { notAfter: dayOne }, server), // Renewed by another issuer.
  ];
  const known = new Certificates();
  for (const certificate of all) known.add(certificate);
  const told = new Certificates();
  for (const certificate of known) {
    assert.equal(check(certificate, told), undefined);
    told.add(certificate);
  }
  assert.equal(told.size, all.length);
  assert.deepEqual([...told], all);
});
