import { deepEqual, equal } from "node:assert/strict";
import plugin, {
  commentObjection,
  doorObjection,
  longLines,
  objection,
  placeOf,
} from "./floor_plan_lint.ts";

const root = decodeURIComponent(new URL("..", import.meta.url).pathname);

/** Which rules object to `source`, were it the file at `path`. */
function lint(path: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, root + path, source)
    .map((found) => found.id.replace("floor-plan/", "")).sort();
}

const header = "/** Does a thing. */\n";

Deno.test("placeOf() knows every folder by its floor", () => {
  deepEqual(placeOf("src/base/bytes.ts"), { floor: 0, module: "src/base" });
  deepEqual(placeOf("mod.ts"), { floor: 7, module: "mod.ts" });
  equal(placeOf("model.ts"), undefined);
});

Deno.test("objection() lets a module look down and at itself", () => {
  equal(objection("repo/admission/admit.ts", "crypto/sign.ts"), undefined);
  equal(objection("repo/admission/admit.ts", "repo/graph/graph.ts"), undefined);
  equal(objection("mod.ts", "src/db/database.ts"), undefined);
  equal(objection("web-demo/app.tsx", "mod.ts"), undefined);
});

Deno.test("objection() forbids looking up, sideways and off the plan", () => {
  equal(
    objection("crypto/sign.ts", "repo/commit/commit.ts"),
    `"crypto" may not import up from "repo"`,
  );
  equal(
    objection("sync/conversation.ts", "src/query/plan.ts"),
    `"sync" may not import sideways from "src/query"`,
  );
  equal(
    objection("repo/graph/graph.ts", "shed/rake.ts"),
    `"shed/rake.ts" is not on the floor plan`,
  );
});

Deno.test("objection() knows a test by its name", () => {
  equal(
    objection("repo/log/log.ts", "repo/log/log_test.ts"),
    `"repo/log/log_test.ts" is a test by its name`,
  );
});

Deno.test("doorObjection() keeps each package behind its door", () => {
  equal(doorObjection("crypto/sign.ts", "@noble/ed25519"), undefined);
  equal(doorObjection("crypto/sha.ts", "@noble/hashes/sha2.js"), undefined);
  equal(doorObjection("web-demo/app.tsx", "preact/hooks"), undefined);
  equal(
    doorObjection("sync/message.ts", "npm:jose@^6"),
    `"jose" may be imported only in server/login_jwt.ts`,
  );
  equal(
    doorObjection("repo/id.ts", "npm:@noble/hashes@^2.0.0/sha2.js"),
    `"@noble/hashes" may be imported only in crypto`,
  );
  equal(
    doorObjection("repo/id.ts", "left-pad"),
    `"left-pad" has no door on the floor plan`,
  );
  equal(
    doorObjection("repo/id.ts", "constructor"),
    `"constructor" has no door on the floor plan`,
  );
});

Deno.test("doorObjection() keeps Node's modules out of the core", () => {
  equal(doorObjection("src/storage/deno.ts", "node:fs"), undefined);
  equal(
    doorObjection("crypto/sign.ts", "node:crypto"),
    `"node:crypto" belongs to the world`,
  );
});

Deno.test("imports-point-down sees every kind of import", () => {
  const breaches = [
    `import { a } from "../repo/a.ts";`,
    `import type { A } from "../repo/a.ts";`,
    `export * from "../repo/a.ts";`,
    `export { a } from "../repo/a.ts";`,
    `await import("../repo/a.ts");`,
    `export type A = import("../repo/a.ts").A;`,
    `import "node:fs";`,
    `import fc from "fast-check";`,
  ];
  for (const breach of breaches) {
    deepEqual(lint("crypto/x.ts", header + breach), ["imports-point-down"]);
    deepEqual(lint("crypto/x_test.ts", breach), [], "tests may");
  }
  deepEqual(lint("repo/x.ts", `${header}export * from "../crypto/a.ts";`), []);
});

