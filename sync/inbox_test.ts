import { deepEqual, equal } from "node:assert/strict";
import type { Judged } from "../repo/admission/admit.ts";
import type { Arrival } from "../repo/admission/arrival.ts";
import { decodeBatch, writeBatch } from "../repo/commit/batch.ts";
import { joinChain } from "../repo/commit/commit.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { ByteWriter } from "../src/base/bytes.ts";
import { refuse } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { Signer } from "../crypto/mod.ts";
import { dayOne, prepare } from "../tests/kit/door.ts";
import { HostileChain } from "../tests/kit/forge.ts";
import { RuledDevice } from "../tests/kit/ruled_device.ts";
import type { Staging } from "./conversation.ts";
import { Inbox, type InboxOptions, type Intake } from "./inbox.ts";
import { PartBudget } from "./window.ts";
import { workOf } from "../tests/kit/work.ts";
import { recordKind } from "../repo/log/format.ts";

/** Keeps everything back until it has three batches. */
class Threes implements Staging {
  kept: Arrival[] = [];
  isOver = false;

  take(arrival: Arrival): readonly Arrival[] {
    if (this.isOver) return [arrival];
    this.kept.push(arrival);
    return this.kept.length < 3 ? [] : this.drop();
  }

  drop(): readonly Arrival[] {
    return this.kept.splice(0);
  }
}

/** An inbox before an empty replica, and three records of somebody else. */
async function inboxOf(
  budgetBytes = 1_000_000,
  options: Pick<InboxOptions, "gate" | "staging"> = { staging: new Threes() },
) {
  const [ada, replica] = [
    await RuledDevice.open({ seed: 1 }),
    await RuledDevice.open({ seed: 2 }),
  ];
  replica.take([{ kind: recordKind.certificate, bytes: ada.certificate }]);
  for (const title of ["one", "two", "three"]) {
    ada.put("x", { title });
    ada.replica.flush();
  }
  const records = ada.records().filter(({ kind }) =>
    kind === recordKind.signedBatch
  );
  const free = { window: 0 };
  const budget = new PartBudget(budgetBytes);
  const inbox = new Inbox({
    port: replica.replica.port(),
    budget,
    ...options,
    release: (bytes) => free.window += bytes,
    noteHas: () => {},
    noteCredential: () => {},
  });
  /** One record in a frame of its own, at a moment. */
  const bring = (number: number, ms = 0) => {
    const record = records[number]!;
    return inbox.records([record], record.bytes.length, ms);
  };
  const close = async () => {
    for (const device of [ada, replica]) await device.replica.close();
  };
  // Proof: it is what was given, or nobody asks for it.
  const staging = options.staging as Threes;
  return { inbox, staging, budget, free, records, bring, replica, close };
}

Deno.test("Inbox: what follows a refused batch of its chain is not looked at, however much there is in its frame", async () => {
  const refusesAll = { gate: () => refuse("denied") };
  const { inbox, free, records, close } = await inboxOf(0, refusesAll);
  const all = Array.from({ length: 300 }, (_, i) => ({ ...records[i % 3]! }));
  const { judged, refused } = inbox.records(all, 90_000, 0);
  equal(judged.length, 1);
  deepEqual(refused.map(({ pending }) => pending.sequence), [1]);
  equal(inbox.acknowledge()?.sequence, 300);
  equal(free.window, 90_000);
  await close();
});

Deno.test("Inbox: what was parked behind a refused batch of its chain is passed over as what comes later is: it is sent again", async () => {
  let refusals = 1;
  const { inbox, bring, replica, close } = await inboxOf(0, {
    gate: () => refusals-- > 0 ? refuse("denied") : undefined,
  });
  const said = (number: number) => verdicts(bring(number));
  deepEqual([said(2), said(1)], [["park"], ["park"]]);
  deepEqual(said(0), ["refuse"]);
  equal(inbox.hasParked, false);
  deepEqual(said(0), ["admit"], "not what had been parked");
  deepEqual(said(2), ["park"], "it follows what is sent again");
  deepEqual(said(1), ["admit", "admit"]);
  await replica.replica.durable();
  replica.replica.port().settle();
  equal(inbox.acknowledge()?.sequence, 6);
  await close();
});

Deno.test("Inbox: what follows a refused batch of its chain costs a little each, however much came with it", async () => {
  const refusesAll = { gate: () => refuse("denied") };
  const { inbox, records, close } = await inboxOf(0, refusesAll);
  equal(inbox.records([records[0]!], 0, 0).refused.length, 1);
  const count = 2_000;
  const later = Array.from({ length: count }, () => ({ ...records[1]! }));
  const work = workOf(() => void inbox.records(later, 0, 0));
  equal(work < 50 * count, true, `${work} steps`);
  equal(inbox.acknowledge()?.sequence, 1 + count);
  await close();
});

Deno.test("Inbox: of very many chains of which a batch was refused the first are forgotten, and what follows there is judged", async () => {
  const { inbox, replica, close } = await inboxOf(0, {
    gate: () => refuse("denied"),
  });
  const ada = await RuledDevice.open({ seed: 1 });
  const { genesisId } = ada.replica.port();
  // Proof: a test's session signs at once.
  const signer = ada.replica.session.signer as Signer;
  const count = limits.ignoredChainsMax + 1;
  const chains = Array.from(
    { length: count },
    (_, i) => new HostileChain(genesisId, signer, i + 1),
  );
  const said = (chain: HostileChain) =>
    verdicts(
      inbox.records([chain.batch({ wall: dayOne + chain.length })], 300, 0),
    );
  for (const chain of chains) deepEqual(said(chain), ["refuse"]);
  const [first, last] = [chains[0]!, chains.at(-1)!];
  deepEqual(said(last), [], "it follows what was refused");
  deepEqual(said(first), ["park"]);
  equal(replica.replica.graph.commits, 0);
  await ada.replica.close();
  await close();
});

