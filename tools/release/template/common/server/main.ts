import process from "node:process";
import { startServer } from "./server.ts";

// What was built by `build`, and the sync server, at one address.
const server = await startServer({ static: "dist" });
console.log(`${server.url}`);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void server.close().then(() => process.exit(0)));
}
