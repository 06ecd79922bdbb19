/**
 * The sources as the browser's production build has them: messages of errors by
 * number, with their values, and tables of numbers as numbers.
 *
 * @module
 */

import ts from "typescript";
import { recordKind } from "../../repo/log/format.ts";
import { widths } from "../../repo/checkpoint/layout.ts";
import { limits } from "../../src/base/limits.ts";
import { fieldKinds } from "../../src/schema/patch.ts";
import { findMessages, type Message, type Module, scan } from "./messages.ts";

const root = new URL("../../", import.meta.url).pathname;
const FOLDERS = ["crypto", "repo", "src", "sync"];

/** No page has them, or they are scripts of their own, which would import more than they save. */
const LEFT_OUT = /\/src\/(cli|hooks|inspector)$/;

/** Where `$text()` stands in this build, beside the errors. */
const ERRORS = `${root}src/base/errors.ts`;

const { version } = JSON.parse(Deno.readTextFileSync(`${root}deno.json`));

/** What a message becomes: `#VERSION-NUMBER`, and its values as JSON. */
const TEXT_OF = `
export function $text(number: number, ...values: unknown[]): string {
  return "#${version}-" + number +
    (values.length > 0 ? JSON.stringify(values.map(String)) : "");
}
`;

/** Tables whose numbers stand in their places, by where they are. */
const TABLES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  [`${root}repo/checkpoint/layout.ts widths`]: widths,
  [`${root}repo/log/format.ts recordKind`]: recordKind,
  [`${root}src/base/limits.ts limits`]: limits,
  [`${root}src/schema/patch.ts fieldKinds`]: fieldKinds,
};

/** The sources of production. */
export interface Production {
  /** Of the package. */
  readonly version: string;
  /** Texts by number; where a value stood is `{}`. */
  readonly messages: readonly string[];
  /** Sources that are others in production, by path. */
  readonly sources: ReadonlyMap<string, string>;
}

let made: Production | undefined;

/** Makes them, once. */
export function production(): Production {
  return made ??= make();
}

function make(): Production {
  const modules = FOLDERS.flatMap((folder) => [...filesIn(`${root}${folder}`)])
    .map(scan);
  const messages: string[] = [];
  const numberOf = (text: string): number => {
    const known = messages.indexOf(text);
    return known < 0 ? messages.push(text) - 1 : known;
  };
  const sources = new Map<string, string>();
  const sinks = new Map([[`${ERRORS} DatabaseError`, new Set([1])]]);
  for (const [module, found] of findMessages(modules, sinks)) {
    const text = rewrite(module, found, numberOf);
    if (text !== undefined) sources.set(module.file.fileName, text);
  }
  return { version, messages, sources };
}

/** In the order of their names: the same sources make the same numbers everywhere. */
function* filesIn(folder: string): Generator<ts.SourceFile> {
  const entries = [...Deno.readDirSync(folder)]
    .sort((left, right) => left.name < right.name ? -1 : 1);
  for (const { name, isDirectory } of entries) {
    const path = `${folder}/${name}`;
    if (isDirectory && !LEFT_OUT.test(path)) yield* filesIn(path);
    else if (/(?<!_test)\.tsx?$/.test(name)) {
      const text = Deno.readTextFileSync(path);
      yield ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
    }
  }
}

/** A source with numbers for what has one; `undefined` where nothing has. */
function rewrite(
  { file, imported }: Module,
  messages: ReadonlyMap<ts.Node, Message>,
  numberOf: (text: string) => number,
): string | undefined {
  let isTold = false;
  const render = (node: ts.Node): string => {
    const message = messages.get(node);
    if (message === undefined) {
      return entryOf(node, imported) ?? spliced(node, render);
    }
    isTold = true;
    const values = message.values.map(render);
    return `$text(${[numberOf(message.text), ...values].join(", ")})`;
  };
  const text = spliced(file, render);
  if (file.fileName === ERRORS) return text + TEXT_OF;
  if (text === file.text) return undefined;
  return isTold ? `${text}\nimport { $text } from "${ERRORS}";\n` : text;
}

/** The text of a node, in which each child is as `render` has it. */
function spliced(node: ts.Node, render: (child: ts.Node) => string): string {
  const { text } = node.getSourceFile();
  let made = "";
  let at = ts.isSourceFile(node) ? 0 : node.getStart();
  ts.forEachChild(node, (child) => {
    made += text.slice(at, child.getStart()) + render(child);
    at = child.end;
  });
  return made + text.slice(at, node.end);
}

function entryOf(
  node: ts.Node,
  imported: ReadonlyMap<string, string>,
): string | undefined {
  if (!ts.isPropertyAccessExpression(node)) return undefined;
  if (!ts.isIdentifier(node.expression)) return undefined;
  const table = TABLES[imported.get(node.expression.text) ?? ""] ?? {};
  return Object.hasOwn(table, node.name.text)
    ? String(table[node.name.text])
    : undefined;
}
