/**
 * The small server that the examples of this guide share, in memory and in
 * this very program, and a database that is connected to it.
 *
 * @module
 */

import { defineSchema, field, memoryStorage, openDatabase } from "@sheaf/sheaf";
import { createServer } from "@sheaf/sheaf/server";

/** Something to do. */
export const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
});

/** A server that takes guests, and Bob. */
export const server = await createServer({
  storage: memoryStorage(),
  port: 0,
  login: {
    anonymous: true,
    tokens: { "bobs-secret": { user: "bob" } },
  },
  log: () => {},
});

/** Where it listens. */
export const url: string = server.url;

/** Its root public key, in hexadecimal digits. */
export const rootKey: string = server.rootKey.toHex();

/** A database that is connected to it. */
export const db = await openDatabase({
  storage: memoryStorage(),
  rootKey,
  schemas: [Task],
});
db.connect(url);

/** An open repository. */
export const repo = await db.repository("team/acme");
