/**
 * A client in a process of its own; it obeys one command a line.
 *
 * @module
 */

import { obeyLines, say } from "../harness/lines.ts";
import { Client } from "./client.ts";
import type { ClientAssignment, ClientOrder } from "./process.ts";

async function main(): Promise<void> {
  const { stage, name, rootKey }: ClientAssignment = JSON.parse(
    Deno.args[0] ?? "",
  );
  const client = await Client.open(stage, name, rootKey);
  say({});
  await obeyLines(({ name, args }: ClientOrder) => {
    const method = client[name] as (...args: unknown[]) => Promise<unknown>;
    return method.apply(client, [...args]).then(
      (value) => ({ value }),
      (error) => ({ failed: String(error) }),
    );
  });
  await client.close();
}

if (import.meta.main) {
  await main();
  Deno.exit(0);
}
