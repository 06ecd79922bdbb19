import { deepEqual, equal } from "node:assert/strict";
import { trips } from "../../tests/kit/patience.ts";
import { assert } from "../base/errors.ts";
import { Election, type Tenure } from "./owner_worker.ts";
import {
  holdLock,
  livingTabs,
  ownerLock,
  tabLock,
  webLocks,
  whenFree,
} from "./locks.ts";

const platform = webLocks();
assert(platform !== undefined, "Deno has Web Locks");
const locks = platform;

let count = 0;
const newName = () => `election-${++count}`;

/** A candidate, and the tenures that it had. */
function candidate(name: string) {
  const tenures: Tenure[] = [];
  const won = (tenure: Tenure) => void tenures.push(tenure);
  const election = new Election({ locks, lock: ownerLock(name), won });
  return { election, tenures };
}

Deno.test("Election gives the lock to one at a time, in the order in which they stood in line", async () => {
  const name = newName();
  const [a, b, c] = [candidate(name), candidate(name), candidate(name)];
  for (const { election } of [a, b, c]) election.stand();
  a.election.stand();
  await trips();
  const counts = () => [a, b, c].map(({ tenures }) => tenures.length);
  deepEqual(counts(), [1, 0, 0]);
  a.tenures[0]!.release();
  await trips();
  deepEqual(counts(), [1, 1, 0]);
  equal(a.election.isHolding, false);
  c.election.leave();
  b.election.leave();
  await trips();
  deepEqual(counts(), [1, 1, 0]);
  equal(b.tenures[0]!.lost.aborted, false);
});

Deno.test("Election.steal() takes the lock at once and tells who had it", async () => {
  const name = newName();
  const [a, b] = [candidate(name), candidate(name)];
  a.election.stand();
  b.election.stand();
  await trips();
  b.election.steal();
  await trips();
  equal(b.tenures.length, 1);
  equal(b.tenures[0]!.isStolen, true);
  equal(a.tenures[0]!.lost.aborted, true);
  equal(a.election.isHolding, false);
  a.election.stand();
  await trips();
  equal(a.tenures.length, 1);
  b.tenures[0]!.release();
  await trips();
  equal(a.tenures.length, 2);
  a.tenures[0]!.release(); // An old tenure ends nothing.
  equal(a.election.isHolding, true);
  a.election.leave();
});

Deno.test("whenFree() hears that a tab is gone, and livingTabs() who is not", async () => {
  const name = newName();
  const release = await holdLock(locks, tabLock(name, "one"));
  const other = await holdLock(locks, tabLock(name, "two"));
  deepEqual(await livingTabs(locks, name), new Set(["one", "two"]));
  const gone: string[] = [];
  whenFree(locks, tabLock(name, "one"), () => gone.push("one"));
  const stop = whenFree(locks, tabLock(name, "two"), () => gone.push("two"));
  await trips();
  deepEqual(gone, []);
  stop();
  release();
  other();
  await trips();
  deepEqual(gone, ["one"]);
  deepEqual(await livingTabs(locks, name), new Set());
});
