/**
 * Finds the texts of our sources that are messages of errors: they reach the
 * constructor of an error, directly or as an argument of functions that do
 * nothing else with it. So there is no list to keep, and no way to mark one.
 *
 * @module
 */

import ts from "typescript";

/** A text of an error; where a value stood is `{}`. */
export interface Message {
  readonly text: string;
  readonly values: readonly ts.Expression[];
}

/** A module, and what its names mean. */
export interface Module {
  readonly file: ts.SourceFile;
  /** What its own files export and it imports, by the name here: `PATH NAME`. */
  readonly imported: ReadonlyMap<string, string>;
  /** Functions by how they are called here; a method has a dot in front. */
  readonly functions: ReadonlyMap<string, Body>;
  readonly calls: readonly Call[];
}

type Call = ts.CallExpression | ts.NewExpression;

type Body =
  | ts.ArrowFunction
  | ts.ConstructorDeclaration
  | ts.FunctionDeclaration
  | ts.MethodDeclaration;

/** Which arguments are messages, by what is called: `PATH NAME`, or the name of a platform's error. */
export type Sinks = Map<string, Set<number>>;

/** Errors of the platform; their first argument is the message. */
const NATIVE = ["Error", "RangeError", "SyntaxError", "TypeError"];

/** Shorter than this, a number in its place is no gain. */
const TEXT_CHARS_MIN = 10;

/** Reads a module. */
export function scan(file: ts.SourceFile): Module {
  const imported = new Map<string, string>();
  const functions = new Map<string, Body>();
  const doubles: string[] = [];
  const calls: Call[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) noteImports(node, imported);
    else if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      calls.push(node);
    }
    const [name, body] = functionOf(node) ?? [];
    // Of two with one name nobody can say which one is called.
    if (functions.has(name!)) doubles.push(name!);
    else if (body !== undefined) functions.set(name!, body);
    ts.forEachChild(node, visit);
  };
  visit(file);
  for (const name of doubles) functions.delete(name);
  return { file, imported, functions, calls };
}

function noteImports(
  { importClause, moduleSpecifier }: ts.ImportDeclaration,
  imported: Map<string, string>,
): void {
  const bindings = importClause?.namedBindings;
  const path = (moduleSpecifier as ts.StringLiteral).text;
  if (!path.startsWith(".") || !bindings || !ts.isNamedImports(bindings)) {
    return;
  }
  const from = `file://${bindings.getSourceFile().fileName}`;
  for (const { name, propertyName = name } of bindings.elements) {
    const key = `${new URL(path, from).pathname} ${propertyName.text}`;
    imported.set(name.text, key);
  }
}

function functionOf(node: ts.Node): [name: string, body: Body] | undefined {
  const isOfBody = ts.isFunctionLike(node) && "body" in node && node.body;
  if (ts.isFunctionDeclaration(node) && node.name && isOfBody) {
    return [node.name.text, node];
  }
  if (ts.isMethodDeclaration(node) && isOfBody) {
    return [`.${node.name.getText()}`, node];
  }
  if (ts.isConstructorDeclaration(node) && node.parent.name) {
    return [node.parent.name.text, node];
  }
  return ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) &&
      node.initializer !== undefined && ts.isArrowFunction(node.initializer)
    ? [node.name.text, node.initializer]
    : undefined;
}

/**
 * The messages of each module, by the expressions that make them.
 *
 * @param sinks what is known to take messages besides
 */
export function findMessages(
  modules: readonly Module[],
  sinks: Sinks,
): Map<Module, Map<ts.Node, Message>> {
  for (const name of NATIVE) sinks.set(name, new Set([0]));
  addSinks(modules, sinks);
  return new Map(modules.map((module) => {
    const messages = new Map<ts.Node, Message>();
    for (const argument of argumentsOf(module, sinks)) {
      eachPart(argument, (part) => {
        const message = messageOf(part);
        if (message !== undefined) messages.set(part, message);
      });
    }
    return [module, messages];
  }));
}

/** Goes from the errors back to all who are given their messages. */
function addSinks(modules: readonly Module[], sinks: Sinks): void {
  for (let isNew = true; isNew;) {
    isNew = false;
    for (const module of modules) {
      for (const [key, at] of sinksIn(module, sinks)) {
        const places = sinks.get(key) ?? new Set();
        isNew ||= !places.has(at);
        sinks.set(key, places.add(at));
      }
    }
  }
}

