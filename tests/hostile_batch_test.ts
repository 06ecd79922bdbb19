import { equal } from "node:assert/strict";
import { Child } from "./kit/child.ts";

/** What large batches of a hostile writer take of a server's memory, before anything else is known of them. */
Deno.test("admit() decodes no more of a large batch than a small server has room for", async () => {
  const program = new URL("hostile_batch.ts", import.meta.url).pathname;
  const heap = "--v8-flags=--max-old-space-size=512";
  await using door = new Child(["run", "-A", "--no-check", heap, program]);
  const { out } = await door.endsWell();
  equal(
    out,
    [
      "arrays too-large",
      "maps too-large",
      "bytes too-large",
      "changes too-large",
      "edits too-large",
      "deletes too-large",
      "fewer creates denied",
      "",
    ].join("\n"),
  );
});
