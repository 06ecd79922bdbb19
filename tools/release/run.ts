/**
 * Running other programs, and what they said when they failed.
 *
 * @module
 */

import { dirname } from "node:path";

/** What is kept of a program that failed. */
const CHARACTERS_MAX = 4_000;

/** Settings of npm that keep it quiet, and from looking for what nobody asked. */
const ENVIRONMENT = {
  NO_COLOR: "1",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_progress: "false",
  npm_config_update_notifier: "false",
  npm_config_yes: "true",
};

/** With the folder of a program that has one, as an installer puts it there. */
function pathWith(program: string): string {
  const path = Deno.env.get("PATH") ?? "";
  return program.includes("/") ? `${dirname(program)}:${path}` : path;
}

/** Runs a program in a folder and gives what it printed; throws when it fails. */
export async function run(
  folder: string,
  program: string,
  ...args: readonly string[]
): Promise<string> {
  const { success, code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd: folder,
    env: { ...ENVIRONMENT, PATH: pathWith(program) },
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (success) return text;
  const said = `${text}\n${new TextDecoder().decode(stderr)}`.trim();
  throw new Error(
    `${program} ${args.join(" ")} ended with ${code}:\n${
      said.slice(-CHARACTERS_MAX)
    }`,
  );
}
