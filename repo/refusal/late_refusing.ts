/**
 * What makes commits void and writes them again, as far as it is loaded: few
 * pages ever see a refusal.
 *
 * Who meets the first one without it says so before anything has changed, and is
 * told of it again: a tab by its inbox, a conversation by its next connection.
 */

import { Late } from "../../src/base/late.ts";
import type { refusing } from "./refusing.ts";

export const lateRefusing: Late<typeof refusing> = /* @__PURE__ */ new Late();

lateRefusing.by(async () => (await import("./refusing.ts")).refusing);
