/**
 * Reading the scale: sums, shares and faults of bundles that were made up, and
 * one real bundle.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { endBundling } from "./browser/bundle.ts";
import { type Chunk, forbiddenIn, weigh } from "./browser/weigh.ts";
import {
  findFaults,
  type Measured,
  ownerOf,
  reportSize,
  sharesBy,
  sumsOf,
} from "./size_report.ts";

function chunk(gzipBytes: number, isLazy: boolean, source: string): Chunk {
  const shares = new Map([[source, gzipBytes]]);
  return { name: `${source}.js`, gzipBytes, isLazy, shares };
}

const base = [
  chunk(900, false, "repo/graph/graph.ts"),
  chunk(50, true, "sync/a.ts"),
];
const part = { name: "hooks", on: "core", entries: {}, target: 150 };

function hooks(atOnce: number, forbidden: string[] = []): Measured {
  const chunks = [...base, chunk(200, false, "src/hooks/preact.ts")];
  return {
    part: { ...part, atOnce, later: 0 },
    weight: { chunks, entries: new Map([["hooks.js", 1_100]]), forbidden },
    below: { chunks: base, entries: new Map(), forbidden: [] },
  };
}

Deno.test("sumsOf() counts what a part adds, at once and later", () => {
  deepEqual(sumsOf(hooks(200)), { atOnce: 200, later: 0 });
  const { weight } = hooks(200);
  deepEqual(sumsOf({ part: hooks(0).part, weight }), {
    atOnce: 1_100,
    later: 50,
  });
});

Deno.test("findFaults() finds ceilings passed and what is forbidden", () => {
  deepEqual(findFaults([hooks(200)]), []);
  deepEqual(findFaults([hooks(199, ["WebAssembly"])]), [
    "hooks loads 200 bytes at once; the ceiling is 199",
    "hooks holds WebAssembly, which no browser path may",
  ]);
});

Deno.test("findFaults() asks each entry what it loads alone", () => {
  const { weight, part } = hooks(200);
  const measured = (hooks: number): Measured => ({
    part: { ...part, alone: { hooks } },
    weight,
    below: { chunks: base, entries: new Map(), forbidden: [] },
  });
  deepEqual(findFaults([measured(1_100)]), []);
  deepEqual(findFaults([measured(1_099)]), [
    "hooks loads 1100 bytes at once for its hooks alone; the ceiling is 1099",
  ]);
});

Deno.test("reportSize() says loudly that a target is missed", () => {
  const [, row = ""] = reportSize([hooks(200)]);
  match(
    row,
    /^ {2}\+ hooks +0\.2 +0\.0 +0\.1 +0\.2 +TARGET MISSED by 0\.1 KB$/,
  );
});

Deno.test("reportSize() shows what each entry loads alone", () => {
  const lines = reportSize([hooks(200)]);
  const at = lines.findIndex((line) => line.startsWith("hooks, alone"));
  match(lines[at + 1] ?? "", /^hooks\.js +1\.1$/);
});

Deno.test("reportSize() shows what features that some apps use weigh", () => {
  const { part, weight: { entries, forbidden } } = hooks(200);
  const chunks = [
    chunk(700, false, "src/query/index_set.ts"),
    chunk(300, false, "src/query/plan.ts"),
  ];
  const [row] = reportSize([{ part, weight: { chunks, entries, forbidden } }])
    .filter((line) => line.startsWith("ordered indexes"));
  match(row ?? "", /^ordered indexes +0\.7 +0\.0$/);
});

Deno.test("sharesBy() adds up folders, ownerOf() knows packages", () => {
  const path =
    "node_modules/.deno/@noble+hashes@2/node_modules/@noble/hashes/a.js";
  equal(ownerOf(path), "@noble/hashes (package)");
  equal(ownerOf("mod.ts"), "mod.ts");
  deepEqual(sharesBy(hooks(0).weight, ownerOf), [
    ["repo/graph", { atOnce: 900, later: 0 }],
    ["src/hooks", { atOnce: 200, later: 0 }],
    ["sync", { atOnce: 0, later: 50 }],
  ]);
});

Deno.test("forbiddenIn() tells imports of Node's modules from questions for them", () => {
  deepEqual(forbiddenIn(`import{a}from"node:fs";import("node:os")`), [
    `from"node:fs`,
    `import("node:os`,
  ]);
  deepEqual(forbiddenIn(`p.getBuiltinModule("node:zlib")`), []);
  deepEqual(forbiddenIn("new WebAssembly.Module(b)"), ["WebAssembly"]);
});

Deno.test("weigh() counts as at once what was fetched, with all that it imports", async () => {
  const late = "src/base/hlc.ts";
  const entries = { a: `export const b = () => import("./${late}");` };
  const { chunks } = await weigh({ entries, fetched: [late] });
  await endBundling();
  ok(chunks.some(({ shares }) => shares.has(late)));
  deepEqual(chunks.filter(({ isLazy }) => isLazy), []);
});

Deno.test("weigh() tells what comes at once from what comes later", async () => {
  const { chunks, entries, forbidden } = await weigh({
    entries: {
      a: `import "./src/base/crc32.ts"; export const b = () => import("./src/base/hlc.ts");`,
    },
  });
  await endBundling();
  const sources = (isLazy: boolean) =>
    chunks.filter((chunk) => chunk.isLazy === isLazy)
      .flatMap(({ shares }) => [...shares.keys()])
      .filter((source) => !source.startsWith("text:"));
  equal(sources(false).includes("src/base/hlc.ts"), false);
  equal(sources(true).includes("src/base/hlc.ts"), true);
  deepEqual(forbidden, []);
  const atOnce = chunks.filter(({ isLazy }) => !isLazy);
  const bytes = atOnce.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);
  deepEqual([...entries], [["a.js", bytes]]);
});