Deno.test("Inbox: nothing is looked at behind what no honest peer sends", async () => {
  const { inbox, records, replica, close } = await inboxOf(0, {});
  const [{ kind, bytes }] = records as [Arrival];
  const at = bytes.length - 1;
  const forged = { kind, bytes: bytes.with(at, bytes[at]! ^ 1) };
  const all = [forged, ...records];
  const { judged, refused } = inbox.records(all, 1_000, 0);
  equal(judged.length, 1);
  deepEqual(refused.map(({ refusal }) => refusal.refused), ["bad-signature"]);
  equal(replica.replica.graph.commits, 0);
  await close();
});

function verdicts({ judged }: Intake): string[] {
  return judged.map(({ verdict }) => verdict.verdict);
}

Deno.test("Inbox: what is kept back is out of the window and in the budget, until it is judged", async () => {
  const { inbox, budget, free, records, bring, replica, close } =
    await inboxOf();
  const [one, two] = records as [Arrival, Arrival];
  for (const number of [0, 1]) deepEqual(verdicts(bring(number)), []);
  equal(free.window, one.bytes.length + two.bytes.length);
  equal(budget.used > free.window, true);
  equal(inbox.acknowledge(), undefined);
  deepEqual(verdicts(bring(2)), ["admit", "admit", "admit"]);
  equal(budget.used, 0);
  await replica.replica.durable();
  equal(inbox.acknowledge()?.sequence, 3);
  await close();
});

Deno.test("Inbox: where there is no room nothing is kept back", async () => {
  const { bring, close } = await inboxOf(2_000);
  deepEqual(verdicts(bring(0)), []);
  deepEqual(verdicts(bring(1)), ["admit", "admit"]);
  await close();
});

Deno.test("Inbox: what was kept back in vain is refused for the time being, and its room is free", async () => {
  const { inbox, budget, bring, close } = await inboxOf();
  for (const number of [0, 1]) bring(number, number * 1_000);
  equal(inbox.expiresMs, 1_000 + limits.parkMsMax);
  deepEqual(inbox.expire(limits.parkMsMax).refused, []);
  const { refused } = inbox.expire(inbox.expiresMs);
  deepEqual(refused.map(({ refusal }) => refusal.refused), ["restoring"]);
  equal(inbox.hasParked, false);
  equal(budget.used, 0);
  await close();
});

Deno.test("Inbox: what others brought meanwhile is no longer kept back", async () => {
  const { inbox, staging, budget, records, bring, replica, close } =
    await inboxOf();
  for (const number of [0, 1]) bring(number);
  replica.take(records.slice(0, 1));
  await replica.replica.durable();
  staging.isOver = true;
  deepEqual(verdicts(inbox.retryParked(0)), ["known", "admit"]);
  deepEqual([staging.kept, budget.used], [[], 0]);
  await close();
});

Deno.test("Inbox: what waits in vain, one for the other, is found once each", () => {
  const count = 500;
  const records = Array.from({ length: count }, (_, i): Arrival => {
    const incarnation = new Uint8Array(8);
    new DataView(incarnation.buffer).setUint32(0, i);
    const chain = joinChain(new Uint8Array(32), incarnation);
    const writer = new ByteWriter();
    writeBatch(writer, {
      chain,
      first: 0,
      commits: [prepare({ wall: dayOne, count: 0, parents: [] }, "x")],
    });
    return { kind: recordKind.unsignedBatch, bytes: writer.copy() };
  });
  // Each waits for the one behind it, and the last one may not be.
  const receive = (arrivals: readonly Arrival[]) =>
    arrivals.map((arrival): Judged => {
      const next = records[records.indexOf(arrival) + 1];
      if (next === undefined) {
        const verdict = { verdict: "refuse", refusal: refuse("denied") };
        return { arrival, verdict } as Judged;
      }
      const batch = decodeBatch(arrival.bytes, false);
      const { chain } = decodeBatch(next.bytes, false);
      const missing = { chain, number: 0 };
      return { arrival, verdict: { verdict: "park", batch, missing } };
    });
  const port = { receive, settle: () => {}, lengthOf: () => 0 };
  const inbox = new Inbox({
    port: port as unknown as RepositoryPort,
    budget: new PartBudget(1_000_000),
    release: () => {},
    noteHas: () => {},
    noteCredential: () => {},
  });
  const last = records.at(-1)!;
  deepEqual(inbox.records(records.slice(0, -1), 0, 0).refused, []);
  let refused: Intake["refused"] = [];
  const work = workOf(() => refused = inbox.records([last], 0, 0).refused);
  deepEqual(
    refused.map(({ pending }) => pending.sequence),
    [count, ...Array.from({ length: count - 1 }, (_, i) => count - 1 - i)],
  );
  equal(work < 50 * count, true, `${work} steps`);
  equal(inbox.hasParked, false);
});
