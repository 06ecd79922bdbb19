/** Ordered indexes: see `late_indexes.ts`. */

import { IndexSet } from "./index_set.ts";
import { indexOrderedWalk } from "./index_walk.ts";

export const indexes = { IndexSet, indexOrderedWalk } as const;
