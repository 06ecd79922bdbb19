/**
 * A server that will be killed. It loads its code, waits for its order, so that
 * a successor is there at once, and serves until its input ends.
 *
 * @module
 */

import { createServer } from "../../server/mod.ts";
import { linesOf, type ServerOrder, tell } from "./words.ts";

const lines = linesOf(Deno.stdin.readable);

async function nextLine(): Promise<string | undefined> {
  return (await lines.next()).value ?? undefined;
}

tell({ is: "warm" });
const text = await nextLine();
if (text === undefined) Deno.exit(0);
const order: ServerOrder = JSON.parse(text);
const server = await createServer({
  ...order,
  hostname: "127.0.0.1",
  login: { anonymous: true },
  drainMs: 1_000,
  logLevel: "warn",
  log: (record) => {
    const { level } = record;
    tell({ is: "log", level, text: JSON.stringify(record) });
  },
});
const rootKey = server.rootKey.toHex();
tell({ is: "listening", url: server.url, rootKey });
while (await nextLine() !== undefined) {
  const missing = server.status().restoring
    .reduce((sum, { missing }) => sum + missing, 0);
  tell({ is: "restoring", missing });
}
await server.close();
tell({ is: "over" });
// The platform keeps a timer for each socket whose peer was killed.
Deno.exit(0);