/** Parameters that only become messages. */
function* sinksIn(
  module: Module,
  sinks: Sinks,
): Generator<[key: string, at: number]> {
  const told = new Set<ts.Node>();
  for (const argument of argumentsOf(module, sinks)) {
    eachPart(argument, (part) => void told.add(part));
  }
  for (const [name, { parameters, body }] of module.functions) {
    for (const [at, parameter] of parameters.entries()) {
      if (body === undefined || !ts.isIdentifier(parameter.name)) continue;
      const uses = usesOf(parameter.name.text, body);
      const isTold = uses.length > 0 && uses.every((use) => told.has(use));
      if (isTold) yield [`${module.file.fileName} ${name}`, at];
    }
  }
}

function* argumentsOf(module: Module, sinks: Sinks): Generator<ts.Expression> {
  for (const call of module.calls) {
    for (const at of sinks.get(calleeOf(call, module) ?? "") ?? []) {
      const given = call.arguments?.slice(0, at + 1) ?? [];
      if (given.length > at && !given.some(ts.isSpreadElement)) {
        yield given[at]!;
      }
    }
  }
}

/** The key of what is called; `undefined` where nobody can say by the names alone. */
function calleeOf(call: Call, module: Module): string | undefined {
  const { expression } = call;
  if (ts.isIdentifier(expression)) return keyOf(expression.text, module);
  if (expression.kind === ts.SyntaxKind.SuperKeyword) {
    const base = ts.findAncestor(call, ts.isClassLike)?.heritageClauses
      ?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
    return keyOf(base?.expression.getText() ?? "", module);
  }
  const isOwn = ts.isPropertyAccessExpression(expression) &&
    expression.expression.kind === ts.SyntaxKind.ThisKeyword;
  return isOwn ? keyOf(`.${expression.name.text}`, module) : undefined;
}

function keyOf(
  name: string,
  { file, functions, imported }: Module,
): string | undefined {
  if (functions.has(name)) return `${file.fileName} ${name}`;
  return imported.get(name) ?? (NATIVE.includes(name) ? name : undefined);
}

function usesOf(name: string, body: ts.Node): ts.Identifier[] {
  const uses: ts.Identifier[] = [];
  const visit = (node: ts.Node): void => {
    const isProperty = ts.isPropertyAccessExpression(node.parent) &&
      node.parent.name === node;
    if (ts.isIdentifier(node) && node.text === name && !isProperty) {
      uses.push(node);
    }
    ts.forEachChild(node, visit);
  };
  visit(body);
  return uses;
}

/** Visits a text, and all that may become a part of it. */
function eachPart(
  node: ts.Expression,
  visit: (part: ts.Expression) => void,
): void {
  visit(node);
  for (const part of partsOf(node)) eachPart(part, visit);
}

function partsOf(node: ts.Expression): readonly ts.Expression[] {
  if (ts.isParenthesizedExpression(node)) return [node.expression];
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse];
  if (ts.isTemplateExpression(node)) {
    return node.templateSpans.map(({ expression }) => expression);
  }
  if (!ts.isBinaryExpression(node)) return [];
  const isJoin = [
    ts.SyntaxKind.PlusToken,
    ts.SyntaxKind.QuestionQuestionToken,
  ].includes(node.operatorToken.kind);
  return isJoin ? [node.left, node.right] : [];
}

/** What an expression says, where it is words. */
function messageOf(node: ts.Expression): Message | undefined {
  const message = { text: "", values: [] };
  if (!gather(node, message)) return undefined;
  const { length } = message.text.replaceAll("{}", "");
  const isWords = length >= TEXT_CHARS_MIN && message.text.includes(" ");
  return isWords ? message : undefined;
}

/** Takes a literal, a template, or a sum that begins with one. */
function gather(
  node: ts.Expression,
  into: { text: string; values: ts.Expression[] },
): boolean {
  if (ts.isStringLiteralLike(node)) into.text += node.text;
  else if (ts.isTemplateExpression(node)) {
    into.text += node.head.text;
    for (const { expression, literal } of node.templateSpans) {
      into.values.push(expression);
      into.text += `{}${literal.text}`;
    }
  } else if (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.PlusToken &&
    gather(node.left, into)
  ) {
    if (gather(node.right, into)) return true;
    into.values.push(node.right);
    into.text += "{}";
  } else return false;
  return true;
}
