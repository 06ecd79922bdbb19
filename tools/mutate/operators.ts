/**
 * What a mutant may be, as a plugin of `deno lint`: its parser finds the
 * places, and each place is reported with the text to put there. Nothing is
 * judged here; a mutant that does not type-check is left out later.
 *
 * Each operator is a mistake that somebody makes: a condition the wrong way
 * round, a step forgotten, off by one. What only words an error or an
 * assertion of ours is left alone.
 *
 * @module
 */

/// <reference lib="deno.unstable" />

/** One change of a source, as the plugin reports it. */
export interface Change {
  readonly operator: string;
  readonly from: number;
  readonly to: number;
  readonly after: string;
}

type Range = [from: number, to: number];
type Report = (operator: string, range: Range, after: string) => void;

const SWAPPED: Readonly<
  Record<string, readonly [operator: string, to: string]>
> = {
  "<": ["boundary", "<="],
  "<=": ["boundary", "<"],
  ">": ["boundary", ">="],
  ">=": ["boundary", ">"],
  "===": ["equality", "!=="],
  "!==": ["equality", "==="],
  "&&": ["logic", "||"],
  "||": ["logic", "&&"],
  "+": ["sign", "-"],
  "-": ["sign", "+"],
  "+=": ["sign", "-="],
  "-=": ["sign", "+="],
  "++": ["sign", "--"],
  "--": ["sign", "++"],
};

const NOTHING = /^(?:void|Promise<void>)$/;
/** What is tuned: another one is as right. */
const LIMITS = /\bsrc\/base\/limits\.ts$/;
const LIMIT_NAME = /^[A-Z][A-Z0-9_]+$/;

/** Is it a size or a time that has a name of its own? */
function isLimit({ parent }: Deno.lint.Literal): boolean {
  return parent?.type === "VariableDeclarator" &&
    parent.id.type === "Identifier" && LIMIT_NAME.test(parent.id.name);
}

/** Is it the whole condition of a branch, which is negated as such? */
function isTest(node: Deno.lint.Node, parent: Deno.lint.Node): boolean {
  return (parent.type === "IfStatement" || parent.type === "WhileStatement" ||
    parent.type === "ConditionalExpression") && parent.test === node;
}

function isText(node: Deno.lint.Node): boolean {
  return node.type === "TemplateLiteral" ||
    node.type === "Literal" && typeof node.value === "string";
}

function leaves(node: Deno.lint.Statement): boolean {
  const last = node.type === "BlockStatement" ? node.body.at(-1) : node;
  return last !== undefined &&
    /^(?:Return|Throw|Continue|Break)Statement$/.test(last.type);
}

/** Is it a step: something done for what it does? */
function isStep(node: Deno.lint.Expression): boolean {
  switch (node.type) {
    case "AwaitExpression":
      return true;
    case "UnaryExpression":
      return node.operator === "void" && isStep(node.argument);
    case "AssignmentExpression":
      return node.operator === "=";
    case "CallExpression": {
      const { callee } = node;
      const isAssertion = callee.type === "Identifier" &&
        callee.name.startsWith("assert");
      return callee.type !== "Super" && !isAssertion;
    }
    default:
      return false;
  }
}

type Callable =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

/** The place in a function at which it may return before its second step. */
function entryOf(node: Callable, text: string): number | undefined {
  const { body, parent, returnType } = node;
  if (body?.type !== "BlockStatement" || body.body.length < 2) return;
  if (parent.type === "MethodDefinition" && parent.kind !== "method") return;
  if (returnType !== undefined && returnType !== null) {
    const [from, to] = returnType.typeAnnotation.range;
    if (!NOTHING.test(text.slice(from, to))) return;
  }
  return body.range[0] + 1;
}

/** What stands at a place that may change. */
interface Source {
  readonly text: string;
  readonly path: string;
  readonly report: Report;
}

