/** What `sheaf init` writes, and what it leaves as it is. */

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type InitOptions, runInit } from "./init.ts";

const chosen = {
  framework: "react",
  runtime: "node",
  sheaf: "^1.2.0",
} as const;

async function initHere(
  place: string,
  options: InitOptions = chosen,
  answers: string[] = [],
): Promise<string[]> {
  const lines: string[] = [];
  const output = {
    line: (text = "") => void lines.push(text),
    print: () => {},
    flush: () => {},
  };
  const ask = () => Promise.resolve(answers.shift() ?? "");
  const { signal } = new AbortController();
  const context = { out: output, err: output, signal, ask };
  await runInit(context as never, place, options);
  return lines;
}

async function inFolder(
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = Deno.makeTempDirSync();
  try {
    await work(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("runInit() makes an app, and nothing the second time", () =>
  inFolder(async (folder) => {
    const place = join(folder, "my-app");
    match((await initHere(place))[0]!, /^Made \d\d files/);
    const read = (path: string) => readFileSync(join(place, path), "utf8");
    const { name, dependencies, scripts } = JSON.parse(read("package.json"));
    deepEqual([name, dependencies["@sheaf/sheaf"]], ["my-app", "^1.2.0"]);
    equal(scripts.dev, "tsx server/dev.ts");
    for (const path of ["index.html", "README.md", "src/app.tsx"]) {
      equal(/__[A-Z]+__/.test(read(path)), false, path);
    }
    match((await initHere(place))[0]!, /^Nothing to do/);
  }));

Deno.test("runInit() leaves files that are there, and names them", () =>
  inFolder(async (folder) => {
    const place = join(folder, "app");
    await initHere(place);
    writeFileSync(join(place, "src/schema.ts"), "// mine\n");
    Deno.removeSync(join(place, "index.html"));
    const lines = await initHere(place);
    match(lines[0]!, /^Made 1 files/);
    equal(lines[1], "Kept as it is: src/schema.ts");
    equal(readFileSync(join(place, "src/schema.ts"), "utf8"), "// mine\n");
  }));

Deno.test("runInit() asks for what no flag says, and takes a tarball from where it is", () =>
  inFolder(async (folder) => {
    const place = join(folder, "app");
    const sheaf = join(folder, "sheaf.tgz");
    await initHere(place, { runtime: "bun", sheaf }, ["plain"]);
    const text = readFileSync(join(place, "package.json"), "utf8");
    const { dependencies } = JSON.parse(text);
    deepEqual(dependencies, { "@sheaf/sheaf": "file:../sheaf.tgz" });
    match(readFileSync(join(place, "index.html"), "utf8"), /src\/main\.ts"/);
  }));

Deno.test("runInit() refuses names and frameworks that it cannot use", () =>
  inFolder(async (folder) => {
    await rejects(initHere(join(folder, "No good!")), { code: "usage" });
    const { framework: _, ...unsaid } = chosen;
    await rejects(initHere(join(folder, "app"), unsaid, ["vue"]), {
      code: "usage",
    });
    deepEqual([...Deno.readDirSync(folder)], []);
  }));
