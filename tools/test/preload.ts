/**
 * Preloaded into every test process. A test that sets no limit of its own gets
 * one, so that one which hangs, or loops, fails by its name and the others run.
 * Where many files share an isolate, the name of a test begins with its file's.
 *
 * @module
 */

const LIMIT_MS = Number(Deno.env.get("SHEAF_TEST_LIMIT_MS"));
const FILTER = Deno.env.get("SHEAF_TEST_FILTER") ?? "";

type Options = Omit<Deno.TestDefinition, "fn">;
type Register = (...args: unknown[]) => void;

let file: string | undefined;

/** What is registered from now on is of this file. */
export function startFile(path: string): void {
  file = path;
}

/** Registers as `Deno.test` does, whose last argument is a function unless it has but one, which holds everything. */
function registering(register: Register): Register {
  return (...args) => {
    const given = args.find((one): one is Options =>
      typeof one === "object" && one !== null
    );
    const last = args.at(-1);
    const fn = typeof last === "function" ? { fn: last } : {};
    const title = args.find((one) => typeof one === "string");
    const name = `${title ?? given?.name ?? (fn.fn?.name ?? "")}`;
    if (!name.includes(FILTER)) return;
    const full = file === undefined ? name : `${file}: ${name}`;
    register({ timeout: LIMIT_MS, ...given, ...fn, name: full });
  };
}

const { test } = Deno;

Object.defineProperty(Deno, "test", {
  value: Object.assign(registering(test as Register), test, {
    only: registering(test.only as Register),
    ignore: registering(test.ignore as Register),
  }),
});
