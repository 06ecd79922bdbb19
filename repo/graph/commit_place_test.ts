import { deepEqual, equal } from "node:assert/strict";
import { Moves } from "./commit_place.ts";

Deno.test("a place stays where its commit was written", () => {
  const place = new Moves(() => false).place("a", 3);
  deepEqual([place.chain, place.number, place.state], ["a", 3, "kept"]);
});

Deno.test("a place goes with its commit, however often it moves", () => {
  const moves = new Moves(() => false);
  const place = moves.place("a", 3);
  moves.note("a", { from: 2, chain: "b", numbers: [undefined, 0] });
  deepEqual([place.chain, place.number, place.state], ["b", 0, "kept"]);
  moves.note("b", { from: 0, chain: "c", numbers: [7] });
  deepEqual([place.chain, place.number, place.state], ["c", 7, "kept"]);
});

Deno.test("a place that nobody read in between follows all moves at once", () => {
  const moves = new Moves(() => false);
  const place = moves.place("a", 5);
  moves.note("a", { from: 5, chain: "b", numbers: [0] });
  moves.note("a", { from: 3, chain: "c", numbers: [0, 1] });
  moves.note("b", { from: 0, chain: "d", numbers: [4] });
  deepEqual([place.chain, place.number], ["d", 4]);
  deepEqual(moves.place("a", 4).chain, "c");
});

Deno.test("a refused commit keeps its last place and says so", () => {
  const moves = new Moves(() => false);
  const place = moves.place("a", 2);
  moves.note("a", { from: 2, chain: "b", numbers: [undefined] });
  deepEqual([place.state, place.chain, place.number], ["refused", "a", 2]);
});

Deno.test("commits before the withdrawn end stay", () => {
  const moves = new Moves(() => false);
  moves.note("a", { from: 2, chain: "b", numbers: [0] });
  equal(moves.place("a", 1).chain, "a");
  equal(moves.place("b", 0).chain, "b");
});

Deno.test("a commit behind the withdrawn ones is none of them: a copy came back", () => {
  const moves = new Moves(() => false);
  moves.note("a", { from: 2, chain: "b", numbers: [0] });
  const place = moves.place("a", 3);
  deepEqual([place.chain, place.number, place.state], ["a", 3, "kept"]);
});
