import { deepEqual, ok } from "node:assert/strict";
import { groupsOf, plansOf } from "./contestants.ts";

Deno.test("groupsOf() puts each mode beside the SQLite of its durability", () => {
  deepEqual(groupsOf([]), [
    ["sqlite-full", "default", "trusted"],
    ["sqlite-off", "fast"],
  ]);
  deepEqual(groupsOf(["sheaf-default"]), [["sqlite-full", "default"]]);
  deepEqual(groupsOf(["sheaf-fast", "sqlite-full"]), [
    ["sqlite-full"],
    ["sqlite-off", "fast"],
  ]);
  deepEqual(groupsOf(["lmdb"]), []);
});

Deno.test("plansOf() keeps the rows that were asked for and that somebody runs", () => {
  const relaxed = plansOf({ filter: "relaxed" }, groupsOf([]));
  ok(relaxed.length > 3);
  deepEqual(plansOf({ filter: "relaxed" }, groupsOf(["trusted"])), []);
  deepEqual(plansOf({ filter: "" }, groupsOf(["lmdb"])), []);
  ok(plansOf({ filter: "READ BY ID" }, groupsOf([])).length > 1);
  deepEqual(plansOf({ filter: "no such row" }, groupsOf([])), []);
});
