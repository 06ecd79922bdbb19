import { deepEqual, equal, rejects } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { defineRules, type Rules, rulesFor } from "../src/schema/rules.ts";
import { defineSchema, type Schema } from "../src/schema/schema.ts";
import { decodeBatch } from "../repo/commit/batch.ts";
import { chainHex } from "../repo/mod.ts";
import { Card, RuledDevice } from "../tests/kit/ruled_device.ts";
import { Acceptance } from "./acceptance.ts";
import type { QuarantineItem } from "./books.ts";
import { Judge } from "./judge.ts";
import { recordKind } from "../repo/mod.ts";

const NOW = 1_800_000_000_000;

/** Nobody may write any card. */
const closed = defineRules({
  "team/{team}": { collections: [rulesFor(Card, {})], others: true },
});

/** A server where Eve wrote card "x", and was revoked. */
async function revoked(
  rules?: Rules,
  nowMs = NOW + 1_000,
  schemas: readonly Schema[] = [],
) {
  const [eve, server] = [
    RuledDevice.open({ seed: 1 }),
    RuledDevice.open({ seed: 2, schemas }),
  ];
  const place = { eve: await eve, server: await server };
  place.eve.put("x", { rank: 1 });
  place.server.take(place.eve.records());
  const { replica } = place.server;
  const issue = (cuts: ReadonlyMap<string, number>) => {
    const { bytes } = place.eve.revoked(cuts);
    place.server.take([{ kind: recordKind.revocation, bytes }]);
  };
  const cuts = [...replica.graph.vector()].map(([chain, count]) =>
    [chain.slice(32), count] as const
  );
  issue(new Map(cuts));
  const no = () => false;
  const restores = { accepted: () => undefined, isAwaited: no, isUnknown: no };
  const world = { now: () => nowMs };
  const acceptance = new Acceptance({
    hub: { use: (_name, work) => work(replica) },
    judge: new Judge({
      ...{ rules, restores, world, log: { write() {} } },
      itemsOf: ({ state }) => state,
    }),
    revocations: { issue: (_replica, _key, cuts) => issue(cuts) },
    now: world.now,
  });
  return {
    ...place,
    acceptance,
    async [Symbol.asyncDispose]() {
      for (const one of [place.eve, place.server]) await one.replica.close();
    },
  };
}

/** The last batch of a device, as it lies in quarantine. */
function lastOf(device: RuledDevice): QuarantineItem {
  const { bytes } = device.records().at(-1)!;
  const { chain, first, commits } = decodeBatch(bytes, true);
  return {
    repository: "team/acme",
    chain: chainHex(chain),
    first,
    count: commits.length,
    signed: true,
    bytes,
  } as QuarantineItem;
}

/** How many commits of Eve stand on the server, and may. */
function standing({ eve, server }: { eve: RuledDevice; server: RuledDevice }) {
  const [chain] = eve.replica.graph.vector().keys();
  const { graph, loaded } = server.replica;
  return [graph.lengthOf(chain!), loaded.credentials.revocations.cutOf(chain!)];
}

Deno.test("Acceptance.accept() lets a batch in, and no more of its session, whatever the rules say", async () => {
  await using place = await revoked(closed);
  const { eve, server, acceptance } = place;
  eve.put("x", { rank: 2 });
  equal(await acceptance.accept(lastOf(eve)), 1);
  deepEqual(standing(place), [2, 2]);
  equal(server.get("x", "rank"), 2);
  equal(await acceptance.accept(lastOf(eve)), 0, "it is known");
});

Deno.test("Acceptance.accept() asks constraints, which nobody waives", async () => {
  const Ranked = defineSchema("card", Card.fields, { unique: [["rank"]] });
  await using place = await revoked(undefined, undefined, [Ranked]);
  const { eve, acceptance } = place;
  eve.put("y", { rank: 1 });
  await rejects(acceptance.accept(lastOf(eve)), { code: "constraint" });
  deepEqual(standing(place), [1, 1]);
});

Deno.test("Acceptance.accept() asks the clock, and a batch that it refuses leaves no room for another", async () => {
  await using place = await revoked(
    undefined,
    NOW - 2 * limits.clockAheadMsMax,
  );
  const { eve, acceptance } = place;
  eve.put("x", { rank: 2 });
  await rejects(acceptance.accept(lastOf(eve)), { code: "bad-clock" });
  deepEqual(standing(place), [1, 1]);
});

Deno.test("Acceptance.accept() asks for the commits before, and for parents", async () => {
  await using place = await revoked();
  const { eve, server, acceptance } = place;
  const bob = await RuledDevice.open({ seed: 3 });
  bob.put("y", { rank: 1 });
  eve.put("x", { rank: 2 });
  eve.replica.flush();
  const before = lastOf(eve);
  eve.take(bob.records());
  eve.put("y", { rank: 2 });
  const behind = lastOf(eve);
  await rejects(acceptance.accept(behind), { code: "gap" });
  equal(await acceptance.accept(before), 1);
  await rejects(acceptance.accept(behind), { code: "missing-parent" });
  deepEqual(standing(place), [2, 2]);
  server.take(bob.records());
  deepEqual(standing(place), [2, 2], "it does not come in by itself");
  equal(await acceptance.accept(behind), 1);
  await bob.replica.close();
});

Deno.test("Acceptance.accept() asks for the bound of collections", async () => {
  await using place = await revoked();
  const { eve, acceptance } = place;
  eve.replica.transact((tx) => {
    for (let i = 0; i < limits.collectionsMax; i++) {
      const shape = { collection: `c${i}`, version: 1, fields: [] };
      tx.cellOf(eve.editor.table, shape.collection);
      const id = shape.collection;
      const operation = { what: "delete", shape, id, generation: 0 } as const;
      tx.put(eve.editor.table, operation, undefined);
    }
  });
  await rejects(acceptance.accept(lastOf(eve)), { code: "too-large" });
  deepEqual(standing(place), [1, 1]);
});

Deno.test("Acceptance.accept() lets nothing in that no honest program writes", async () => {
  await using place = await revoked(closed);
  const { eve, acceptance } = place;
  eve.replica.transact((tx) => {
    const { table } = eve.editor;
    const shape = { ...Card.shape, fields: [] };
    const before = tx.cellOf(table, "x");
    const operation = {
      what: "delete",
      shape,
      id: "x",
      generation: 7,
    } as const;
    tx.put(table, operation, before);
  });
  await rejects(acceptance.accept(lastOf(eve)), {
    code: "denied",
    message: /another generation/,
  });
  deepEqual(standing(place), [1, 1]);
});
