/** Runs of test files in processes: what fails, hangs and dies is told. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { filesTask, type Outcome, runTasks, type Task } from "./suite.ts";

const root = new URL("../../", import.meta.url).pathname;

/** Runs test files with these texts. */
async function run(
  texts: Record<string, string>,
  limitMs = 60_000,
): Promise<Outcome> {
  const folder = Deno.makeTempDirSync({ dir: root, prefix: ".tested-" });
  try {
    const files = Object.entries(texts).map(([name, text]) => {
      const path = `${folder}/${name}_test.ts`;
      Deno.writeTextFileSync(path, text);
      return path.slice(root.length);
    });
    return await filesTask(files, { isWhole: false, limitMs, heard: () => {} })
      .run();
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

const namesOf = ({ failed }: Outcome) =>
  failed.map(({ file, name }) => `${file.split("/").at(-1)}: ${name}`);

Deno.test("tests that pass, fail and are left out are counted and named", async () => {
  const outcome = await run({
    a: 'Deno.test("one", () => {}); Deno.test.ignore("two", () => {});',
    b: 'Deno.test("three", () => { throw new Error("why it broke"); });',
  });
  equal(outcome.passed, 1);
  deepEqual(outcome.ignored, ["two"]);
  deepEqual(namesOf(outcome), ["b_test.ts: three"]);
  match(outcome.reasons, /why it broke/);
});

Deno.test("a test that hangs or loops fails by its name, and the others run", async () => {
  const outcome = await run({
    a: `Deno.test({ name: "loops", timeout: 50, fn() { for (;;); } });
Deno.test({ name: "hangs", timeout: 50, fn: () => new Promise((done) => setTimeout(done, 1e6)) });
Deno.test("fine", () => {});`,
  });
  equal(outcome.passed, 1);
  deepEqual(namesOf(outcome), ["a_test.ts: loops", "a_test.ts: hangs"]);
});

Deno.test("a test that sets no limit has one, however it is written", async () => {
  const hangs = "() => new Promise((done) => setTimeout(done, 1e6))";
  const outcome = await run({
    a: `Deno.test("by name", ${hangs});
Deno.test("with options", { sanitizeOps: false }, ${hangs});
Deno.test({ sanitizeOps: false }, async function byOptions() { await (${hangs})(); });
Deno.test(async function byFunction() { await (${hangs})(); });
Deno.test({ name: "as one", fn: ${hangs} });
Deno.test("fine", () => {});`,
  }, 100);
  deepEqual(
    namesOf(outcome),
    ["by name", "with options", "byOptions", "byFunction", "as one"].map((
      name,
    ) => `a_test.ts: ${name}`),
  );
  equal(outcome.passed, 1);
});

Deno.test("what a dying process had not finished runs once more, and is counted once", async () => {
  const mark = Deno.makeTempFileSync();
  const dies = `if (Deno.statSync(${JSON.stringify(mark)}).size === 0) {
    Deno.writeTextFileSync(${JSON.stringify(mark)}, "died");
    Deno.kill(Deno.pid, "SIGKILL");
    for (;;);
  }`;
  const outcome = await run({
    a: 'Deno.test("one", () => {});',
    b: `Deno.test("two", () => {}); Deno.test("three", () => { ${dies} });`,
    c: 'Deno.test("four", () => {});',
  });
  Deno.removeSync(mark);
  deepEqual(namesOf(outcome), []);
  equal(outcome.passed, 4);
});

Deno.test("a process that dies again, and a module that cannot be loaded, are failures", async () => {
  const outcome = await run({
    a: 'Deno.test("dies", () => { Deno.kill(Deno.pid, "SIGKILL"); for (;;); });',
    b: "Deno.test('x', () => {}); this is no module",
    c: 'Deno.test("fine", () => {});',
  });
  equal(outcome.passed, 1);
  equal(outcome.failed.length, 2);
  match(outcome.reasons, /died \(SIGKILL\)/);
  match(outcome.reasons, /b_test\.ts/);
});

Deno.test("an error that no test caught is told of its test, and other files run", async () => {
  const outcome = await run({
    a: 'Deno.test("one", () => {});',
    b: `Deno.test("throws late", async () => {
      setTimeout(() => { throw new Error("late") });
      await new Promise((done) => setTimeout(done, 1e6));
    });`,
    c: 'Deno.test("two", () => {});',
  });
  equal(outcome.passed, 2);
  deepEqual(namesOf(outcome), [
    "b_test.ts: an error that no test caught",
    "b_test.ts: throws late",
  ]);
  match(outcome.reasons, /Error: late/);
});

/** A task that says when it runs. */
function task(name: string, diary: string[], failed = 0): Task {
  return {
    name,
    run: () => {
      diary.push(name);
      return Promise.resolve({
        passed: 1,
        ignored: [],
        failed: Array.from({ length: failed }, () => ({ file: name, name })),
        reasons: "",
      });
    },
  };
}

Deno.test("runTasks() gives back what was not begun: past the end, and after a failure", async () => {
  const diary: string[] = [];
  const tasks = [task("a", diary), task("b", diary, 1), task("c", diary)];
  const options = {
    jobs: 1,
    endMs: Infinity,
    isFailingFast: false,
    ended() {},
  };
  deepEqual(await runTasks(tasks, options), []);
  deepEqual(diary, ["a", "b", "c"]);
  const late = await runTasks(tasks, { ...options, endMs: 0 });
  deepEqual(late.map(({ name }) => name), ["a", "b", "c"]);
  const fast = await runTasks(tasks, { ...options, isFailingFast: true });
  deepEqual(fast.map(({ name }) => name), ["c"]);
  ok(diary.length === 5);
});
