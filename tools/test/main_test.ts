/** `deno task test` as a person runs it. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { hasTwoSizes, testFilesBelow } from "./files.ts";
import { leftOut, tierOf } from "./tiers.ts";

const script = new URL("main.ts", import.meta.url).pathname;

async function runTests(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--no-check", script, ...args],
    env: { NO_COLOR: "1" },
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) =>
    new TextDecoder().decode(bytes)
  );
  return { code, out: out!, err: err! };
}

Deno.test("a run ends with its count, and says what was skipped and how long it took", async () => {
  const { code, out, err } = await runTests("crypto/sha256_test.ts");
  equal(code, 0, err);
  match(out, /1 test files in \d+ s\.\n\n\d+ passed, 0 failed\n$/);
});

Deno.test("a run of nothing, and options that are not known, are refused with the usage", async () => {
  for (const args of [["no/such/folder"], ["--jobs", "0"], ["--fast"]]) {
    const { code, err } = await runTests(...args);
    equal(code, 2, args.join(" "));
    match(err, /deno task test \[PATH…\]/);
  }
});

Deno.test("--seconds begins nothing past its end and names what was not run", async () => {
  const { code, out } = await runTests("--seconds", "1", "--jobs", "1", "src");
  equal(code, 0);
  match(out, /Not run, for want of time: src\//);
});

Deno.test("every test file is in one tier, and every part that is left out has files", async () => {
  const files = testFilesBelow();
  for (const { name, files: pattern } of leftOut) {
    ok(files.some((file) => pattern.test(file)), name);
  }
  const { out } = await runTests("--rest", "--list");
  const rest = files.filter((file) =>
    tierOf(file) === "all" || hasTwoSizes(file)
  );
  deepEqual(out.trim().split("\n").sort(), rest);
});
