import { deepEqual, equal, ok } from "node:assert/strict";
import { SourceMap } from "node:module";
import * as esbuild from "esbuild";
import { buildCore } from "./core.ts";
import { hint, hintFirstRead, type Place } from "./hints.ts";
import { run } from "./run.ts";

const program = new URL("first_read.ts", import.meta.url).pathname;

const SCRIPT = `const made=early();let o=x=>x+1,p=async x=>x+2;
function early(){return inner();function inner(){return 1}}
async function late(x){return await p(x)}
function*count(){yield 1;yield 2}
class A{static start=new A().plain(5);#n=7;constructor(){this.m=1}
plain(x){return this.#n+x}async wait(x){return x+this.#own()}*all(){yield this.#n}
#own(){return this.#n}get size(){return this.#n}
other(){return new class{#own(){return 8}own(){return this.#own()}}().own()}}
class B extends A{plain(x){return super.plain(x)+1}}
export{made,o,late,count,A,B};`;

/** Where the functions of a script are that begin so. */
function placesOf(text: string, beginnings: readonly string[]): Set<Place> {
  return new Set(beginnings.map((beginning) => {
    const start = text.indexOf(beginning);
    let end = text.indexOf("{", start);
    for (let depth = 1; depth > 0;) {
      const next = text[++end];
      if (next === "{") depth++;
      if (next === "}") depth--;
    }
    return `${start}-${end + 1}` as const;
  }));
}

const CALLED = [
  "function early",
  "async function late",
  "function*count",
  "plain(x)",
  "async wait",
  "*all",
  "#own(){return this",
];

async function say(text: string): Promise<unknown> {
  const { made, o, late, count, A, B } = await import(
    `data:text/javascript,${encodeURIComponent(text)}`
  );
  const a = new A();
  return [
    [made, o(1), await late(1), ...count(), a.plain(1), await a.wait(1)],
    [
      ...a.all(),
      a.size,
      a.other(),
      new B().plain(1),
      A.start,
      Object.keys(A.prototype),
    ],
    [A.prototype.plain.name, A.prototype.wait.name],
  ];
}

Deno.test("hint() leaves what a script does", async () => {
  const at = SCRIPT.indexOf("x=>x+1");
  const called = placesOf(SCRIPT, CALLED).add(`${at}-${at + 6}`);
  const hinted = hint(SCRIPT, called, () => "$0").toString();
  for (
    const bracketed of [
      "var early=(function()",
      "var late=(async function(x)",
      "var count=(function*()",
      "o=(x=>x+1)",
      "plain:(function(x)",
      "wait:(async function(x)",
      "all:(function*()",
      "$0:(function()",
      "x+this.$0()",
    ]
  ) ok(hinted.includes(bracketed), `${bracketed} in ${hinted}`);
  // It would not find what it overrides.
  ok(hinted.includes("{plain(x){return super.plain(x)+1}}"));
  deepEqual(await say(hinted), await say(SCRIPT));
});

/** Functions of a core that are compiled when it is opened and read for the second time and the third. */
async function countCompiled(folder: string): Promise<number> {
  const log = `${folder}/log`;
  for (let turn = 0; turn < 3; turn++) {
    const flags =
      `--log-function-events,--logfile=${log},--no-logfile-per-isolate`;
    await run(
      folder,
      Deno.execPath(),
      "run",
      "--no-config",
      "--no-check",
      "--allow-all",
      ...turn > 0 ? [`--v8-flags=${flags}`] : [],
      program,
      `file://${folder}/dist/mod.js`,
      `${folder}/data`,
    );
  }
  const lines = (await Deno.readTextFile(log)).split("\n")
    .map((line) => line.split(","));
  const ours = new Set(
    lines
      .filter(([kind, , name]) =>
        kind === "script-details" && name?.includes("/dist/")
      )
      .map(([, script]) => script),
  );
  return lines.filter(([kind, step, script]) =>
    kind === "function" && step === "interpreter" && ours.has(script)
  ).length;
}

Deno.test("hintFirstRead() leaves few functions to the moment of their first call, and every place its source", async () => {
  const folder = Deno.makeTempDirSync();
  const dist = `${folder}/dist`;
  try {
    const { outputs } = await buildCore(dist, { mod: "mod.ts" });
    const before = await countCompiled(folder);
    await hintFirstRead(dist);
    const after = await countCompiled(folder);
    ok(before > 500 && after < before / 3, `${after} of ${before}`);
    let checked = 0;
    for (
      const path of Object.keys(outputs).filter((one) => one.endsWith(".js"))
    ) {
      const script = `${folder}/dist/${path.split("/dist/")[1]}`;
      checked += checkMap(
        Deno.readTextFileSync(script),
        Deno.readTextFileSync(`${script}.map`),
      );
    }
    ok(checked > 50, `${checked} places`);
  } finally {
    await esbuild.stop();
    Deno.removeSync(folder, { recursive: true });
  }
});

/** The beginnings of texts in a script stand at their places in a source. */
function checkMap(script: string, json: string): number {
  const { sources, sourcesContent } = JSON.parse(json);
  const map = new SourceMap(JSON.parse(json));
  let checked = 0;
  script.split("\n").forEach((line, number) => {
    for (const { index, 0: text } of line.matchAll(/"[A-Z][a-z]{3,} /g)) {
      const entry = map.findEntry(number, index);
      if (!("originalLine" in entry)) throw new Error(`${text} has no place`);
      const { originalSource, originalLine, originalColumn } = entry;
      const at = sources.indexOf(originalSource);
      const source: string = sourcesContent[at].split("\n")[originalLine];
      // Quotes may be others.
      const start = originalColumn + 1;
      equal(source.slice(start, start + text.length - 1), text.slice(1));
      checked++;
    }
  });
  return checked;
}
