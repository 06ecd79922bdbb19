/**
 * A Sheaf server in a process of its own, as long as a case runs.
 *
 * @module
 */

import { modeOf } from "../engines/sheaf_open.ts";
import { Lines } from "../sync/lines.ts";
import type { ServerAssignment, ServerHello } from "../sync/server_child.ts";
import type { ServerAddress, SheafName } from "./stores.ts";

/** Runs `work` with a fresh server whose files are in `folder`. */
export async function withServer<T>(
  folder: string,
  engine: SheafName,
  work: (server: ServerAddress) => Promise<T>,
): Promise<T> {
  const assignment: ServerAssignment = {
    data: `${folder}/server`,
    mode: modeOf(engine),
    port: 0,
    rootKeyFile: `${folder}/root.key`,
  };
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      new URL("../sync/server_child.ts", import.meta.url).href,
      JSON.stringify(assignment),
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = new Lines(child.stdout);
  try {
    const line = await lines.next();
    if (line === undefined) throw new Error("The server did not start");
    const { url, rootKey }: ServerHello = JSON.parse(line);
    const process = child.pid;
    return await work({ url: url.replace(/^http/, "ws"), rootKey, process });
  } finally {
    await child.stdin.close();
    await child.status;
    await lines.cancel();
  }
}
