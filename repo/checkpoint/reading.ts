/** What opening a repository over a checkpoint takes (`late_reading.ts`). */

import { openCheckpoint } from "./checkpoint.ts";
import { decodeMeta } from "./replica_meta.ts";

/** See `late_reading.ts`. */
export const reading = { openCheckpoint, decodeMeta } as const;
