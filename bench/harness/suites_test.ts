import { deepEqual, equal, ok } from "node:assert/strict";
import { loadSuite, suiteModules } from "./case_child.ts";
import { everySuite } from "./options.ts";
import { casesOf } from "./schedule.ts";
import type { Order } from "./suite.ts";

const order: Order = {
  sizes: [],
  engines: [],
  filter: "",
  isQuick: false,
  addresses: {},
};

for (const [name, module] of Object.entries(suiteModules)) {
  Deno.test(`the suite ${name} names its cases well and heeds the order`, async () => {
    const suite = await loadSuite(module);
    equal(suite.name, name);
    const cases = casesOf(suite, order);
    ok(cases.length > 0);
    for (const one of cases) {
      equal(one.suite, name);
      ok(one.repetitions >= 3, `${one.name}: ${one.repetitions} repetitions`);
      ok(one.msMax > 0 && one.msMax <= 600_000, `${one.name}: ${one.msMax} ms`);
      // It goes to the child as JSON.
      deepEqual(JSON.parse(JSON.stringify(one)), one);
    }
    deepEqual(casesOf(suite, { ...order, filter: "no such row" }), []);
    const engines = ["sheaf-default", "sqlite-full"];
    const few = suite.cases({ ...order, engines });
    ok(few.length > 0);
    deepEqual(
      few.filter((one) => !engines.some((part) => one.engine.includes(part))),
      [],
    );
    const turns = (isQuick: boolean): number =>
      casesOf(suite, { ...order, isQuick })
        .reduce((sum, { repetitions }) => sum + repetitions, 0);
    ok(turns(true) <= turns(false));
  });
}

Deno.test("every suite but the two with a schedule of their own has a module", () => {
  deepEqual(
    Object.keys(suiteModules).sort(),
    everySuite.filter((name) => name !== "sqlite" && name !== "sync")
      .toSorted(),
  );
});
