import { equal } from "node:assert/strict";
import { test } from "node:test";
import { ruleTester } from "@sheaf/sheaf/testing";
import rules from "../src/rules.ts";
import { Member, Todo } from "../src/schema.ts";

const bob = { id: "bob", role: "writer" };
const list = (user: string) =>
  ruleTester(rules).as({ user }).in("list/ann")
    .with(Member, bob, { id: "cleo", role: "reader" });
const todo = { title: "Ship it", createdAt: new Date(0) };

test("a stranger neither reads nor writes", () => {
  equal(list("eve").read().allowed, false);
  equal(list("eve").create(Todo, todo).allowed, false);
});

test("a reader reads and does not write, a writer does both", () => {
  equal(list("cleo").read().allowed, true);
  equal(list("cleo").create(Todo, todo).allowed, false);
  equal(list("bob").read().allowed, true);
  equal(list("bob").create(Todo, todo).allowed, true);
});

test("only the owner shares; everybody may leave", () => {
  const dan = { id: "dan", role: "reader" };
  equal(list("ann").create(Member, dan).allowed, true);
  equal(list("bob").create(Member, dan).allowed, false);
  equal(list("bob").update(Member, bob, { role: "reader" }).allowed, false);
  equal(list("bob").delete(Member, bob).allowed, true);
});
