import { deepEqual, equal, match, ok } from "node:assert/strict";
import { parseRun } from "./report/read.ts";

const main = new URL("main.ts", import.meta.url).href;

function bench(...args: string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--quiet", "--allow-all", main, ...args],
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
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
    const { code, stdout } = await bench(
      ..."sqlite --quick --size 1k --engines sqlite-full --filter".split(" "),
      "count, open",
      ...["--json", json, "--csv", csv, "--html", html],
      ...["--dir", `${folder}/data`],
    ).output();
    equal(code, 0);
    match(
      new TextDecoder().decode(stdout),
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
  const nothing = await bench("kv", "--filter", "no such row").output();
  equal(nothing.code, 1);
  match(
    new TextDecoder().decode(nothing.stderr),
    /No row contains "no such row"\./,
  );
  const missing = await bench("sync", "--compare", "/no/such/file").output();
  equal(missing.code, 1);
  match(
    new TextDecoder().decode(missing.stderr),
    /Cannot compare with \/no\/such\/file/,
  );
});

Deno.test({
  name: "a run that is broken off leaves neither processes nor folders",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await inFolder(async (folder) => {
      const process = bench(
        ..."compare --engines sqlite-full --dir".split(" "),
        folder,
      );
      const drained = Promise.all([
        process.stdout.text(),
        process.stderr.text(),
      ]);
      await until(async () =>
        (await processesWith(folder)).some((line) =>
          line.includes("case_child.ts")
        )
      );
      process.kill("SIGTERM");
      equal((await process.status).code, 130);
      await drained;
      deepEqual([...Deno.readDirSync(folder)], []);
      await until(async () => (await processesWith(folder)).length === 0);
    });
  },
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!await isSo()) {
    ok(performance.now() < end, "it never came about");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
