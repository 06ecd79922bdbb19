import { deepEqual, equal, ok } from "node:assert/strict";
import {
  findCircle,
  importsOf,
  type ModuleGraph,
  unreached,
} from "./module_graph.ts";

const root = new URL("..", import.meta.url);
const SOURCES = ["src/", "crypto/", "repo/", "sync/", "server/"];
/** What users run or import, and what tests compare with or play the wire with. */
const ENTRIES = [
  ...exported(),
  "src/browser/shared.ts",
  "src/cli/main.ts",
  "sync/transport/memory_transport.ts",
];

/** Paths of the modules that deno.json exports. */
function exported(): string[] {
  const config = Deno.readTextFileSync(new URL("deno.json", root));
  const paths: string[] = Object.values(JSON.parse(config).exports);
  return paths.map((path) => path.replace("./", ""));
}

function* modulesIn(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(new URL(folder, root))) {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory) yield* modulesIn(`${path}/`);
    else if (/(?<!_test)\.ts$/.test(path)) yield path;
  }
}

function readGraph(paths: Iterable<string>): ModuleGraph {
  return new Map(Array.from(paths, (path) => {
    const source = Deno.readTextFileSync(new URL(path, root));
    return [path, importsOf(path, source, { withTypes: true })];
  }));
}

const modules = [...SOURCES.flatMap((folder) => [...modulesIn(folder)])];

Deno.test("importsOf() reads every form, types when asked", () => {
  const source = [
    `/**`,
    ` * import { not } from "./comment.ts";`,
    ` */`,
    `import { a } from "./a.ts";`,
    `import {\n  type B,\n  b,\n} from "../b.ts";`,
    `import type { C } from "./c.ts";`,
    `export * from "./d.ts";`,
    `import fc from "fast-check";`,
    `const e = await import("./e.ts");`,
  ].join("\n");
  const values = ["src/a.ts", "b.ts", "src/d.ts", "src/e.ts"];
  deepEqual(importsOf("src/x.ts", source, { withTypes: false }), values);
  deepEqual(
    importsOf("src/x.ts", source, { withTypes: true }),
    values.toSpliced(2, 0, "src/c.ts"),
  );
});

Deno.test("findCircle() shows the way round", () => {
  equal(findCircle(new Map([["a", ["b", "c"]], ["b", ["c"]]])), undefined);
  deepEqual(
    findCircle(new Map([["a", ["b"]], ["b", ["c"]], ["c", ["b"]]])),
    ["b", "c", "b"],
  );
});

Deno.test("unreached() lists what no entry leads to", () => {
  const graph = new Map([["a", ["b"]], ["b", ["a"]], ["c", ["b"]]]);
  deepEqual(unreached(graph, ["a"]), ["c"]);
  deepEqual(unreached(graph, ["c"]), []);
});

Deno.test("our modules import in no circle, types included", () => {
  equal(findCircle(readGraph(modules)), undefined);
});

Deno.test("our modules are all in use", () => {
  const entries = ["mod.ts", "tests/kit/mod.ts"];
  const graph = readGraph([...modules, ...entries]);
  deepEqual(unreached(graph, ENTRIES), []);
});

Deno.test("commits become known in few places: the door, replay, own writes", () => {
  // Law 2: another place would be a way in beside the door.
  const makers: Record<string, string[]> = {};
  for (const path of modules) {
    const source = Deno.readTextFileSync(new URL(path, root));
    const calls = source.match(/\bgraph\.(addBatch|add)\(/g) ?? [];
    if (calls.length > 0) makers[path] = calls;
  }
  deepEqual(makers, {
    "repo/write/author.ts": ["graph.add("], // own commits, sealed by the writer
    "repo/device.ts": ["graph.addBatch("], // the log of this very device, in another replica of it
    "repo/admission/intake.ts": ["graph.addBatch("], // batches that `admit` let in
    "repo/replay.ts": ["graph.addBatch("], // the own log, replayed
    "repo/refusal/cut.ts": ["graph.addBatch("], // the own log, without what was cut
  });
});

Deno.test("docs/architecture.md lists the rooms of repo/, and few modules stand between them", () => {
  const entries = [...Deno.readDirSync(new URL("repo/", root))];
  const rooms = entries.filter(({ isDirectory }) => isDirectory);
  const tour = Deno.readTextFileSync(new URL("docs/architecture.md", root));
  deepEqual(
    Array.from(tour.matchAll(/^\| `repo\/(\w+)\/` /gm), ([, name]) => name)
      .sort(),
    rooms.map(({ name }) => name).sort(),
  );
  ok(entries.length - rooms.length <= 30);
});
