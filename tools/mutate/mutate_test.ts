import { deepEqual, equal, throws } from "node:assert/strict";
import { hunt } from "./hunt.ts";
import { drawn, findMutants, mutated, named, type Place } from "./mutants.ts";
import { Nearest } from "./nearest.ts";
import plugin, { type Change } from "./operators.ts";
import { linesOf } from "./reach.ts";
import { summaryOf, survivorsOf } from "./report.ts";

/** What becomes of a source, one change at a time. */
function changesOf(source: string, path = "/x.ts"): string[] {
  return Deno.lint.runPlugin(plugin, path, source).map(({ message }) => {
    const { operator, from, to, after } = JSON.parse(message) as Change;
    return `${operator}: ${source.slice(0, from)}${after}${source.slice(to)}`;
  });
}

Deno.test("operators turn conditions round, drop guards and `else`", () => {
  deepEqual(changesOf("if (a) f(1n); else return;"), [
    "negate: if (!(a)) f(1n); else return;",
    "else: if (a) f(1n);",
    "step: if (a) ; else return;",
  ]);
  deepEqual(changesOf("if (a === b) { throw c; }"), [
    "negate: if (!(a === b)) { throw c; }",
    "guard: if (false) { throw c; }",
  ]);
  deepEqual(changesOf("while (a && !b) c = d ? e : f;"), [
    "negate: while (!(a && !b)) c = d ? e : f;",
    "logic: while (a || !b) c = d ? e : f;",
    "negate: while (a && b) c = d ? e : f;",
    "step: while (a && !b) ;",
    "negate: while (a && !b) c = !(d) ? e : f;",
  ]);
});

Deno.test("operators move bounds, signs and constants, and leave texts and types", () => {
  deepEqual(changesOf("let a = b < c + 1;"), [
    "boundary: let a = b <= c + 1;",
    "sign: let a = b < c - 1;",
    "constant: let a = b < c + 2;",
  ]);
  deepEqual(changesOf("for (let i = 1_000; true; i++) a -= b;"), [
    "constant: for (let i = 1001; true; i++) a -= b;",
    "boolean: for (let i = 1_000; false; i++) a -= b;",
    "sign: for (let i = 1_000; true; i++) a += b;",
  ]);
  deepEqual(changesOf('let a: 1 | true = b + "c", d = `e` + f, g = "<";'), []);
  deepEqual(changesOf("const LIMIT = 7;"), [], "tuned");
  deepEqual(changesOf("f({ max: 7 });", "/src/base/limits.ts").length, 1);
});

Deno.test("operators drop steps and `await`, and return early where nothing is returned", () => {
  deepEqual(
    changesOf("async function f(): Promise<void> { await g(); h(); }"),
    [
      "return: async function f(): Promise<void> { return; await g(); h(); }",
      "step: async function f(): Promise<void> { ; h(); }",
      "await: async function f(): Promise<void> { g(); h(); }",
      "step: async function f(): Promise<void> { await g(); ; }",
    ],
  );
  deepEqual(changesOf("class A { constructor() { super(); assert(a); } }"), []);
  deepEqual(changesOf("function f(): number { g(); return a; }"), [
    "step: function f(): number { ; return a; }",
  ]);
});

const place: Place = {
  path: "a.ts",
  line: 3,
  operator: "constant",
  from: 4,
  to: 5,
  before: "0",
  after: "1",
};

Deno.test("named() gives a mutant a name that outlives changes elsewhere in its file", () => {
  const lineOf = ({ line }: Place) => line > 9 ? "  let b = 0;" : "let a = 0;";
  const first = named([place, place, { ...place, line: 10 }], lineOf);
  equal(new Set(first.map(({ id }) => id)).size, 3);
  const moved = { from: 40, to: 41 };
  const later = named([{ ...place, ...moved, line: 11 }, {
    ...place,
    ...moved,
    line: 5,
  }], lineOf);
  deepEqual(later.map(({ id }) => id), [first[2]!.id, first[0]!.id]);
});

