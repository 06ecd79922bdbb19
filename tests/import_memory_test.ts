/** How much memory an import needs, in a process of its own: what other tests leave there would count. */

import { ok } from "node:assert/strict";

async function megabytesOf(rows: number): Promise<number> {
  const folder = await Deno.makeTempDir();
  const script = new URL("memory/import.ts", import.meta.url).pathname;
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--no-check", script, folder, `${rows}`],
    stderr: "inherit",
  }).output();
  ok(success);
  await Deno.remove(folder, { recursive: true });
  return Number(new TextDecoder().decode(stdout));
}

Deno.test("importRows() holds no more of four times as many rows", async () => {
  const few = await megabytesOf(30_000);
  const many = await megabytesOf(120_000);
  ok(many < 1.3 * few, `${many} MB in place of ${few}`);
});
