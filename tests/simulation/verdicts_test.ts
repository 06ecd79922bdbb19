/**
 * Remembered verdicts are those that the platform gives.
 */

import { deepEqual, equal } from "node:assert/strict";
import crypto from "node:crypto";
import { remembering } from "./verdicts.ts";

const message = new TextEncoder().encode("a seal");
const pairs = [0, 1].map(() => crypto.generateKeyPairSync("ed25519"));
const keys = pairs.map(({ publicKey }) => publicKey);
const signature = new Uint8Array(
  crypto.sign(null, message, pairs[0]!.privateKey),
);

/** A copy with one bit changed. */
function spoilt(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  copy[3]! ^= 1;
  return copy;
}

/** The platform's verdicts, with a count of those asked for. */
function counted() {
  const counts = { asked: 0 };
  const verify = remembering((algorithm, message, key, signature) => {
    counts.asked++;
    return crypto.verify(
      algorithm,
      message,
      key as (typeof keys)[number],
      signature,
    );
  });
  return { counts, verify };
}

Deno.test("remembering() asks once about the same message, key and signature", () => {
  const { counts, verify } = counted();
  for (let i = 0; i < 3; i++) {
    equal(verify(null, message.slice(), keys[0]!, signature.slice()), true);
  }
  equal(counts.asked, 1);
  for (let i = 0; i < 3; i++) {
    equal(verify(null, message, keys[0]!, spoilt(signature)), false);
  }
  equal(counts.asked, 2);
});

Deno.test("remembering() takes no verdict for another message, key or signature", () => {
  const { verify } = counted();
  const asked = [
    [message, keys[0]!, signature],
    [spoilt(message), keys[0]!, signature],
    [message, keys[1]!, signature],
    [message, keys[0]!, spoilt(signature)],
  ] as const;
  for (let round = 0; round < 2; round++) {
    deepEqual(
      asked.map(([message, key, signature]) =>
        verify(null, message, key, signature)
      ),
      [true, false, false, false],
    );
  }
});

Deno.test("remembering() keeps no message that its owner changes afterwards", () => {
  const { verify } = counted();
  const own = message.slice();
  equal(verify(null, own, keys[0]!, signature), true);
  own[0]! ^= 1;
  equal(verify(null, own, keys[0]!, signature), false);
});
