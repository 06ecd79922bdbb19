/**
 * An app on `node:http` with Sheaf inside; an Express, Koa or Fastify app takes
 * the place of the function: `createServer(app)`.
 *
 * @module
 */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { defineSchema, field, memoryStorage } from "@sheaf/sheaf";
import { embedServer } from "@sheaf/sheaf/server";

/** Something to do. */
export const Task = defineSchema("task", { title: field.string() });

/** Starts the app. */
export async function start(port: number) {
  const sheaf = await embedServer({
    storage: memoryStorage(), // or data: "./data"
    path: "/api/sheaf",
    schemas: [Task],
    login: { anonymous: true },
    log: () => {},
  });
  const team = await sheaf.database.repository("team");
  const tasks = team.collection(Task);

  const web = createServer(async (request, response) => {
    if (request.url === "/tasks" && request.method === "POST") {
      await tasks.create({ title: await text(request) }).durable;
    }
    response.end(JSON.stringify(tasks.all().map(({ title }) => title)));
  });
  await sheaf.attach(web); // Requests and WebSockets below /api/sheaf.
  web.listen(port, "127.0.0.1");
  await once(web, "listening");

  return {
    url: `http://127.0.0.1:${(web.address() as AddressInfo).port}`,
    sheaf,
    async stop() {
      await sheaf.close(); // First: it tells the clients.
      await new Promise((done) => web.close(done));
    },
  };
}
