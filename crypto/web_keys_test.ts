import {
  deepEqual,
  equal,
  notDeepEqual,
  ok,
  rejects,
} from "node:assert/strict";
import { encodeText } from "../src/base/bytes.ts";
import { portable, verify } from "./ed25519.ts";
import {
  generateWebKey,
  isWebKey,
  type Subtle,
  type WebKey,
  webSigner,
} from "./web_keys.ts";

const message = encodeText("message");
const subtle = crypto.subtle as unknown as Subtle;

Deno.test("generateWebKey() makes keys that sign, and that nobody can read", async () => {
  const [one, two] = [await generateWebKey(), await generateWebKey()];
  ok(one !== undefined && two !== undefined);
  notDeepEqual(one.publicKey, two.publicKey);
  for (const { publicKey, key } of [one, two]) {
    ok(isWebKey(key));
    for (const format of ["raw", "pkcs8", "jwk"]) {
      await rejects(subtle.exportKey(format, key));
    }
    const signer = webSigner(structuredClone(key), publicKey);
    deepEqual(signer.publicKey, publicKey);
    const signature = await signer.sign(message);
    equal(signature.length, 64);
    ok(portable.verify(signature, message, publicKey));
    ok(verify(signature, message, publicKey));
    ok(!verify(signature, encodeText("another"), publicKey));
  }
});

Deno.test("generateWebKey() gives none where the platform has none that is sound", async () => {
  const { generateKey, ...others } = {
    generateKey: subtle.generateKey.bind(subtle),
    exportKey: subtle.exportKey.bind(subtle),
    sign: subtle.sign.bind(subtle),
    verify: subtle.verify.bind(subtle),
  };
  const lacking: [string, Subtle][] = [
    ["no Ed25519", {
      generateKey: () =>
        Promise.reject(new DOMException("no", "NotSupportedError")),
      ...others,
    }],
    ["one that throws at once", {
      generateKey: () => {
        throw new TypeError("no");
      },
      ...others,
    }],
    ["another curve", {
      generateKey,
      ...others,
      sign: () => Promise.resolve(new ArrayBuffer(64)),
    }],
    ["keys that can be read", {
      generateKey: (name, _, usages) => generateKey(name, true, usages),
      ...others,
    }],
  ];
  for (const [what, platform] of lacking) {
    equal(await generateWebKey(platform), undefined, what);
  }
});

Deno.test("isWebKey() takes secret keys that cannot be read, and nothing else", async () => {
  const algorithm = "Ed25519";
  const usages: KeyUsage[] = ["sign", "verify"];
  const hidden = await crypto.subtle.generateKey(algorithm, false, usages);
  const open = await crypto.subtle.generateKey(algorithm, true, usages);
  // Proof: an algorithm with two keys gives two.
  const pairs = [hidden, open] as unknown as Record<string, WebKey>[];
  ok(isWebKey(pairs[0]!.privateKey));
  for (
    const other of [
      pairs[0]!.publicKey,
      pairs[1]!.privateKey,
      null,
      undefined,
      1,
      {},
      new Uint8Array(32),
    ]
  ) {
    ok(!isWebKey(other));
  }
});
