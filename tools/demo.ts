/**
 * `deno task demo`: a board for a team, with its server, on this machine.
 *
 * Builds the page, starts a server that serves it, fills it with a team's last
 * weeks when it is new, and prints the address. It opens nothing by itself.
 * Data stays in `.data/stook`; `--fresh` begins anew, `--port` chooses a port.
 *
 * @module
 */

import { endBuilding } from "../web-demo/build.ts";
import { startDemo } from "../web-demo/serve.ts";

const folder = ".data/stook";
const PORT = 8000;

function portOf(args: readonly string[]): number {
  const at = args.indexOf("--port");
  const port = at === -1 ? PORT : Number(args[at + 1]);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  console.error("--port takes a number from 0 to 65535");
  Deno.exit(2);
}

async function removeFolder(): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

/** The demo on a port; on any free one where nobody asked and it is taken. */
async function start(port: number) {
  try {
    return await startDemo({ folder, port, hasInspector: true });
  } catch (error) {
    const isTaken = error instanceof Deno.errors.AddrInUse;
    if (!isTaken || Deno.args.includes("--port")) throw error;
    return await startDemo({ folder, port: 0, hasInspector: true });
  }
}

/** Ends at an argument that is none of its own, before it starts anything. */
function checkArguments(args: readonly string[]): void {
  const isOwn = (one: string, at: number) =>
    one === "--fresh" || one === "--port" || args[at - 1] === "--port";
  if (args.every(isOwn)) return;
  console.error("deno task demo [--fresh] [--port PORT]");
  Deno.exit(2);
}

if (import.meta.main) {
  checkArguments(Deno.args);
  if (Deno.args.includes("--fresh")) await removeFolder();
  const { server, steps } = await start(portOf(Deno.args));
  await endBuilding();
  if (steps > 0) {
    console.log(`Filled the boards: ${steps} things a team did in 24 days.`);
  }
  console.log(`
  Stook, a board on Sheaf:  ${server.url}

  Open it twice, as two people: ${server.url}/?as=maya
                                ${server.url}/?as=jonas
  Alt+Shift+S in the page opens the inspector.
  Ctrl-C ends it. Data stays in ${folder} (--fresh begins anew).
`);
  const end = () => void server.close().then(() => Deno.exit(0));
  Deno.addSignalListener("SIGINT", end);
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", end);
}
