/**
 * The core as the npm package has it, made of the sources.
 *
 * @module
 */

const maker = new URL("../../tools/release/main.ts", import.meta.url).href;

/** The address of its module, below a run's folder; made when it is first asked for. */
export async function packagedCore(folder: string): Promise<string> {
  const target = `${folder}/package`;
  const core = `${target}/dist/mod.js`;
  if (await Deno.stat(core).catch(() => {}) === undefined) {
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--allow-all", maker, "--scripts", target],
      stdin: "null",
      stdout: "null",
    }).output();
    if (!success) throw new Error("the package could not be made");
  }
  return `file://${core}`;
}
