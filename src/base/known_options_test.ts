import { match, strictEqual, throws } from "node:assert/strict";
import { checkOptions } from "./known_options.ts";

interface Options {
  readonly ttlMs?: number;
  readonly schemas?: readonly string[];
  readonly readOnly?: boolean;
}

const known = { ttlMs: 0, schemas: 0, readOnly: 0 };

function messageOf(options: unknown, prefix?: string): string {
  let message = "";
  throws(
    () => checkOptions<Options>(options as Options, known, prefix),
    (cause) => {
      const { code, message: said } = cause as Error & { code: string };
      message = said;
      return code === "invalid-option";
    },
  );
  return message;
}

Deno.test("checkOptions() gives back options that are all known", () => {
  for (const options of [{}, { ttlMs: 1 }, { schemas: [], readOnly: true }]) {
    strictEqual(checkOptions<Options>(options, known), options);
  }
});

Deno.test("checkOptions() names an unknown option, and the one that was meant", () => {
  const near: Record<string, string> = {
    ttl: "ttlMs",
    ttlMS: "ttlMs",
    schema: "schemas",
    schemsa: "schemas",
    readonly: "readOnly",
  };
  for (const [name, meant] of Object.entries(near)) {
    strictEqual(
      messageOf({ [name]: 1 }),
      `There is no option \`${name}\`: did you mean \`${meant}\`?`,
    );
  }
  for (const name of ["encryptionKey", "toString", "__proto__x"]) {
    strictEqual(
      messageOf({ ttlMs: 1, [name]: undefined }),
      `There is no option \`${name}\`: use \`ttlMs\`, \`schemas\`, \`readOnly\``,
    );
  }
  strictEqual(
    messageOf({ ttl: 1 }, "cache."),
    "There is no option `cache.ttl`: did you mean `cache.ttlMs`?",
  );
});

Deno.test("checkOptions() refuses what is no object in their place", () => {
  for (const none of [5, "x", null]) {
    match(messageOf(none), /^`options` must be an object, such as { \w+: … }$/);
  }
});
