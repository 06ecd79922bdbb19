/**
 * Ends of wires, read from what a peer or a platform says.
 *
 * Architecture invariant: a foreign code or detail is bounded and never more
 * than a code and a detail (law 10).
 */

import type { TransportEnd } from "./transport.ts";

const CODE = /^[a-z][a-z-]{0,39}$/;
const DETAIL_CHARACTERS_MAX = 500;

/** The end that a peer states; "lost" when it states none. */
export function asEnd(code: unknown, detail: unknown): TransportEnd {
  const text = typeof detail === "string"
    ? detail.slice(0, DETAIL_CHARACTERS_MAX)
    : "";
  if (typeof code === "string" && CODE.test(code)) {
    return { code, detail: text };
  }
  return { code: "lost", detail: "The wire was closed without a reason" };
}

/** The end behind whatever `connect` rejected with. */
export function endOf(error: unknown): TransportEnd {
  if (typeof error === "object" && error !== null && "code" in error) {
    const { code } = error;
    const detail = "detail" in error
      ? error.detail
      : "message" in error
      ? error.message
      : "";
    if (typeof code === "string" && CODE.test(code)) return asEnd(code, detail);
  }
  const detail = error instanceof Error ? error.message : String(error);
  return asEnd("lost", detail);
}
