/**
 * Ordered indexes, as far as they are loaded: before a repository is opened whose
 * schemas declare any, and behind the first query of a large collection that
 * would read its ids in order. Scans answer meanwhile.
 */

import { Late } from "../base/late.ts";
import type { indexes } from "./indexes.ts";

export const lateIndexes: Late<typeof indexes> = /* @__PURE__ */ new Late();
