/**
 * Tests of bytes and signatures as one script that any runtime can run: Ed25519
 * by RFC 8032 and ZIP-215, SHA-256, and the pinned bytes of our formats.
 *
 * @module
 */

import * as esbuild from "esbuild";

const root = new URL("../../", import.meta.url).pathname;

const TESTS = [
  "crypto/ed25519_test.ts",
  "crypto/sha256_test.ts",
  "repo/commit/vectors_test.ts",
];

/** Gathers what `Deno.test` is given, in the sizes of `deno task test:all`. */
const GATHER = `
const gathered = {};
globalThis.gatherTest = (name, check) => void (gathered[name] = check);
globalThis.tier = () => "all";
export const vectors = () => gathered;
`;

/** Writes the script; it exports `vectors()`, checks by their sentences. */
export async function buildVectors(path: string): Promise<void> {
  await esbuild.build({
    stdin: {
      contents: TESTS.map((test) => `await import("./${test}");`).join("\n"),
      resolveDir: root,
    },
    outfile: path,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2022",
    banner: { js: GATHER },
    define: { "Deno.test": "gatherTest", "Deno.env.get": "tier" },
    logLevel: "warning",
  });
  await esbuild.stop();
}
