/**
 * The tour and the demo from outside: the tour ends by itself, twice, and judges
 * its own answers; the demo prints an address behind which everything is there.
 *
 * @module
 */

import assert from "node:assert/strict";
import { Child } from "./kit/child.ts";
import { Report } from "../tools/tour/report.ts";

const tour = new URL("../tools/tour.ts", import.meta.url).pathname;
const demo = new URL("../tools/demo.ts", import.meta.url).pathname;
const config = new URL("../deno.json", import.meta.url).pathname;

async function takeTour(folder: string, ...flags: string[]): Promise<string> {
  const permissions = "--allow-read --allow-write --allow-env --allow-sys";
  const args = ["run", "--quiet", `--config=${config}`];
  await using child = new Child(
    [...args, ...permissions.split(" "), tour, ...flags],
    { cwd: folder },
  );
  const { out, err } = await child.endsWell(/All \d+ answers were/);
  assert.equal(err, "");
  return out;
}

Deno.test("deno task tour checks its answers, credits its data, and repeats cleanly", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sheaf-tour-" });
  try {
    const kept = await takeTour(folder, "--keep");
    assert.match(kept, /GeoNames.*CC BY 4\.0/);
    assert.match(kept, /All \d+ answers were checked and are right\./);
    assert.ok(Deno.statSync(`${folder}/.data/tour/database`).isFile);
    await takeTour(folder);
    assert.throws(
      () => Deno.statSync(`${folder}/.data/tour`),
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

/** Starts the demo in a folder and waits for its address. */
async function startDemo(folder: string) {
  const child = new Child(
    ["run", "--quiet", `--config=${config}`, "-A", demo, "--port", "0"],
    { cwd: folder },
  );
  const said = await child.said(/Ctrl-C/);
  const [url = ""] = /http:\/\/[\d.]+:\d+/.exec(said) ?? [];
  const end = () => child[Symbol.asyncDispose]();
  return { child, said, url, [Symbol.asyncDispose]: end };
}

Deno.test("deno task demo fills its boards once, prints its address, and serves the page", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sheaf-demo-" });
  try {
    await using first = await startDemo(folder);
    assert.match(first.said, /Filled the boards: 2\d\d things/);
    const page = await (await fetch(first.url)).text();
    const [script = ""] = /app-\w+\.js/.exec(page) ?? [];
    for (const name of [script, "sw.js", "icon.svg", "app.webmanifest"]) {
      const answer = await fetch(`${first.url}/${name}`);
      assert.equal(answer.status, 200, name);
      await answer.arrayBuffer(); // Cancelled, its connection might be used again while it is reset.
    }
    first.child.kill("SIGTERM");
    await first.child.endsWell();

    await using second = await startDemo(folder);
    assert.doesNotMatch(second.said, /Filled/);
    second.child.kill("SIGTERM");
    await second.child.ended;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
