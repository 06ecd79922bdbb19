import { deepEqual, equal, ok } from "node:assert/strict";
import { field } from "../src/schema/field.ts";
import { defineRules, rulesFor } from "../src/schema/rules.ts";
import { defineSchema } from "../src/schema/schema.ts";
import { ruleTester } from "./kit/mod.ts";

const Task = defineSchema("task", {
  title: field.string(),
  owner: field.string(),
  votes: field.counter(),
  due: field.date().optional(),
});

const rules = defineRules({
  "team/{team}": {
    read: ({ session, params }) => session.claims.team === params.team,
    collections: [rulesFor(Task, {
      create: ({ session, after }) => after.owner === session.user,
      update: ({ before, after, changed }) =>
        !changed.includes("owner") && after.votes <= before.votes + 1 ||
        "one vote each",
      delete: ({ at }) => at.getUTCDay() === 1 || "only on Mondays",
    })],
  },
  "impure/{how}": {
    read: () => Date.now() > 0,
    collections: [rulesFor(Task, {
      create: () => Math.random() > 2,
      update: () => new Date() > new Date(0),
      delete: ({ at }) => at instanceof Date && new Date(5).getTime() === 5,
    })],
  },
});

Deno.test("ruleTester() asks what a database would ask", () => {
  const ada = ruleTester(rules).as({ user: "ada", claims: { team: "a" } });
  const task = { title: "Wash", owner: "ada" };
  const there = ada.in("team/a");
  deepEqual(there.read(), { allowed: true });
  equal(ada.in("team/b").read().allowed, false);
  deepEqual(there.create(Task, task), { allowed: true });
  equal(there.create(Task, { ...task, owner: "bob" }).allowed, false);
  deepEqual(there.update(Task, task, { votes: { increment: 1 } }), {
    allowed: true,
  });
  deepEqual(there.update(Task, task, { votes: { increment: 2 } }), {
    allowed: false,
    reason: "one vote each",
    rule: "team/{team} task.update",
  });
  deepEqual(there.update(Task, task, {}), { allowed: true });
  const monday = new Date("2027-01-04T12:00:00Z");
  const onMonday = ruleTester(rules).as({ user: "ada" }, monday).in("team/a");
  ok(onMonday.delete(Task, task).allowed);
  const later = new Date("2027-01-05T12:00:00Z");
  const decision = ruleTester(rules).as({ user: "ada" }, later).in("team/a")
    .delete(Task, task);
  ok(!decision.allowed && decision.reason === "only on Mondays");
});

Deno.test("ruleTester() fails a rule that asks the clock or the dice", () => {
  const { random } = Math;
  const there = ruleTester(rules).as({ user: "ada" }).in("impure/x");
  const task = { title: "Wash", owner: "ada" };
  const decisions = [
    there.read(),
    there.create(Task, task),
    there.update(Task, task, { title: "x" }),
  ];
  for (const decision of decisions) {
    ok(!decision.allowed);
    ok(/must not ask the (clock|dice)/.test(decision.reason), decision.reason);
  }
  ok(there.delete(Task, task).allowed);
  ok(Date.now() > 0 && Math.random === random);
});