/** Branches and loops: the wrong way round, without their guard, without their `else`. */
function branches({ text, report }: Source) {
  const negate = (test: Deno.lint.Expression) =>
    report("negate", test.range, `!(${text.slice(...test.range)})`);
  return {
    IfStatement({ test, alternate, consequent }: Deno.lint.IfStatement) {
      negate(test);
      if (alternate) {
        report("else", [consequent.range[1], alternate.range[1]], "");
      } else if (leaves(consequent)) report("guard", test.range, "false");
    },
    WhileStatement: ({ test }: Deno.lint.WhileStatement) => negate(test),
    ConditionalExpression: ({ test }: Deno.lint.ConditionalExpression) =>
      negate(test),
    UnaryExpression(node: Deno.lint.UnaryExpression) {
      if (node.operator !== "!" || isTest(node, node.parent)) return;
      report("negate", node.range, text.slice(...node.argument.range));
    },
  } satisfies Deno.lint.LintVisitor;
}

/** One operator in the place of its neighbour. */
function operators({ text, report }: Source) {
  const swap = (operator: string, [from, to]: Range) => {
    const swapped = SWAPPED[operator];
    const at = text.slice(from, to).lastIndexOf(operator);
    if (swapped === undefined || at < 0) return;
    const start = from + at;
    report(swapped[0], [start, start + operator.length], swapped[1]);
  };
  return {
    BinaryExpression(node: Deno.lint.BinaryExpression) {
      const { left, right, operator, parent } = node;
      if (operator === "+" && (isText(left) || isText(right))) return;
      const isEquality = operator === "===" || operator === "!==";
      if (isEquality && isTest(node, parent)) return; // it is negated
      swap(operator, [left.range[1], right.range[0]]);
    },
    LogicalExpression: (
      { left, right, operator }: Deno.lint.LogicalExpression,
    ) => swap(operator, [left.range[1], right.range[0]]),
    AssignmentExpression(node: Deno.lint.AssignmentExpression) {
      if (isText(node.right)) return;
      swap(node.operator, [node.left.range[1], node.right.range[0]]);
    },
    UpdateExpression(node: Deno.lint.UpdateExpression) {
      // A loop that counts the wrong way seldom ends.
      if (node.parent.type === "ForStatement") return;
      swap(node.operator, node.range);
    },
  } satisfies Deno.lint.LintVisitor;
}

/** `true` for `false`, one more for a number. */
function constants({ path, report }: Source) {
  return {
    Literal(node: Deno.lint.Literal) {
      const { parent, range, value } = node;
      if (parent?.type === "TSLiteralType") return;
      if (typeof value === "boolean") report("boolean", range, `${!value}`);
      if (typeof value !== "number" || isLimit(node) || LIMITS.test(path)) {
        return;
      }
      const number = Number(node.raw.replaceAll("_", ""));
      report("constant", range, `${number + 1}`);
    },
  } satisfies Deno.lint.LintVisitor;
}

/** A step left out or not waited for, and a function that returns before its first. */
function steps({ text, report }: Source) {
  const returnEarly = (node: Callable) => {
    const at = entryOf(node, text);
    if (at !== undefined) report("return", [at, at], " return;");
  };
  return {
    ExpressionStatement({ expression, range }: Deno.lint.ExpressionStatement) {
      if (!isStep(expression)) return;
      report("step", range, ";");
      if (expression.type !== "AwaitExpression") return;
      report("await", [expression.range[0], expression.argument.range[0]], "");
    },
    FunctionDeclaration: returnEarly,
    FunctionExpression: returnEarly,
    ArrowFunctionExpression: returnEarly,
  } satisfies Deno.lint.LintVisitor;
}

/** The plugin that `deno lint` loads. */
const plugin: Deno.lint.Plugin = {
  name: "mutants",
  rules: {
    all: {
      create(context) {
        const { text } = context.sourceCode;
        const path = context.filename;
        const report: Report = (operator, range, after) => {
          const [from, to] = range;
          const change: Change = { operator, from, to, after };
          context.report({ range, message: JSON.stringify(change) });
        };
        const source: Source = { text, path, report };
        return {
          ...branches(source),
          ...operators(source),
          ...constants(source),
          ...steps(source),
        };
      },
    },
  },
};

export default plugin;
