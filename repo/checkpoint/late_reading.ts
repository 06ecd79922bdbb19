/**
 * What reads checkpoints, as far as it is loaded: a young repository has none.
 */

import { Late } from "../../src/base/late.ts";
import type { reading } from "./reading.ts";

export const lateReading: Late<typeof reading> = /* @__PURE__ */ new Late();

lateReading.by(async () => (await import("./reading.ts")).reading);