Deno.test("no-ambient-world sees clock, dice, disk and wire", () => {
  const breaches = [
    "Date.now();",
    "new Date();",
    "Date();",
    "const now = Date.now;",
    "Math.random();",
    "crypto.getRandomValues(x);",
    `Deno.readFileSync("x");`,
    "globalThis.setTimeout(x);",
    `globalThis["Deno"];`,
    "setTimeout(x);",
    `process.getBuiltinModule("node:fs");`,
    `host.getBuiltinModule("node:fs");`,
    "new WebSocket(x);",
  ];
  for (const breach of breaches) {
    const found = new Set(lint("repo/x.ts", header + breach));
    deepEqual([...found], ["no-ambient-world"], breach);
    deepEqual(lint("src/storage/x.ts", header + breach), [], "storage may");
  }
  const pure = "new Date(5); Math.max(1); crypto.subtle; world.now();";
  deepEqual(lint("repo/x.ts", header + pure), []);
});

Deno.test("longLines() bounds what the formatter cannot wrap", () => {
  deepEqual(longLines("a".repeat(130)), []);
  deepEqual(longLines(`a\n${"b".repeat(132)}`), [{ range: [132, 134] }]);
  deepEqual(longLines(`see https://example.org/${"b".repeat(132)}`), []);
  deepEqual(lint("repo/x.ts", `${header}// ${"b".repeat(132)}`), [
    "short-lines",
  ]);
});

Deno.test("opens-with-header wants a header where the plan reaches", () => {
  deepEqual(lint("src/base/x.ts", "export {};"), ["opens-with-header"]);
  deepEqual(lint("src/base/x.ts", "// no\nexport {};"), ["opens-with-header"]);
  deepEqual(lint("src/cli/x.ts", `#!/usr/bin/env deno\n${header}`), []);
  deepEqual(lint("src/base/x_test.ts", "export {};"), []);
});

Deno.test("commentObjection() hears unfinished work and bare ignores", () => {
  equal(commentObjection(" mends the todo list"), undefined);
  equal(
    commentObjection(" TODO: more"),
    `"TODO" means unfinished work`,
  );
  equal(commentObjection(" deno-lint-ignore x -- a reason"), undefined);
  equal(commentObjection(" deno-lint-ignore x")?.includes("reason"), true);
  deepEqual(lint("docs/x.ts", "// FIXME"), ["finished-work"]);
});

Deno.test("no-code-from-text stands under a strict content policy", () => {
  deepEqual(lint("repo/x.ts", `${header}eval("1");`), ["no-code-from-text"]);
  deepEqual(lint("repo/x.ts", `${header}new Function("1");`), [
    "no-code-from-text",
  ]);
});

Deno.test("no-sleep-in-tests refuses a fixed time, and no turn, virtual clock or die", () => {
  const sleeps = [
    "await new Promise((resolve) => setTimeout(resolve, 5));",
    "await new Promise((done) => { setTimeout(() => done(1), EVERY_MS); });",
    "await new Promise(function (done) { setTimeout(done, 2 * ms); });",
    "await delay(20);",
    "await pause(1_000);",
  ];
  for (const sleep of sleeps) {
    for (const path of ["repo/x_test.ts", "tests/x.ts", "tests/kit/x.ts"]) {
      deepEqual(lint(path, sleep), ["no-sleep-in-tests"], sleep);
    }
    deepEqual(lint("tests/kit/patience.ts", sleep), [], "it waits for all");
    deepEqual(lint("server/x.ts", header + sleep), [], "no test");
  }
  const fine = `
    await new Promise((resolve) => setTimeout(resolve));
    await new Promise((resolve) => setTimeout(resolve, 0));
    await new Promise((_, reject) => { timer = setTimeout(reject, 5); });
    await pause(random() * 300);
    wait(600);
    world.advance(600);
    setTimeout(wake, 20);
  `;
  deepEqual(lint("tests/x_test.ts", fine), []);
});
