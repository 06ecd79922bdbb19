/**
 * What counters, sets, maps, lists and texts take, as far as it is loaded: an app
 * whose fields are all registers never meets any.
 *
 * A repository is opened with it where its schemas name such a field. Commits of
 * others may, too: nobody reads their shapes before it is here ({@linkcode
 * readShape}), so nothing is ever folded without it.
 *
 * @module
 */

import { Late } from "../base/late.ts";
import type { rich } from "./rich.ts";

/** The code of rich kinds. */
export const lateRich: Late<typeof rich> = /* @__PURE__ */ new Late();
