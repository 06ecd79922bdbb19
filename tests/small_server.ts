/**
 * A server for tests that give it little memory: argument, its folder. It
 * prints its address and root key, and logs to standard error. It holds items: a
 * schema with a constraint is judged by them.
 *
 * @module
 */

import { defineSchema, field } from "../mod.ts";
import { createServer } from "../server/mod.ts";
import { ROOT_SECRET } from "./raw_peer.ts";

const Seat = defineSchema("seat", { free: field.counter().min(0) });

const { url, rootKey } = await createServer({
  data: Deno.args[0]!,
  rootSecret: ROOT_SECRET,
  port: 0,
  login: { anonymous: true },
  schemas: [Seat],
});
console.log(`at ${url} ${rootKey.toHex()}`);
