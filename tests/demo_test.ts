/**
 * The demo from outside: it ends by itself, twice, and judges its own answers.
 *
 * @module
 */

import assert from "node:assert/strict";
import { Report } from "../tools/demo/report.ts";

const demo = new URL("../tools/demo.ts", import.meta.url).pathname;
const config = new URL("../deno.json", import.meta.url).pathname;

async function runDemo(folder: string, ...flags: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      `--config=${config}`,
      "--allow-read",
      "--allow-write",
      "--allow-env",
      "--allow-sys",
      demo,
      ...flags,
    ],
    cwd: folder,
  }).output();
  const decoder = new TextDecoder();
  assert.equal(code, 0, decoder.decode(stderr));
  assert.equal(decoder.decode(stderr), "");
  return decoder.decode(stdout);
}

Deno.test("deno task demo checks its answers, credits its data, and repeats cleanly", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sheaf-demo-" });
  try {
    const kept = await runDemo(folder, "--keep");
    assert.match(kept, /GeoNames.*CC BY 4\.0/);
    assert.match(kept, /All \d+ answers were checked and are right\./);
    assert.ok(Deno.statSync(`${folder}/.data/demo/database`).isFile);
    await runDemo(folder);
    assert.throws(
      () => Deno.statSync(`${folder}/.data/demo`),
      Deno.errors.NotFound,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("Report.finish() is false once a check did not hold", () => {
  const lines: unknown[] = [];
  const report = new Report((line) => lines.push(line));
  report.check(true, "this");
  report.check(false, "that");
  assert.equal(report.finish(), false);
  assert.deepEqual(lines, ["   WRONG: that", "\n1 of 2 answers are WRONG."]);
});
