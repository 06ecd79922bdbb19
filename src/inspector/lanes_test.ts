import assert from "node:assert/strict";
import { layOut } from "./lanes.ts";

const commit = (chain: string, number: number, ...parents: string[]) => ({
  commit: `${chain}${number}`,
  chain,
  number,
  parents,
});

Deno.test("layOut() gives each chain a lane, the newest commit's first", () => {
  const graph = layOut([
    commit("a", 0),
    commit("b", 0),
    commit("a", 1),
    commit("b", 1),
  ]);
  assert.equal(graph.lanes, 2);
  assert.deepEqual(
    graph.rows.map(({ commit, lane }) => [commit.commit, lane]),
    [["b1", 0], ["a1", 1], ["b0", 0], ["a0", 1]],
  );
});

Deno.test("layOut() draws a line to the commit before and to every parent that is shown", () => {
  const { rows } = layOut([
    commit("a", 0),
    commit("b", 0, "a0"),
    commit("a", 1, "b0"),
  ]);
  assert.deepEqual(rows[0]!.edges, [{ lane: 0, row: 2 }, { lane: 1, row: 1 }]);
  assert.deepEqual(rows[1]!.edges, [{ lane: 0, row: 2 }]);
  assert.deepEqual(rows[2]!.edges, []);
});

Deno.test("layOut() lets lines to what is not shown end below, and leaves out parents that are not", () => {
  const { rows } = layOut([commit("a", 7, "c3")]);
  assert.deepEqual(rows[0]!.edges, [{ lane: 0, row: 1 }]);
});
