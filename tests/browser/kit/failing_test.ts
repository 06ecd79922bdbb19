/**
 * How tests in a browser fail, and that no browser outlives them.
 *
 * @module
 */

import assert from "node:assert/strict";
import { browserOfRun } from "../../../tools/browser/find.ts";
import { until } from "./wait.ts";

const path = new URL("bad_tests.ts", import.meta.url).pathname;
const textTests = new URL("../text_test.ts", import.meta.url).pathname;
const root = new URL("../../../", import.meta.url).pathname;
const ignore = "reason" in await browserOfRun();

function runBadTests(filter: string, temporary: string): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["test", "--no-check", "--allow-all", "--filter", filter, path],
    cwd: root,
    env: { NO_COLOR: "1", TMPDIR: temporary },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
}

/** What a killed process leaves in the temporary folder goes with it. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = Deno.makeTempDirSync({ prefix: "sheaf-browser-" });
  try {
    return await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function failureOf(filter: string): Promise<string> {
  const { code, stdout } = await inFolder((folder) =>
    runBadTests(filter, folder).output()
  );
  assert.notEqual(code, 0);
  return new TextDecoder().decode(stdout);
}

Deno.test({
  name: "browserTest() fails for what a page throws, and says it",
  ignore,
  async fn() {
    const said = await failureOf("throws in a page");
    assert.match(said, /error: Error: a page threw what nobody caught: nobody/);
    assert.match(
      said,
      /what the pages said:\n.* ms page 1, uncaught: Error: nobody/,
    );
  },
});

Deno.test({
  name: "browserTest() ends a test that does not, with what its pages said",
  ignore,
  async fn() {
    const said = await failureOf("never ends");
    assert.match(said, /not done after 2 seconds\n {2}waits for what never/);
    assert.match(said, /what the pages said:\n.* ms page 1, warning: still/);
    assert.match(said, /what the browser said:\n[^]*DevTools listening/);
    assert.match(said, /0 passed \| 1 failed/);
  },
});

Deno.test({
  name: "call() names the page and the function that does not answer",
  ignore,
  async fn() {
    const said = await failureOf("is not answered");
    assert.match(
      said,
      /in vain for the answer of page 1 to hang\("for ever"\)/,
    );
    assert.match(said, /0 passed \| 1 failed/);
  },
});

Deno.test("browserTest() skips all tests where no browser runs, counts them, and says why once", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--no-check", "--allow-all", path, textTests],
    cwd: root,
    env: { NO_COLOR: "1", SHEAF_TEST_BROWSER: "none" },
  }).output();
  assert.equal(code, 0);
  const [said, warned] = [stdout, stderr].map((bytes) =>
    new TextDecoder().decode(bytes)
  );
  assert.match(said!, /0 passed \| 0 failed \| 8 ignored/);
  const reasons = `${said}${warned}`.match(/browser tests are skipped: .*/g);
  const reason = "no browser runs here (SHEAF_TEST_BROWSER is none)";
  assert.deepEqual(reasons, [`browser tests are skipped: ${reason}`]);
});

Deno.test({
  name: "browserTest() leaves no browser behind when its process is killed",
  ignore: ignore || Deno.build.os === "windows",
  fn: () =>
    inFolder(async (folder) => {
      const child = runBadTests("never ends", folder);
      const pid = await browserPid(child.stdout);
      child.kill("SIGKILL");
      await child.status;
      await until(() => Promise.resolve(!isRunning(pid)), "the browser's end");
    }),
});

/** Reads until the process told its browser's process, and lets the rest go. */
async function browserPid(output: ReadableStream<Uint8Array>): Promise<number> {
  let said = "";
  for await (const bytes of output) {
    said += new TextDecoder().decode(bytes);
    const [, pid] = /browser (\d+)\n/.exec(said) ?? [];
    if (pid !== undefined) return Number(pid);
  }
  throw new Error(`It told no browser:\n${said}`);
}

/** Signal 0 asks without doing anything. */
function isRunning(pid: number): boolean {
  return new Deno.Command("kill", { args: ["-0", `${pid}`], stderr: "null" })
    .outputSync().success;
}
