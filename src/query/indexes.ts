/**
 * Ordered indexes: see `late_indexes.ts`.
 *
 * @module
 */

import { IndexSet } from "./index_set.ts";
import { indexOrderedWalk } from "./index_walk.ts";

export const indexes = { IndexSet, indexOrderedWalk } as const;
