import assert from "node:assert/strict";
import { ManualWorld } from "../tests/kit/replica_place.ts";
import { backoffMs } from "./backoff.ts";

Deno.test("each wait is up to twice the last, half of it by chance, and capped", () => {
  const world = new ManualWorld(3);
  for (
    const [attempts, cap] of [[1, 500], [2, 1_000], [4, 4_000], [7, 30_000], [
      99,
      30_000,
    ]] as const
  ) {
    const waits = Array.from({ length: 200 }, () => backoffMs(attempts, world));
    assert.ok(Math.min(...waits) >= cap / 2);
    assert.ok(Math.max(...waits) <= cap);
    assert.ok(Math.max(...waits) - Math.min(...waits) > cap / 3);
  }
});
