import { deepEqual, equal, match } from "node:assert/strict";
import { join } from "node:path";
import { checkout, Sandbox } from "./sandbox.ts";

const license = Deno.readTextFileSync(join(checkout, "LICENSE"));

Deno.test("Sandbox changes and restores a file of the copy, and none of the checkout", async () => {
  await using sandbox = await Sandbox.open(checkout);
  const read = () => Deno.readTextFile(join(sandbox.path, "LICENSE"));
  equal(await read(), license);
  await sandbox.change("LICENSE", (text) => text.replace("MIT", "TIM"));
  await sandbox.change("LICENSE", (text) => `${text}!`);
  equal(await read(), `${license.replace("MIT", "TIM")}!`);
  equal(await Deno.readTextFile(join(checkout, "LICENSE")), license);
  await sandbox.restore();
  equal(await read(), license);
});

Deno.test("Sandbox.open() copies every module that tests may ask for", async () => {
  await using sandbox = await Sandbox.open(checkout);
  for (const part of ["src", "web-demo", "tests", "docs"]) {
    deepEqual(
      filesBelow(join(sandbox.path, part)),
      filesBelow(join(checkout, part)),
    );
  }
});

function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory
      ? filesBelow(join(folder, name)).map((below) => join(name, below))
      : [name]
  ).sort();
}

Deno.test("Sandbox.run() says how a program ended, and what it printed", async () => {
  await using sandbox = await Sandbox.open(checkout);
  const source = `import { limits } from "./src/base/limits.ts";
    console.log(typeof limits); console.error("to the other"); Deno.exit(3);`;
  await Deno.writeTextFile(join(sandbox.path, "program.ts"), source);
  const args = ["run", "--no-check", "-A", "program.ts"];
  const ran = await sandbox.run(args, { secondsMax: 60 });
  deepEqual([ran.isSuccess, ran.isLate], [false, false]);
  match(ran.output, /object/);
  match(ran.output, /to the other/);
});

Deno.test("Sandbox.run() ends a program whose time is up, and what that has started", async () => {
  await using sandbox = await Sandbox.open(checkout);
  // Were the inner one left alone, it would hold the pipe for ever, and so the run.
  const source = `new Deno.Command(Deno.execPath(), {
      args: ["eval", "setInterval(() => {}, 1_000)"],
    }).spawn();
    setInterval(() => {}, 1_000);`;
  await Deno.writeTextFile(join(sandbox.path, "program.ts"), source);
  const args = ["run", "--no-check", "-A", "program.ts"];
  const ran = await sandbox.run(args, { secondsMax: 0.5 });
  deepEqual([ran.isSuccess, ran.isLate], [false, true]);
});

Deno.test("Sandbox.run() ends a program that has said what was waited for", async () => {
  await using sandbox = await Sandbox.open(checkout);
  const source = `console.log("one"); console.log("two");
    setInterval(() => {}, 1_000);`;
  await Deno.writeTextFile(join(sandbox.path, "program.ts"), source);
  const args = ["run", "--no-check", "-A", "program.ts"];
  const until = (output: string) => output.includes("two");
  const ran = await sandbox.run(args, { secondsMax: 60, until });
  deepEqual([ran.isSuccess, ran.isLate], [false, false]);
  match(ran.output, /one\ntwo/);
});
