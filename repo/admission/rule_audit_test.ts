import { deepEqual, equal } from "node:assert/strict";
import { Card, RuledDevice } from "../../tests/kit/ruled_device.ts";
import { defineRules, rulesFor } from "../../src/schema/rules.ts";
import { RuleAudit } from "./rule_audit.ts";

const START_MS = 1_800_000_000_000;
const END_MS = START_MS + 10_000;

/** Nobody writes any more when the time is over. */
const rules = defineRules({
  "team/{team}": {
    collections: [rulesFor(Card, {
      create: ({ at }) => at.getTime() < END_MS || "too late",
      update: () => true,
      delete: () => true,
    })],
  },
});

async function findingsOf({ replica }: RuledDevice): Promise<unknown[]> {
  const findings: unknown[] = [];
  const audit = new RuleAudit({
    rules: rules.of(replica.name),
    found: ({ number, reason }) => void findings.push([number, reason]),
  });
  await audit.run(replica.loaded, () => Promise.resolve());
  return findings;
}

Deno.test("RuleAudit asks rules with the moment of acceptance, as the log's marks say it", async () => {
  let nowMs = START_MS;
  const ada = await RuledDevice.open({ seed: 1, now: () => START_MS + 1 });
  const server = await RuledDevice.open({ seed: 2, now: () => nowMs });
  ada.put("before the first mark", { rank: 1 });
  server.accept(ada.records());
  await server.replica.serve();
  const accept = async (id: string, atMs: number) => {
    nowMs = atMs;
    ada.put(id, { rank: 1 });
    server.accept(ada.records());
    await server.replica.durable();
    await server.replica.loaded.log.sync();
  };
  await accept("in time", END_MS - 1);
  deepEqual(await findingsOf(server), []);
  // It says that it was written in time, and came later.
  await accept("late", END_MS);
  equal(server.replica.graph.commits, 3);
  deepEqual(await findingsOf(server), [[2, "too late"]]);
  for (const device of [ada, server]) await device.replica.close();
});
