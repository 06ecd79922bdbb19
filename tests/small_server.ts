/**
 * A server for tests that give it little memory: argument, its folder. It
 * prints its address and root key, and logs to standard error.
 *
 * @module
 */

import { createServer } from "../server/mod.ts";
import { ROOT_SECRET } from "./raw_peer.ts";

const { url, rootKey } = await createServer({
  data: Deno.args[0]!,
  rootSecret: ROOT_SECRET,
  port: 0,
  login: { anonymous: true },
});
console.log(`at ${url} ${rootKey.toHex()}`);
