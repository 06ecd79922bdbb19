/** The npm package as TypeScript and bundlers for browsers see it; `apps_test.ts` asks of them all, installed. */

import { deepEqual, match, ok } from "node:assert/strict";
import * as esbuild from "esbuild";
import ts from "typescript";
import { writeDeclarations } from "./declarations.ts";
import { buildPackage } from "./pack.ts";

const cache = new URL("../../node_modules/.cache/", import.meta.url).pathname;

/** What an app in a browser imports. */
const SUBPATHS = ["/browser", "/kv", "/text", "/worker", "/inspector"];
const HOOKS = ["/react", "/preact"];

/** TypeScript makes all declarations and checks them, on a machine that does other things. */
const TIMEOUT = { timeout: 290_000 };

const folder = makeFolder();
let made: Promise<void> | undefined;

Deno.test.afterAll(() => Deno.removeSync(folder, { recursive: true }));

function makeFolder(): string {
  Deno.mkdirSync(cache, { recursive: true });
  const folder = Deno.makeTempDirSync({ dir: cache, prefix: "package-" });
  // Else what is imported by our name would be the clone.
  Deno.writeTextFileSync(`${folder}/package.json`, "{}");
  return folder;
}

/** Makes the package beside our own packages, which it finds as an app would; once for all tests of this file. */
function packageMade(): Promise<void> {
  const place = `${folder}/node_modules/@sheaf/sheaf`;
  return made ??= buildPackage(place)
    .then(() => writeDeclarations(place)).then(() => {});
}

function importsOf(subpaths: readonly string[]): string {
  return subpaths.map((path, at) =>
    `import * as a${at} from "@sheaf/sheaf${path}"; console.log(a${at});`
  ).join("\n");
}

/** Checks a project that imports these as strictly as can be; gives its errors and packages. */
function checked(text: string) {
  const path = `${folder}/app.ts`;
  Deno.writeTextFileSync(path, text);
  const program = ts.createProgram([path], {
    exactOptionalPropertyTypes: true,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    noEmit: true,
    skipLibCheck: false,
    strict: true,
    target: ts.ScriptTarget.ES2022,
    types: [],
  });
  const errors = ts.getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ""));
  const files = program.getSourceFiles().filter(({ fileName }) =>
    fileName !== path
  );
  const packages = files.map(({ fileName }) =>
    /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(fileName)?.[1]
  );
  const lines = files.filter(({ fileName }) => fileName.includes("@sheaf"))
    .reduce((sum, file) => sum + file.getLineStarts().length, 0);
  return { errors, packages: [...new Set(packages)].sort(), lines };
}

Deno.test(
  "the declarations check without libraries of Node, and reach no package that an app need not have",
  TIMEOUT,
  async () => {
    await packageMade();
    const ours = ["@sheaf/sheaf", "typescript"];
    const asked = (...subpaths: string[]) => {
      const { errors, packages } = checked(importsOf(subpaths));
      return { errors, packages };
    };
    const plain = ["", "/browser", "/kv", "/worker", "/server", "/react"];
    deepEqual(asked(...plain), { errors: [], packages: ours });
    deepEqual(asked("/preact"), {
      errors: [],
      packages: [...ours, "preact"].sort(),
    });
    deepEqual(asked("/text", "/inspector"), {
      errors: [],
      packages: [...ours, "lib0", "yjs"].sort(),
    });
  },
);

/** Of the 12,900 lines that all our modules have. */
const LINES_MAX = 3_900;

Deno.test(
  "a program reads the declarations of what it may use, and no others",
  TIMEOUT,
  async () => {
    await packageMade();
    const { errors, lines } = checked(
      `import { Collection, DatabaseError, openDatabase } from "@sheaf/sheaf";
new DatabaseError("closed", openDatabase.name);
new Collection();`,
    );
    match(errors.join(), /^'Collection' cannot be used as a value/);
    ok(lines <= LINES_MAX, `${lines} lines`);
  },
);

Deno.test(
  "a bundler for browsers takes the package as it is, and nothing of Node with it",
  TIMEOUT,
  async () => {
    await packageMade();
    const { warnings, metafile } = await esbuild.build({
      stdin: {
        contents: importsOf(["", ...SUBPATHS, ...HOOKS]),
        resolveDir: folder,
      },
      outdir: folder,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "browser",
      write: false,
      metafile: true,
      logLevel: "silent",
    });
    await esbuild.stop();
    deepEqual(warnings, []);
    const isOfNode = /node_modules\/(ws|commander|csv-parse|msgpackr)\//;
    const inputs = Object.keys(metafile.inputs);
    deepEqual(
      inputs.filter((path) => isOfNode.test(path) && !/disabled/.test(path)),
      [],
    );
  },
);
