/**
 * Functions that V8 compiles with the script they stand in, and not when they are
 * first called: those that a program needs to open a database and read from it.
 *
 * Deno keeps what it compiled for the next process, but does so before anything
 * runs: what is compiled at its first call, some 500 functions, each process
 * compiles anew, which takes longer than to open a database. V8 compiles at once what
 * stands in brackets, as if it were called there. So this plays such a program,
 * and puts the functions that it called in brackets:
 *
 * ```text
 * function f(a) {…}          var f = (function (a) {…});   before all else: it is there as early
 * (a) => …                   ((a) => …)
 * class C { m(a) {…} }       class C { static { define(this.prototype, { m: (function (a) {…}) }) } }
 * ```
 *
 * A private method gets a name of its own in all of the core. Constructors,
 * accessors and async arrows stay as they are: no brackets say it of them.
 *
 * @module
 */

import remapping from "@jridgewell/remapping";
import MagicString from "magic-string";
import ts from "typescript";
import { run } from "./run.ts";

const program = new URL("first_read.ts", import.meta.url).pathname;

/** Where a function begins and ends in its script. */
export type Place = `${number}-${number}`;

/** What `deno run --coverage` writes, as V8's inspector does. */
interface Coverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly {
      readonly startOffset: number;
      readonly endOffset: number;
      readonly count: number;
    }[];
  }[];
}

/** Defines methods as a class does. */
const DEFINE = "__methods";
const DEFINITION = `var ${DEFINE}=((on,all)=>{for(let one in all)` +
  `Object.defineProperty(on,one,{value:all[one],writable:!0,configurable:!0})});`;

/** Puts what the first read of a database calls in brackets, in the scripts of a core and in their maps. */
export async function hintFirstRead(dist: string): Promise<void> {
  let hidden = 0;
  const nextName = () => `$${hidden++}`;
  // In their order, so that it gives the same each time.
  for (const [path, called] of [...await playFirstRead(dist)].sort()) {
    const text = await Deno.readTextFile(path);
    const hinted = hint(text, called, nextName);
    const maps = [
      hinted.generateMap({ hires: true }).toString(),
      await Deno.readTextFile(`${path}.map`),
    ];
    await Deno.writeTextFile(path, hinted.toString());
    await Deno.writeTextFile(
      `${path}.map`,
      remapping(maps, () => null).toString(),
    );
  }
}

/** The functions that are called in each script. */
async function playFirstRead(dist: string): Promise<Map<string, Set<Place>>> {
  const folder = await Deno.makeTempDir();
  const address = `file://${await Deno.realPath(dist)}/`;
  const play = (...options: string[]) =>
    run(
      folder,
      Deno.execPath(),
      "run",
      "--quiet",
      "--no-config",
      "--no-check",
      "--allow-all",
      ...options,
      program,
      `${address}mod.js`,
      `${folder}/data`,
    );
  try {
    await play();
    await play(`--coverage=${folder}/coverage`);
    const all = new Map<string, Set<Place>>();
    for await (const { name } of Deno.readDir(`${folder}/coverage`)) {
      const { url, functions }: Coverage = JSON.parse(
        await Deno.readTextFile(`${folder}/coverage/${name}`),
      );
      if (!url.startsWith(address)) continue;
      const called = functions.map(({ ranges }) => ranges[0]!)
        .filter(({ count }) => count > 0)
        .map(({ startOffset, endOffset }) =>
          `${startOffset}-${endOffset}` as const
        );
      all.set(url.slice("file://".length), new Set(called));
    }
    return all;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * The script, with functions in brackets.
 *
 * @param called where they begin and end in it
 * @param nextName names for private methods, none of which has another method of the core
 */
export function hint(
  text: string,
  called: ReadonlySet<Place>,
  nextName: () => string,
): MagicString {
  const script = ts.createSourceFile(
    "script.js",
    text,
    ts.ScriptTarget.ESNext,
    true,
    ts.ScriptKind.JS,
  );
  const edited = new MagicString(text);
  let needsDefinition = false;
  const isCalled = (node: ts.Node): boolean =>
    called.has(`${node.getStart()}-${node.end}`);
  const visit = (node: ts.Node): void => {
    if (ts.isClassLike(node)) {
      const methods = node.members.filter(isMethod).filter(isCalled);
      if (methods.length > 0) needsDefinition = true;
      moveMethods(edited, node, methods, nextName);
    } else if (isCalled(node)) bracket(edited, node);
    ts.forEachChild(node, visit);
  };
  visit(script);
  if (needsDefinition) edited.prepend(DEFINITION);
  return edited;
}

function bracket(edited: MagicString, node: ts.Node): void {
  const [start, end] = [node.getStart(), node.end];
  if (ts.isFunctionDeclaration(node)) {
    // Inner ones are called before they stand there; the scripts export at their ends.
    if (!ts.isSourceFile(node.parent) || node.modifiers?.some(isExport)) return;
    const { pos, end: nameEnd, text } = node.name!;
    edited.remove(pos, nameEnd);
    edited.prependRight(start, `var ${text}=(`);
    edited.appendLeft(end, ");");
    edited.move(start, end, 0);
  } else if (ts.isFunctionExpression(node) || ts.isArrowFunction(node)) {
    if (ts.isParenthesizedExpression(node.parent)) return;
    edited.prependRight(start, "(");
    edited.appendLeft(end, ")");
  }
}

function isExport({ kind }: ts.ModifierLike): boolean {
  return kind === ts.SyntaxKind.ExportKeyword;
}

/** Whether as a function it does the same: it is one of all objects, and does not call what it overrides. */
function isMethod(node: ts.ClassElement): node is ts.MethodDeclaration {
  return ts.isMethodDeclaration(node) &&
    !ts.isComputedPropertyName(node.name) &&
    !node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) &&
    !node.getText().includes("super");
}

/** Before fields of the class, as they may call them. */
function moveMethods(
  edited: MagicString,
  node: ts.ClassLikeDeclaration,
  methods: readonly ts.MethodDeclaration[],
  nextName: () => string,
): void {
  methods.forEach((method, at) => {
    const { name, asteriskToken, modifiers } = method;
    const kind = `${modifiers ? "async " : ""}function${
      asteriskToken ? "*" : ""
    }`;
    const [start, end] = [method.getStart(), method.end];
    const open = at === 0 ? `static{${DEFINE}(this.prototype,{` : "";
    const isLast = at === methods.length - 1;
    let called = name.getText();
    if (ts.isPrivateIdentifier(name)) {
      called = nextName();
      rename(edited, node, name, called);
    }
    edited.remove(start, name.end);
    edited.prependRight(start, `${open}${called}:(${kind}`);
    edited.appendLeft(end, isLast ? ")})}" : "),");
    edited.move(start, end, node.members.pos);
  });
}

/** Where a private method is asked for in its class, which has one of that name. */
function rename(
  edited: MagicString,
  node: ts.ClassLikeDeclaration,
  { text }: ts.PrivateIdentifier,
  name: string,
): void {
  const isOther = (inner: ts.Node) =>
    ts.isClassLike(inner) && inner !== node &&
    inner.members.some((one) => one.name?.getText() === text);
  const visit = (inner: ts.Node): void => {
    if (isOther(inner)) return;
    if (
      ts.isPropertyAccessExpression(inner) &&
      ts.isPrivateIdentifier(inner.name) && inner.name.text === text
    ) edited.update(inner.name.getStart(), inner.name.end, name);
    ts.forEachChild(inner, visit);
  };
  visit(node);
}
