import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { dirname, join } from "node:path";
import { Sandbox } from "./sandbox.ts";

/** A tree of a few files, with what a copy has no use for. */
async function makeTree() {
  const root = await Deno.makeTempDir();
  const files = {
    "LICENSE": "MIT",
    "src/base/limits.ts": "export const limits = {};",
    "web/data/rows.ts": "export const rows = [];",
    ".git/HEAD": "main",
    ".data/log": "written by a run",
    "data/log": "written by a run",
    "node_modules/pack/mod.ts": "export const pack = 1;",
  };
  for (const [file, text] of Object.entries(files)) {
    await Deno.mkdir(dirname(join(root, file)), { recursive: true });
    await Deno.writeTextFile(join(root, file), text);
  }
  return {
    root,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

Deno.test("Sandbox changes and restores a file of the copy, and none of the tree", async () => {
  await using tree = await makeTree();
  await using sandbox = await Sandbox.open(tree.root);
  const read = () => Deno.readTextFile(join(sandbox.path, "LICENSE"));
  equal(await read(), "MIT");
  await sandbox.change("LICENSE", (text) => text.replace("MIT", "TIM"));
  await sandbox.change("LICENSE", (text) => `${text}!`);
  equal(await read(), "TIM!");
  equal(await Deno.readTextFile(join(tree.root, "LICENSE")), "MIT");
  await sandbox.restore();
  equal(await read(), "MIT");
});

Deno.test("Sandbox.open() copies every module, links the packages, and leaves out what runs wrote", async () => {
  await using tree = await makeTree();
  let path: string;
  {
    await using sandbox = await Sandbox.open(tree.root);
    ({ path } = sandbox);
    deepEqual(filesBelow(path), [
      "LICENSE",
      join("src", "base", "limits.ts"),
      join("web", "data", "rows.ts"),
    ]);
    equal((await Deno.lstat(join(path, "node_modules"))).isSymlink, true);
    const pack = join(path, "node_modules", "pack", "mod.ts");
    equal(await Deno.readTextFile(pack), "export const pack = 1;");
  }
  await rejects(Deno.stat(path), Deno.errors.NotFound);
  await Deno.stat(join(tree.root, "node_modules", "pack", "mod.ts"));
});

/** Files, not those behind links. */
function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap((entry) => {
    if (entry.isFile) return [entry.name];
    if (!entry.isDirectory) return [];
    return filesBelow(join(folder, entry.name))
      .map((below) => join(entry.name, below));
  }).sort();
}

Deno.test("Sandbox.run() says how a program ended, and what it printed", async () => {
  await using tree = await makeTree();
  await using sandbox = await Sandbox.open(tree.root);
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
  await using tree = await makeTree();
  await using sandbox = await Sandbox.open(tree.root);
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
  await using tree = await makeTree();
  await using sandbox = await Sandbox.open(tree.root);
  const source = `console.log("one"); console.log("two");
    setInterval(() => {}, 1_000);`;
  await Deno.writeTextFile(join(sandbox.path, "program.ts"), source);
  const args = ["run", "--no-check", "-A", "program.ts"];
  const until = (output: string) => output.includes("two");
  const ran = await sandbox.run(args, { secondsMax: 60, until });
  deepEqual([ran.isSuccess, ran.isLate], [false, false]);
  match(ran.output, /one\ntwo/);
});