Deno.test("drawn() shuffles by the seed, and the same whatever else there is", () => {
  const places = Array.from({ length: 50 }, (_, line) => ({ ...place, line }));
  const mutants = named(places, ({ line }) => `line ${line}`);
  const orderOf = (seed: string, some = mutants) =>
    drawn(some, seed).map(({ line }) => line);
  const order = orderOf("7");
  deepEqual(orderOf("7", mutants.toReversed()), order);
  deepEqual(
    orderOf("7", mutants.filter(({ line }) => line % 2 === 0)),
    order.filter((line) => line % 2 === 0),
  );
  deepEqual(order.toSorted((a, b) => a - b), places.map(({ line }) => line));
  equal(order.join() === orderOf("8").join(), false);
});

Deno.test("mutated() changes the place that was found, and no other file's", () => {
  const [mutant] = named([{ ...place, from: 8, to: 9 }], () => "");
  equal(mutated("let a = 0;", mutant!), "let a = 1;");
  throws(() => mutated("let ab = 0;", mutant!), /a\.ts is not the file/);
});

Deno.test("Nearest puts the tests beside a module first, then who imports it in few steps", () => {
  const nearest = new Nearest(
    new Map([
      ["repo/a.ts", []],
      ["repo/b.ts", ["repo/a.ts"]],
      ["mod.ts", ["repo/b.ts"]],
      ["repo/a_test.ts", ["mod.ts"]],
      ["repo/b_test.ts", ["repo/b.ts"]],
      ["sync/c_test.ts", ["repo/a.ts", "mod.ts"]],
      ["tests/d_test.ts", ["repo/a.ts"]],
      ["tests/e_test.ts", ["mod.ts"]],
      ["tests/f_test.ts", []],
    ]),
  );
  deepEqual(nearest.of("repo/a.ts"), [
    "repo/a_test.ts",
    "tests/d_test.ts",
    "sync/c_test.ts",
    "repo/b_test.ts",
    "tests/e_test.ts",
  ]);
  deepEqual(nearest.of("mod.ts")[0], "repo/a_test.ts", "it loads least");
});

Deno.test("linesOf() reads the lines that ran", () => {
  const lcov = `SF:/a.ts
BRDA:2,1,0,5
BRDA:2,1,1,0
DA:1,2
DA:2,0
DA:3,10
DA:4,0
end_of_record
SF:/b.ts
`;
  deepEqual(
    [...linesOf(lcov)].map(([path, lines]) => [path, [...lines].sort()]),
    [["/a.ts", [1, 2, 3]], ["/b.ts", []]],
  );
});

Deno.test("hunt() runs the tests that reach a mutant in a copy, and tells who lived", async () => {
  const root = await Deno.makeTempDir();
  const source = `export function sign(n: number): number {
  if (n < 0) return -1;
  return n > 0 ? 1 : 0;
}

export function none(): number {
  return 0;
}
`;
  const test = `import { sign } from "./a.ts";
Deno.test("sign() of no negative number", () => {
  if (sign(1) !== 1 || sign(0) !== 0) throw new Error("wrong");
});
`;
  try {
    await Deno.writeTextFile(`${root}/a.ts`, source);
    await Deno.writeTextFile(`${root}/a_test.ts`, test);
    await Deno.mkdir(`${root}/node_modules`);
    await new Deno.Command("git", { args: ["init", "-q"], cwd: root }).output();
    const found = await findMutants(root, ["a.ts"]);
    const mutants = found.filter(({ operator }) => operator === "constant");
    const fates = await hunt(mutants, {
      root,
      testsMax: 5,
      jobs: 1,
      isQuick: () => true,
      report: () => {},
      tell: () => {},
    });
    equal(summaryOf(fates), "4 of 6 mutants killed: 66.7 %");
    const lines = survivorsOf(fates).map((line) => line.replace(/^\S+/, ""));
    deepEqual(lines, [
      " a.ts:2 constant: 1 → 2",
      "  a_test.ts",
      " a.ts:7 constant: 0 → 1",
      "  no test reaches it",
    ]);
    equal(await Deno.readTextFile(`${root}/a.ts`), source);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
