import { deepEqual, equal, match } from "node:assert/strict";
import { Child } from "../tests/kit/child.ts";
import { until } from "../tests/kit/patience.ts";
import { parseRun } from "./report/read.ts";

const main = new URL("main.ts", import.meta.url).href;

function bench(...args: string[]): Child {
  return new Child(
    ["run", "--no-check", "--quiet", "--allow-all", main, ...args],
  );
}

async function inFolder(work: (folder: string) => Promise<void>) {
  const folder = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    await work(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** The command lines of all processes in which `text` occurs. */
async function processesWith(text: string): Promise<string[]> {
  const { stdout } = await new Deno.Command("ps", { args: ["-eo", "args"] })
    .output();
  return new TextDecoder().decode(stdout).split("\n")
    .filter((line) => line.includes(text) && !line.startsWith("ps "));
}

Deno.test("the bench writes a run that can be read back, and leaves no folder", async () => {
  await inFolder(async (folder) => {
    const files = ["json", "csv", "html"].map((kind) =>
      `${folder}/run.${kind}`
    );
    const [json = "", csv = "", html = ""] = files;
    Deno.mkdirSync(`${folder}/data`);
    await using child = bench(
      ..."sqlite --quick --size 1k --engines sqlite-full --filter".split(" "),
      "count, open",
      ...["--json", json, "--csv", csv, "--html", html],
      ...["--dir", `${folder}/data`],
    );
    const { out } = await child.endsWell();
    match(
      out,
      /^sqlite: Beside tuned SQLite, 1k/m,
    );
    const { suites } = parseRun(Deno.readTextFileSync(json));
    deepEqual(
      suites.flatMap(({ figures }) =>
        figures.map((one) => [one.operation, one.engine, one.size])
      ),
      [["count, open", "sqlite-full", 1_000]],
    );
    equal(Deno.readTextFileSync(csv).split("\r\n").length, 3);
    match(Deno.readTextFileSync(html), /^<!doctype html>/i);
    deepEqual([...Deno.readDirSync(`${folder}/data`)], []);
  });
});

Deno.test("the bench says when no row fits, or the run to compare with cannot be read", async () => {
  await using filtered = bench("kv", "--filter", "no such row");
  const nothing = await filtered.ended;
  equal(nothing.code, 1, nothing.report);
  match(nothing.err, /No row contains "no such row"\./);
  await using compared = bench("sync", "--compare", "/no/such/file");
  const missing = await compared.ended;
  equal(missing.code, 1, missing.report);
  match(missing.err, /Cannot compare with \/no\/such\/file/);
});

Deno.test({
  name: "a run that is broken off leaves neither processes nor folders",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await inFolder(async (folder) => {
      await using child = bench(
        ..."compare --engines sqlite-full --dir".split(" "),
        folder,
      );
      await until(
        async () =>
          child.hasEnded ||
          (await processesWith(folder)).some((line) =>
            line.includes("case_child.ts")
          ),
        () => `a case runs: ${child.report()}`,
      );
      child.kill("SIGTERM");
      const { code, report } = await child.ended;
      equal(code, 130, report);
      deepEqual([...Deno.readDirSync(folder)], []);
      await until(
        async () => (await processesWith(folder)).length === 0,
        "all that it started has ended",
      );
    });
  },
});
