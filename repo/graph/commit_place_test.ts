import { deepEqual } from "node:assert/strict";
import { type Fates, Places } from "./commit_place.ts";

type Fate = ReturnType<Fates["fateOf"]>;

/** Places where these commits could not stay. */
function placesOf(fates: Map<string, Fate>): Places {
  return new Places({
    fateOf: (chain, number) => fates.get(`${chain}${number}`) ?? "kept",
  });
}

Deno.test("a place stays where its commit was written", () => {
  const place = placesOf(new Map()).of("a", 3);
  deepEqual([place.chain, place.number, place.state], ["a", 3, "kept"]);
});

Deno.test("a place goes with its commit, however often it is written again", () => {
  const fates = new Map<string, Fate>();
  const place = placesOf(fates).of("a", 3);
  const late = placesOf(fates).of("a", 3);
  fates.set("a3", { chain: "b", number: 0 });
  deepEqual([place.chain, place.number, place.state], ["b", 0, "kept"]);
  fates.set("b0", { chain: "c", number: 7 });
  for (const { chain, number, state } of [place, late]) {
    deepEqual([chain, number, state], ["c", 7, "kept"]);
  }
});

Deno.test("a refused commit keeps its last place and says so", () => {
  const fates = new Map<string, Fate>([["a2", { chain: "b", number: 1 }]]);
  const place = placesOf(fates).of("a", 2);
  fates.set("b1", "refused");
  deepEqual([place.state, place.chain, place.number], ["refused", "b", 1]);
});
