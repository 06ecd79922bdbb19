/** The clone's command line as its tasks start it. */

import { deepEqual, match, ok } from "node:assert/strict";
import { checkout, Sandbox } from "./sandbox.ts";

const TITLE = "Inspect, fill, check and serve a Sheaf database";
const secondsMax = 50;

/** What `--help` shows where the title was, in a copy of the tree that says how it came to run. */
function titleWith(shown: string): (text: string) => string {
  return (text) => text.replace(`"${TITLE}`, `${shown} + "${TITLE}`);
}

function scriptsIn({ path }: Sandbox): string[] {
  return [...Deno.readDirSync(`${path}/.data/core`)].map(({ name }) => name)
    .filter((name) => name.endsWith(".mjs"));
}

Deno.test("deno task sheaf runs scripts of the sources as they are, and may start nothing", async () => {
  await using sandbox = await Sandbox.open(checkout);
  const run = async (...args: string[]) => {
    const task = ["task", "--quiet", "sheaf", ...args];
    return (await sandbox.run(task, { secondsMax })).output;
  };
  await sandbox.change(
    "src/cli/program.ts",
    titleWith(
      `import.meta.url.slice(-4) + Deno.permissions.querySync({ name: "run" }).state`,
    ),
  );
  match(await run("--help"), /\.mjsprompt/);
  const [script = ""] = scriptsIn(sandbox);
  const made = () => Deno.statSync(`${sandbox.path}/.data/core/${script}`);
  const { mtime } = made();
  match(await run("--help"), /\.mjsprompt/);
  deepEqual(made().mtime, mtime);
  match(await run("--help", "--debug"), /m\.tsprompt/);

  await sandbox.change("src/cli/program.ts", titleWith(`"Changed. "`));
  match(await run("--help"), /\.mjspromptChanged\. /);
  ok(scriptsIn(sandbox).length === 2);
});

Deno.test("deno task sheaf runs the sources where no scripts can be made", async () => {
  await using sandbox = await Sandbox.open(checkout);
  await sandbox.change(
    "src/cli/program.ts",
    titleWith("import.meta.url.slice(-4)"),
  );
  Deno.writeTextFileSync(`${sandbox.path}/.data`, "no folder");
  const task = ["task", "--quiet", "sheaf", "--help"];
  const { output } = await sandbox.run(task, { secondsMax });
  match(output, /m\.tsInspect/);
});
