/** Which texts are messages of errors. */

import { deepEqual } from "node:assert/strict";
import ts from "typescript";
import { findMessages, scan } from "./messages.ts";

/** The messages in modules, by their names. */
function messagesIn(texts: Readonly<Record<string, string>>): string[] {
  const modules = Object.entries(texts).map(([name, text]) =>
    scan(ts.createSourceFile(`/${name}`, text, ts.ScriptTarget.ESNext, true))
  );
  return [...findMessages(modules, new Map()).values()]
    .flatMap((found) => [...found.values()].map(({ text }) => text));
}

Deno.test("findMessages() follows texts to errors, through functions and modules", () => {
  const found = messagesIn({
    "fail.ts": `
      export function fail(code: number, why: string): never {
        throw new SyntaxError(\`Cannot read it: \${why}\`);
      }`,
    "use.ts": `
      import { fail as stop } from "./fail.ts";
      class Reader extends RangeError {
        constructor(readonly at: number, text: string) { super(text); }
      }
      stop(1, isLong ? "it is too long" : "it has " + n + " bytes");
      throw new Reader(3, "it ends " + "too early");`,
  });
  deepEqual(found, [
    "Cannot read it: {}",
    "it is too long",
    "it has {} bytes",
    "it ends too early",
  ]);
});

Deno.test("findMessages() leaves what may be more than a message", () => {
  const found = messagesIn({
    "more.ts": `
      function compare(why: string) {
        if (why === "it is too long") return;
        throw new Error(why);
      }
      compare("it is too long");
      class One { fail(why: string) { throw new Error(why); } }
      class Two {
        fail(why: string) { console.log(why); }
        run() { this.fail("it is only said"); }
      }
      function at(place: number, why: string) { throw new Error(why); }
      at(...places, "it is somewhere");
      throw new Error("short");`,
  });
  deepEqual(found, []);
});
