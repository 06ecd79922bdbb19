/**
 * An app on Hono with Sheaf inside, under Deno. Under Node: `serve(app)` of
 * `@hono/node-server`, and `sheaf.attach()` what that gives.
 *
 * @module
 */

import { Hono } from "hono";
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

  const app = new Hono<{ Bindings: Deno.ServeHandlerInfo<Deno.NetAddr> }>();
  app.all(
    "/api/sheaf/*",
    (c) => sheaf.handle(c.req.raw, c.env.remoteAddr.hostname),
  );
  app.post("/tasks", async (c) => {
    await tasks.create({ title: await c.req.text() }).durable;
    return c.json(tasks.all().map(({ title }) => title));
  });
  app.get("/tasks", (c) => c.json(tasks.all().map(({ title }) => title)));

  const serving = { port, hostname: "127.0.0.1", onListen() {} };
  const web = Deno.serve(serving, app.fetch);
  return {
    url: `http://127.0.0.1:${web.addr.port}`,
    sheaf,
    async stop() {
      await sheaf.close(); // First: it tells the clients.
      await web.shutdown();
    },
  };
}
