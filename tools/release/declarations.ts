/**
 * The declarations of the npm package: those that its entry points reach.
 *
 * @module
 */

import ts from "typescript";
import { config, packageOf } from "./manifest.ts";

const root = new URL("../../", import.meta.url).pathname;

/** What ours use and older projects do not ask for; TypeScript brings it. */
const LIBRARIES = `/// <reference lib="esnext.disposable" />\n`;

/** Only inner modules name Node's types, which a project for browsers does not have. */
const NODE_TYPE = /typeof import\("node:[^"]+"\)/g;

/** Writes the declarations into `types/` of a folder; gives the packages that they import. */
export function writeDeclarations(folder: string): Set<string> {
  const made = declarationsOf(Object.values(config.exports));
  const packages = new Set<string>();
  const waiting = Object.values(config.exports).map(declarationPath);
  const written = new Set<string>();
  for (let path; (path = waiting.pop()) !== undefined;) {
    if (written.has(path)) continue;
    written.add(path);
    const text = made.get(path);
    if (text === undefined) {
      throw new Error(`No declaration was made of ${path}`);
    }
    const target = new URL(path, `file://${folder}/types/`);
    Deno.mkdirSync(new URL(".", target), { recursive: true });
    Deno.writeTextFileSync(target, `${LIBRARIES}${rewritten(text)}`);
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      const name = packageOf(fileName);
      if (name !== undefined) packages.add(name);
      else if (fileName.startsWith(".")) {
        waiting.push(declarationPath(resolved(fileName, path)));
      }
    }
  }
  return packages;
}

/** All declarations that TypeScript makes of the sources, by their paths. */
function declarationsOf(sources: readonly string[]): Map<string, string> {
  const made = new Map<string, string>();
  const program = ts.createProgram(sources.map((path) => `${root}${path}`), {
    allowImportingTsExtensions: true,
    declaration: true,
    emitDeclarationOnly: true,
    exactOptionalPropertyTypes: true,
    jsx: ts.JsxEmit.ReactJSX,
    jsxImportSource: "preact",
    lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    noUncheckedIndexedAccess: true,
    rootDir: root,
    strict: true,
    stripInternal: true,
    target: ts.ScriptTarget.ESNext,
    types: [],
  });
  const { emitSkipped } = program.emit(undefined, (path, text) => {
    made.set(path.replace(root, ""), text.replace(NODE_TYPE, "any"));
  });
  if (emitSkipped) throw new Error("TypeScript made no declarations");
  return made;
}

function declarationPath(path: string): string {
  return path.replace(/^\.\//, "").replace(/\.tsx?$/, ".d.ts");
}

function resolved(specifier: string, from: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

/** As a resolver of published packages finds them. */
function rewritten(text: string): string {
  let at = 0;
  let made = "";
  for (const { fileName, pos, end } of ts.preProcessFile(text).importedFiles) {
    const name = fileName.startsWith(".")
      ? fileName.replace(/\.tsx?$/, ".js")
      : fileName;
    made += `${text.slice(at, pos)}"${name}"`;
    at = end + 2; // The quotes are not counted.
  }
  return made + text.slice(at);
}
