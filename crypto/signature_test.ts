import { deepEqual, equal, throws } from "node:assert/strict";
import { native } from "../src/base/system.ts";
import { encodeText } from "../src/base/bytes.ts";
import { createSigner } from "./ed25519.ts";
import { lateEd25519 } from "./late_ed25519.ts";
import { isSettled, settle, type Signature, verify } from "./signature.ts";
import { subtleHere } from "./web_keys.ts";

/** A signature of a number, sound or not. */
function signed(number: number, isSound = true): Signature {
  const signer = createSigner(new Uint8Array(32).fill(7));
  const message = encodeText(`${number}`);
  const signature = signer.sign(message);
  if (!isSound) signature[3]! ^= 1;
  return { message, signature, publicKey: signer.publicKey };
}

function isGood({ signature, message, publicKey }: Signature): boolean {
  return verify(signature, message, publicKey);
}

/** As in a page that has not loaded our own code, where each load is counted. */
async function asInPage(
  run: (loads: { count: number; fails: boolean }) => Promise<void>,
) {
  const { code } = lateEd25519;
  const { crypto } = native;
  const loads = { count: 0, fails: false };
  lateEd25519.by(() => {
    loads.count++;
    return loads.fails
      ? Promise.reject(new Error("offline"))
      : Promise.resolve(code);
  });
  Object.defineProperty(native, "crypto", {
    value: undefined,
    configurable: true,
  });
  lateEd25519.provide(undefined);
  try {
    await run(loads);
  } finally {
    lateEd25519.provide(code);
    Object.defineProperty(native, "crypto", {
      value: crypto,
      configurable: true,
    });
  }
}

Deno.test("what WebCrypto says yes to is good without our own code, and nothing else is", async () => {
  const [one, other] = [signed(1), signed(2)];
  await asInPage(async (loads) => {
    await settle([one]);
    equal(isGood(one), true);
    equal(isSettled(one), true);
    deepEqual([isSettled(), isSettled(other)], [false, false]);
    equal(loads.count, 0);
    loads.fails = true;
    throws(() => isGood(other), { code: "unreachable" });
    const publicKey = createSigner(new Uint8Array(32).fill(8)).publicKey;
    throws(() => isGood({ ...one, publicKey }), { code: "unreachable" });
    throws(() => isGood({ ...one, message: other.message }), {
      code: "unreachable",
    });
  });
});

Deno.test("its no, what it cannot say and what nobody announced are asked of our own code, which is loaded for that", async () => {
  const wrong = signed(3, false);
  for (const asked of [[signed(4), wrong], undefined]) {
    await asInPage(async (loads) => {
      await settle(asked);
      deepEqual([loads.count, isSettled()], [1, true]);
      equal(isGood(wrong), false);
      equal(isGood(signed(4)), true);
    });
  }
  await asInPage(async (loads) => {
    const broken = () => Promise.reject(new Error("NotSupportedError"));
    await settle([signed(5)], { importKey: broken, verify: broken });
    deepEqual([loads.count, isSettled()], [1, true]);
  });
});

Deno.test("code that cannot be loaded is no verdict, and is asked for again", async () => {
  const wrong = signed(6, false);
  await asInPage(async (loads) => {
    loads.fails = true;
    await settle([wrong]);
    throws(() => isGood(wrong), { code: "unreachable" });
    loads.fails = false;
    await settle([wrong]);
    equal(isGood(wrong), false);
  });
});

Deno.test("two who ask the same at once have it looked at once", async () => {
  const one = signed(7);
  let count = 0;
  const subtle = subtleHere()!;
  const counting = {
    importKey: subtle.importKey.bind(subtle),
    verify: (...asked: Parameters<typeof subtle.verify>) => {
      count++;
      return subtle.verify(...asked);
    },
  };
  await asInPage(async () => {
    await Promise.all([settle([one], counting), settle([one], counting)]);
    await settle([one], counting);
    equal(count, 1);
  });
});
