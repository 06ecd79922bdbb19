/**
 * An app on `Deno.serve` with Sheaf inside.
 *
 * @module
 */

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

  const web = Deno.serve(
    { port, hostname: "127.0.0.1", onListen() {} },
    async (request, { remoteAddr }) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/api/sheaf")) {
        return await sheaf.handle(request, remoteAddr.hostname);
      }
      if (pathname === "/tasks" && request.method === "POST") {
        const title = await request.text();
        await tasks.create({ title }).durable;
      }
      return Response.json(tasks.all().map(({ title }) => title));
    },
  );

  return {
    url: `http://127.0.0.1:${web.addr.port}`,
    sheaf,
    async stop() {
      await sheaf.close(); // First: it tells the clients.
      await web.shutdown();
    },
  };
}
