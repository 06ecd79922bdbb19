/**
 * Preloaded into every test process: a test that sets no limit of its own gets
 * one, so that one which hangs, or loops, fails by its name and the others run.
 *
 * @module
 */

const LIMIT_MS = Number(Deno.env.get("SHEAF_TEST_LIMIT_MS"));

type Options = Omit<Deno.TestDefinition, "fn">;

const register = Deno.test as (...args: unknown[]) => void;

/** As `Deno.test`, whose last argument is a function unless it has but one, which holds everything. */
function limited(...args: unknown[]): void {
  const options = args.find((one): one is Options =>
    typeof one === "object" && one !== null
  );
  if (options === undefined) args.splice(-1, 0, { timeout: LIMIT_MS });
  else options.timeout ??= LIMIT_MS;
  register(...args);
}

Object.defineProperty(Deno, "test", {
  value: Object.assign(limited, Deno.test),
});
