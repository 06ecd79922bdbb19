/**
 * Law 3 at the port: what a peer could have been given is found again after a
 * power cut, whatever the medium kept of the rest.
 */

import { ok } from "node:assert/strict";
import fc from "fast-check";
import { faultyStorage } from "./kit/faulty_storage.ts";
import { seededRandom } from "./kit/random.ts";
import { Place, turns } from "./kit/replica_place.ts";
import { sized } from "./kit/tier.ts";

Deno.test("what may be shared survives every power cut, in the modes that promise it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.constantFrom("default", "trusted"),
      fc.boolean(),
      async (seed, mode, slow) => {
        const next = seededRandom(seed);
        const storage = faultyStorage({ slow });
        const place = await Place.open({ mode, storage });
        const other = await Place.open({ mode, seed: 2 });
        const port = place.replica.port();
        const source = other.replica.port();
        let cursor = 0;
        for (let step = 0; step < 12; step++) {
          const what = Math.floor(next() * 4);
          if (what === 0) void place.write(`n${step}`, "own");
          if (what === 1) await turns(Math.floor(next() * 6));
          if (what === 2) port.settle();
          if (what === 3) {
            await other.write(`m${step}`, "foreign");
            const { records, next } = source.read(cursor, 1_000_000);
            cursor = next;
            port.receive([...source.credentials(), ...records]);
          }
          const shared = port.vector();
          for (const kept of ["synced", step] as const) {
            const after = await place.reopen({
              storage: storage.powerCut(kept),
            });
            const found = after.replica.graph.vector();
            for (const [chain, count] of shared) {
              const has = found.get(chain) ?? 0;
              ok(has >= count, `step ${step}, kept ${kept}`);
            }
          }
        }
      },
    ),
    { numRuns: sized(8, 250), seed: 3 },
  );
});
