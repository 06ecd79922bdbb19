/**
 * A client that gets everything and says how large its process has become.
 *
 * @module
 */

import { touch } from "../harness/items.ts";
import { restingBytes } from "./collect.ts";
import { Client, type Stage } from "./place.ts";

const { stage, url, rootKey, size }: {
  stage: Stage;
  url: string;
  rootKey: string;
  size: number;
} = JSON.parse(
  Deno.args[0] ?? "",
);
const client = await Client.open(stage, "memory", rootKey);
client.db.connect(url, { session: { anonymous: true } });
await client.until(() =>
  client.items.count() === size &&
  client.repository.sync.status.state === "live"
);
const items = client.items.all();
for (const item of items) touch(item);
const bytes = await restingBytes();
if (items.length !== size) throw new Error("Items are missing");
console.log(bytes);
await client.db.close();
Deno.exit(0);
