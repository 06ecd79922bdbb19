/**
 * Audits, as far as their code is loaded: a client runs one when an app asks, or
 * when two digests differ.
 *
 * Who meets a difference without it ends the connection, and the next one meets
 * it again.
 */

import { lateStateTree } from "../repo/state/late_state_tree.ts";
import { Late } from "../src/base/late.ts";
import type { audit } from "./audit.ts";

/** See {@linkcode audit}. */
export const lateAudit: Late<typeof audit> = /* @__PURE__ */ new Late();

lateAudit.by(async () => {
  const { audit } = await import("./audit.ts");
  await lateStateTree.load();
  return audit;
});
