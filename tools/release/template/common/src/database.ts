import { type Database, openDatabase, serverInfo } from "@sheaf/sheaf/browser";
import worker from "@sheaf/sheaf/worker?url";
import rules from "./rules.ts";
import { schemas } from "./schema.ts";
import { askCredentials, refuseCredentials, say } from "./session.ts";

const server = `${location.origin}/sync`;

/** Opens the user's database on this device, and connects it. */
export async function open(user: string): Promise<Database> {
  const db = await openDatabase({
    name: `__NAME__-${user}`,
    user,
    rootKey: await rootKey(),
    schemas,
    rules,
    worker,
  });
  const connection = db.connect(server, {
    session: async () => ({ app: { ...await askCredentials() } }),
  });
  let isRefused = false;
  connection.subscribe(() => {
    const { reason } = connection.status;
    const wasRefused = isRefused;
    isRefused = reason?.code === "login-failed";
    if (!isRefused || wasRefused || !reason) return;
    refuseCredentials(reason.message);
    connection.retry(); // waits for what is typed next
  });
  return db;
}

/** The key that all data of the server go back to: asked until it answers, and remembered. */
async function rootKey(): Promise<string> {
  const known = localStorage.getItem("root-key");
  if (known) return known;
  for (;;) {
    try {
      const { rootKey } = await serverInfo(server);
      localStorage.setItem("root-key", rootKey);
      say(undefined);
      return rootKey;
    } catch {
      say("A new device needs the server once. Trying again …");
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}
