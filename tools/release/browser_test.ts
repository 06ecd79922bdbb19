/** The npm package as TypeScript and bundlers for browsers see it; `apps_test.ts` asks of them all, installed. */

import { deepEqual } from "node:assert/strict";
import * as esbuild from "esbuild";
import ts from "typescript";
import { writeDeclarations } from "./declarations.ts";
import { buildPackage } from "./pack.ts";

const cache = new URL("../../node_modules/.cache/", import.meta.url).pathname;

/** What an app in a browser imports. */
const SUBPATHS = ["/browser", "/kv", "/text", "/worker", "/inspector"];
const HOOKS = ["/react", "/preact"];

/** Makes the package beside our own packages, which it finds as an app would. */
async function withPackage(
  work: (folder: string) => void | Promise<void>,
): Promise<void> {
  Deno.mkdirSync(cache, { recursive: true });
  const folder = Deno.makeTempDirSync({ dir: cache, prefix: "package-" });
  const made = `${folder}/node_modules/@sheaf/sheaf`;
  try {
    await buildPackage(made);
    writeDeclarations(made);
    await work(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function importsOf(subpaths: readonly string[]): string {
  return subpaths.map((path, at) =>
    `import * as a${at} from "@sheaf/sheaf${path}"; console.log(a${at});`
  ).join("\n");
}

/** Checks a project that imports these as strictly as can be; gives its errors and packages. */
function checked(folder: string, subpaths: readonly string[]) {
  const path = `${folder}/app.ts`;
  Deno.writeTextFileSync(path, importsOf(subpaths));
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
  return { errors, packages: [...new Set(packages)].sort() };
}

Deno.test("the declarations check without libraries of Node, and reach no package that an app need not have", () =>
  withPackage((folder) => {
    const ours = ["@sheaf/sheaf", "@standard-schema/spec", "typescript"];
    const plain = ["", "/browser", "/kv", "/worker", "/server", "/react"];
    deepEqual(checked(folder, plain), { errors: [], packages: ours });
    deepEqual(checked(folder, ["/preact"]), {
      errors: [],
      packages: [...ours, "preact"].sort(),
    });
    deepEqual(checked(folder, ["/text", "/inspector"]), {
      errors: [],
      packages: [...ours, "lib0", "yjs"].sort(),
    });
  }));

Deno.test("a bundler for browsers takes the package as it is, and nothing of Node with it", () =>
  withPackage(async (folder) => {
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
  }));
