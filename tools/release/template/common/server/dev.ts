import process from "node:process";
import { createServer } from "vite";
import { startServer } from "./server.ts";

// The sync server, and Vite's, which serves the page and asks it for the rest.
const server = await startServer({ port: 8080 });
const vite = await createServer();
await vite.listen();
vite.printUrls();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    await vite.close();
    await server.close();
    process.exit(0);
  });
}
