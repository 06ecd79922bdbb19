/**
 * A client for tests that give it little memory: arguments, its folder, the
 * server's address, root key, and what it writes. It prints where its repository
 * stands whenever that changes, and lives until it is killed.
 *
 * @module
 */

import { defineSchema, field, openDatabase } from "../mod.ts";

const [path, url, rootKey, text] = Deno.args;
const Own = defineSchema("own", { text: field.string() });
const db = await openDatabase({
  path: path!,
  rootKey: Uint8Array.fromHex(rootKey!),
  schemas: [Own],
});
const repository = await db.repository("team/a");
const { sync } = repository;
let last = "";
sync.subscribe(() => {
  const { state, reason } = sync.status;
  const now = `${state} ${reason?.code ?? ""}`.trim();
  if (now !== last) console.log(last = now);
  if (now !== "refused memory-full") return;
  void repository.collection(Own).create({ text: text! }).then(({ text }) =>
    console.log(`${text} written`)
  );
});
db.connect(url!);
