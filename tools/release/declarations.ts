/**
 * The declarations of the npm package: what its entry points reach, name by name,
 * without the constructors of classes that only we construct. Of 12,900 lines a
 * program that imports the root reads 3,900.
 *
 * @module
 */

import { type OutputChunk, type Plugin, rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import ts from "typescript";
import { outputName } from "../browser/built.ts";
import { config, packageOf } from "./manifest.ts";

const root = new URL("../../", import.meta.url).pathname;
const cache = `${root}node_modules/.cache/`;

/** What ours use and older projects do not ask for; TypeScript brings it. */
const LIBRARIES = `/// <reference lib="esnext.disposable" />`;

/** Only inner modules name Node's types, which a project for browsers does not have. */
const NODE_TYPE = /typeof import\("node:[^"]+"\)/g;

/** Packages of nothing but types, which ours have in them. */
const INSIDE = ["@standard-schema/spec"];

/** An entry point. */
interface Entry {
  readonly name: string;
  readonly source: string;
  /** What it exports that is there at run time. */
  readonly values: ReadonlySet<string>;
}

/** Writes the declarations into `types/` of a folder; gives the packages that they import. */
export async function writeDeclarations(folder: string): Promise<Set<string>> {
  const program = programOf(Object.values(config.exports));
  const entries = Object.entries(config.exports).map(([subpath, path]) => {
    const source = new URL(path, `file://${root}`).pathname;
    const name = outputName(subpath);
    return { name, source, values: valuesOf(program, source) };
  });
  Deno.mkdirSync(cache, { recursive: true });
  // Below our own packages, whose types it finds there.
  const made = Deno.makeTempDirSync({ dir: cache, prefix: "types-" });
  try {
    emit(program, made, new Set(entries.flatMap(({ values }) => [...values])));
    const chunks = await gather(made, entries);
    for (const { fileName, code } of chunks) {
      const values = entries.find(({ name }) => fileName === `${name}.d.ts`)
        ?.values;
      const text = values ? markTypes(code, values) : code;
      write(`${folder}/types/${fileName}`, text);
    }
    return new Set(
      chunks.flatMap(({ imports }) => imports)
        .flatMap((name) => name.endsWith(".d.ts") ? [] : packageOf(name) ?? []),
    );
  } finally {
    Deno.removeSync(made, { recursive: true });
  }
}

function programOf(sources: readonly string[]): ts.Program {
  return ts.createProgram(sources.map((path) => `${root}${path}`), {
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
}

/** What a module exports that is no type alone. */
function valuesOf(program: ts.Program, path: string): Set<string> {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(path)!);
  const isValue = (symbol: ts.Symbol): boolean => {
    const [declaration] = symbol.declarations ?? [];
    if ((symbol.flags & ts.SymbolFlags.Alias) === 0 || !declaration) {
      return (symbol.flags & ts.SymbolFlags.Value) !== 0;
    }
    if (ts.isTypeOnlyImportOrExportDeclaration(declaration)) return false;
    const target = ts.isExportSpecifier(declaration)
      ? checker.getExportSpecifierLocalTargetSymbol(declaration)
      : checker.getAliasedSymbol(symbol);
    return target !== undefined && isValue(target);
  };
  const exported = module ? checker.getExportsOfModule(module) : [];
  return new Set(exported.filter(isValue).map(({ name }) => name));
}

/** Writes a file of declarations for each of the sources. */
function emit(
  program: ts.Program,
  folder: string,
  values: ReadonlySet<string>,
): void {
  const { emitSkipped } = program.emit(
    undefined,
    (path, text) =>
      write(path.replace(root, `${folder}/`), text.replace(NODE_TYPE, "any")),
    undefined,
    true,
    { afterDeclarations: [withoutConstructors(values)] },
  );
  if (emitSkipped) throw new Error("TypeScript made no declarations");
}

/** Who gets a class only as a type cannot construct it; what its parts are is nobody's business. */
function withoutConstructors(
  values: ReadonlySet<string>,
): ts.TransformerFactory<ts.SourceFile | ts.Bundle> {
  return (context) => (file) => {
    const visit = (node: ts.Node): ts.Node | undefined => {
      if (ts.isConstructorDeclaration(node)) return undefined;
      if (!ts.isClassDeclaration(node)) return node;
      return values.has(node.name?.text ?? "")
        ? node
        : ts.visitEachChild(node, visit, context);
    };
    return ts.visitEachChild(file, visit, context);
  };
}

/** Declarations name the sources that they import. */
const ofSources: Plugin = {
  name: "declarations-of-sources",
  resolveId: (name, from) =>
    from !== undefined && /^\..*(?<!\.d)\.ts$/.test(name)
      ? new URL(name.replace(/\.ts$/, ".d.ts"), `file://${from}`).pathname
      : undefined,
};

/** What the entries reach: a chunk for each, and those that they share. */
async function gather(
  folder: string,
  entries: readonly Entry[],
): Promise<OutputChunk[]> {
  const bundle = await rollup({
    input: Object.fromEntries(
      entries.map(({ name, source }) => [
        name,
        source.replace(root, `${folder}/`).replace(/\.ts$/, ".d.ts"),
      ]),
    ),
    external: (name) => {
      const from = packageOf(name);
      return from !== undefined && !INSIDE.includes(from);
    },
    plugins: [ofSources, dts({ includeExternal: INSIDE })],
    logLevel: "silent",
  });
  const { output } = await bundle.generate({
    entryFileNames: "[name].d.ts",
    chunkFileNames: "chunks/[hash].d.ts",
    banner: LIBRARIES,
  });
  return output.filter((one) => one.type === "chunk");
}

/** Says of all that a module exports and that is no value that it is a type. */
function markTypes(text: string, values: ReadonlySet<string>): string {
  if (!/^export/m.test(text)) return `${text}export {};\n`;
  return text.replace(
    /^export \{([^}]*)\}/gm,
    (_, names: string) =>
      `export {${
        names.split(",").map((one) =>
          values.has(one.trim().split(" ").at(-1)!) ? one : ` type${one}`
        ).join(",")
      }}`,
  );
}

function write(path: string, text: string): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
}
