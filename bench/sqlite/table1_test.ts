import { equal, ok } from "node:assert/strict";
import { measureKey, measuresOf, rowPlans } from "./table1.ts";

Deno.test("measuresOf() lists each measure once", () => {
  const keys = measuresOf(rowPlans).map(measureKey);
  equal(new Set(keys).size, keys.length);
  for (const plan of rowPlans) {
    ok(keys.includes(measureKey(plan.measure)), plan.operation);
  }
});

Deno.test("measuresOf() opens before it reads, and reads before it writes", () => {
  const keys = measuresOf(rowPlans).map(measureKey);
  const at = (key: string): number => keys.indexOf(key);
  ok(at("fresh open-all plain") < at("warm open-first plain"));
  ok(at("warm open-all plain") < at("warm get plain"));
  ok(at("warm all plain") < at("warm live-50 plain"));
  ok(at("warm live-50 plain") < at("warm create plain"));
  ok(at("warm batch-100 plain") < at("value disk plain"));
});

Deno.test("rowPlans has a target in every row of which the targets speak", () => {
  const open = rowPlans.filter((plan) =>
    plan.modes.every((mode) => plan.target[mode] === 0)
  ).map((plan) => plan.operation);
  equal(
    open.join("; "),
    "create instance, relaxed; start of the process → first read by id, cold; start of the process → first read by id, warm; start of the process → first read by id, of the package, cold; start of the process → first read by id, of the package, warm; start of the process → imported, of the package, warm; open all items' database; open + 1,000 random reads by id, warm process; read by id, first touch; read by id, later touch, SQLite locked exclusively; live result of 1,000, all re-run, indexed, with the write itself; bulk load of all in one transaction, relaxed; resident memory after reading all, SQLite with its default cache",
  );
});

Deno.test("row names are unique", () => {
  const names = rowPlans.map(({ operation }) => operation);
  equal(new Set(names).size, names.length);
});
