import { equal, notEqual } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { Buckets, Places } from "./quotas.ts";

Deno.test("Buckets.take() says how long a debt takes to be paid", () => {
  const buckets = new Buckets({ perSecond: 10, burst: 20 });
  equal(buckets.take("ann", 20, 0), 0);
  equal(buckets.take("ann", 5, 0), 500);
  equal(buckets.debt("ann", 250), 2.5);
  equal(buckets.take("ann", 0, 500), 0);
  equal(buckets.take("bob", 20, 500), 0);
});

Deno.test("Buckets.tryTake() takes all or nothing, and fills up to its burst", () => {
  const buckets = new Buckets({ perSecond: 1, burst: 2 });
  equal(buckets.tryTake("ann", 2, 0), true);
  equal(buckets.tryTake("ann", 1, 500), false);
  equal(buckets.tryTake("ann", 1, 1_000), true);
  equal(buckets.tryTake("ann", 3, 1_000_000), false);
  equal(buckets.tryTake("ann", 2, 1_000_000), true);
});

Deno.test("Buckets stands a clock that goes back", () => {
  const buckets = new Buckets({ perSecond: 1, burst: 1 });
  buckets.take("ann", 1, 5_000);
  equal(buckets.tryTake("ann", 1, 1_000), false);
});

Deno.test("Buckets keeps so many names, and forgets the idlest", () => {
  const buckets = new Buckets({ perSecond: 1, burst: 1 });
  buckets.take("first", 1, 0);
  buckets.take("second", 1, 0);
  buckets.take("first", 0, 0);
  for (let i = 0; i < limits.quotaKeysMax - 1; i++) {
    buckets.take(`${i}`, 1, 0);
  }
  equal(buckets.tryTake("first", 1, 0), false);
  equal(buckets.tryTake("second", 1, 0), true);
});

Deno.test("Places are bounded in total and by name, and given back once", () => {
  const places = new Places(3, 2);
  const first = places.take("ann");
  notEqual(first, undefined);
  places.take("ann");
  equal(places.take("ann"), undefined);
  notEqual(places.take("bob"), undefined);
  equal(places.take("cid"), undefined);
  first!();
  first!();
  equal(places.taken, 2);
  notEqual(places.take("cid"), undefined);
});
