/**
 * Digests of the state, as far as their code is loaded: a server has it, and a
 * page when it audits (`sync/late_audit.ts`).
 */

import { Late } from "../../src/base/late.ts";
import type { State } from "./state.ts";
import type { StateTree } from "./state_tree.ts";

export const lateStateTree: Late<(state: State) => StateTree> =
  /* @__PURE__ */ new Late();

lateStateTree.by(async () => {
  const { StateTree } = await import("./state_tree.ts");
  return (state) => new StateTree(state);
});
