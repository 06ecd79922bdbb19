/**
 * What the lint plugin (`floor_plan_lint.ts`) takes for a sleep: a wait for a
 * time that somebody wrote down. It is slow on a quick machine, and too short on
 * a slow one. A turn of the event loop, a virtual clock, a limit of a wait, and
 * a pause for as long as dice say are none.
 *
 * @module
 */

/// <reference lib="deno.unstable" />

/** The one place that tests wait in. */
const PATIENCE = "tests/kit/patience.ts";
/** What functions are called that wait for so long as they are told. */
const SLEEPS = new Set(["delay", "pause", "sleep", "wait"]);

function isCallOf(
  node: Deno.lint.Node | undefined,
  is: (name: string) => boolean,
): node is Deno.lint.CallExpression {
  return node?.type === "CallExpression" && node.callee.type === "Identifier" &&
    is(node.callee.name);
}

/** Is it no time at all: a turn of the event loop? */
function isNoTime(ms: Deno.lint.Node | undefined): boolean {
  return ms === undefined || (ms.type === "Literal" && ms.value === 0);
}

/** The function that makes a promise, where all it does is to set a timer. */
function timerOf(
  { callee, arguments: [executor] }: Deno.lint.NewExpression,
): Deno.lint.CallExpression | undefined {
  if (callee.type !== "Identifier" || callee.name !== "Promise") return;
  if (
    executor?.type !== "ArrowFunctionExpression" &&
    executor?.type !== "FunctionExpression"
  ) return;
  const { body } = executor;
  let only: Deno.lint.Node | undefined = body ?? undefined;
  if (body?.type === "BlockStatement") {
    const [first, second] = body.body;
    only = second === undefined && first?.type === "ExpressionStatement"
      ? first.expression
      : undefined;
  }
  return isCallOf(only, (name) => name === "setTimeout") ? only : undefined;
}

/** The rule against sleeps, for the files that are tests by their paths. */
export function noSleepIn(
  isTest: (path: string) => boolean,
  pathOf: (filename: string) => string,
): Deno.lint.Rule {
  return {
    create(context) {
      const path = pathOf(context.filename);
      if (!isTest(path) || path === PATIENCE) return {};
      const report = (node: Deno.lint.Node) =>
        context.report({
          node,
          message: "a test sleeps for a fixed time",
          hint: `Wait for a promise or a condition (see ${PATIENCE}).`,
        });
      return {
        NewExpression(node) {
          if (!isNoTime(timerOf(node)?.arguments[1])) report(node);
        },
        AwaitExpression({ argument }) {
          if (!isCallOf(argument, (name) => SLEEPS.has(name))) return;
          const [ms] = argument.arguments;
          if (ms?.type === "Literal" && !isNoTime(ms)) report(argument);
        },
      };
    },
  };
}
