/**
 * One verdict on a signature for everybody in a process.
 *
 * A simulation is a dozen machines in one, and each of them verifies the same
 * seals. Whether a signature is one of a message by a key depends on nothing
 * else: so the platform is asked once, and the others get its answer. What is
 * asked, and what follows from the answer, is the real code's.
 *
 * @module
 */

import crypto from "node:crypto";
import { equalBytes, toHex } from "../../src/base/bytes.ts";

type Verify = (
  algorithm: null,
  message: Uint8Array,
  key: object,
  signature: Uint8Array,
) => boolean;

/** What was asked about a signature, and the answer. */
interface Verdict {
  readonly message: Uint8Array;
  readonly key: object;
  readonly isValid: boolean;
}

/** More than a seed has; then all are forgotten. */
const VERDICTS_MAX = 10_000;

/** Makes the platform remember its verdicts from now on, in this process. */
export function rememberVerdicts(): void {
  const platform = crypto as unknown as { verify: Verify };
  platform.verify = remembering(platform.verify);
}

/** `verify` which is asked but once. */
export function remembering(verify: Verify): Verify {
  const verdicts = new Map<string, Verdict>();
  return (algorithm, message, key, signature) => {
    const name = toHex(signature);
    const known = verdicts.get(name);
    if (known?.key === key && equalBytes(known.message, message)) {
      return known.isValid;
    }
    const isValid = verify(algorithm, message, key, signature);
    if (verdicts.size >= VERDICTS_MAX) verdicts.clear();
    verdicts.set(name, { message: message.slice(), key, isValid });
    return isValid;
  };
}
