/**
 * What the proofs through the whole database share: what is bundled, and what
 * must be found after anything happened.
 *
 * @module
 */

import { deepEqual, ok } from "node:assert/strict";
import { type Tab, until } from "./kit/mod.ts";
import type * as ProofPage from "./proof_page.ts";

/** A page of the proofs. */
export type ProofTab = Tab<typeof ProofPage>;

/** What the proofs bundle. */
export const entries = {
  page: new URL("proof_page.ts", import.meta.url),
  worker: new URL("../../src/browser/worker.ts", import.meta.url),
  plain_worker: new URL("proof_plain_worker.ts", import.meta.url),
};

/** For {@linkcode ProofPage.open}: the worker of a browser without OPFS. */
export const plainWorker = "/plain_worker.js";

/** Waits until a page's timer, of 5 ms, has had so many turns more. */
export async function moreTurns(tab: ProofTab, turns: number): Promise<void> {
  const wanted = await tab.call("turns") + turns;
  await until(
    async () => await tab.call("turns") >= wanted,
    `${turns} turns of ${tab.name}`,
  );
}

/** Waits until so many more writes of a page's run were acknowledged. */
export async function moreDurable(
  tab: ProofTab,
  name: string,
  writes: number,
): Promise<void> {
  const durable = async () => (await tab.call("told", name)).durable;
  const wanted = await durable() + writes;
  await until(
    async () => await durable() >= wanted,
    `${wanted} acknowledged writes of ${tab.name}`,
  );
}

/** How many writes of each run were acknowledged. */
export type Acknowledged = Map<string, number>;

/**
 * Nothing that was acknowledged is lost, nothing is there twice or in part, and
 * each run is there from its first write on without a hole.
 */
export async function check(
  tab: ProofTab,
  name: string,
  acknowledged: Acknowledged,
): Promise<Record<string, number>> {
  const { runs, faults } = await tab.call("found", name);
  deepEqual(faults, []);
  for (const [run, least] of acknowledged) {
    const items = runs[run] ?? 0;
    ok(items >= least, `${name}, ${run}: ${items} of ${least} acknowledged`);
  }
  return runs;
}

/** Resolves when two pages show the same. */
export async function same(
  one: ProofTab,
  two: ProofTab,
  name: string,
): Promise<void> {
  const seen = async (tab: ProofTab) =>
    JSON.stringify(Object.entries((await tab.call("found", name)).runs).sort());
  await until(
    async () => await seen(one) === await seen(two),
    "both show the same",
  );
}
