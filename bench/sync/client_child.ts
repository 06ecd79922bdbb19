/**
 * A client in a process of its own; it obeys one command a line.
 *
 * @module
 */

import { Client } from "./client.ts";
import { Lines } from "./lines.ts";
import type { ClientAssignment, ClientOrder } from "./process.ts";

const encoder = new TextEncoder();

function say(value: unknown): void {
  const line = encoder.encode(`${JSON.stringify(value ?? null)}\n`);
  for (let at = 0; at < line.length;) {
    at += Deno.stdout.writeSync(line.subarray(at));
  }
}

async function main(): Promise<void> {
  const { stage, name, rootKey }: ClientAssignment = JSON.parse(
    Deno.args[0] ?? "",
  );
  const client = await Client.open(stage, name, rootKey);
  say(null);
  const lines = new Lines(Deno.stdin.readable);
  for (
    let line = await lines.next();
    line !== undefined;
    line = await lines.next()
  ) {
    const { name, args }: ClientOrder = JSON.parse(line);
    const method = client[name] as (...args: unknown[]) => Promise<unknown>;
    say(
      await method.apply(client, [...args]).then(
        (value) => ({ value }),
        (error) => ({ failed: String(error) }),
      ),
    );
  }
  await client.close();
}

if (import.meta.main) {
  await main();
  Deno.exit(0);
}
