import { mkdirSync } from "node:fs";
import process from "node:process";
import { createServer, type ServerOptions } from "@sheaf/sheaf/server";
import rules from "../src/rules.ts";
import { openAccounts } from "./accounts.ts";

/** Starts the sync server; data lie in `DATA`, or in ./data. */
export function startServer(options: ServerOptions = {}) {
  const folder = process.env.DATA ?? "data";
  mkdirSync(folder, { recursive: true });
  return createServer({
    data: `${folder}/sheaf`,
    port: Number(process.env.PORT ?? 8080),
    hostname: process.env.HOST ?? "127.0.0.1",
    rules,
    login: { app: openAccounts(`${folder}/accounts.json`) },
    logLevel: "warn",
    ...options,
  });
}
