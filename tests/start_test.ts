/**
 * What a process pays before its first read: Node's modules take Deno longer to
 * load than opening a database does.
 */

import { deepEqual, equal } from "node:assert/strict";
import { defineSchema, field, openDatabase } from "@sheaf/sheaf";

const schema = defineSchema("task", { title: field.string() });

Deno.test("openDatabase() and a first read load nothing of Node", async () => {
  const path = Deno.makeTempDirSync();
  try {
    const db = await openDatabase({ path, schemas: [schema] });
    const repo = await db.repository("a");
    const item = await repo.collection(schema).create({ title: "Ship it" });
    await db.close();
    const program = `
      const { get } = Object.getOwnPropertyDescriptor(globalThis, "process");
      const asked = [];
      Object.defineProperty(globalThis, "process", {
        get() {
          asked.push(new Error().stack);
          return get.call(globalThis);
        },
      });
      const { defineSchema, field, openDatabase } = await import("@sheaf/sheaf");
      const schema = defineSchema("task", { title: field.string() });
      const path = ${JSON.stringify(path)};
      const db = await openDatabase({ path, schemas: [schema] });
      const repo = await db.repository("a");
      const { title } = repo.collection(schema).get(${JSON.stringify(item.id)});
      console.log(JSON.stringify({ title, asked }));
      await db.close();
    `;
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", program],
      cwd: new URL("..", import.meta.url).pathname,
    }).output();
    const said = new TextDecoder().decode(stdout) ||
      new TextDecoder().decode(stderr);
    deepEqual(JSON.parse(said), { title: "Ship it", asked: [] });
  } finally {
    Deno.removeSync(path, { recursive: true });
  }
});

Deno.test("sha256() of a new process stays the same where the platform takes over", async () => {
  const module = new URL("../crypto/sha256.ts", import.meta.url).href;
  const program = `
    import { createHash } from "node:crypto";
    import { sha256 } from ${JSON.stringify(module)};
    for (let length = 0; length < 600; length++) {
      const bytes = new Uint8Array(length).fill(length);
      const digest = createHash("sha256").update(bytes).digest("hex");
      if (sha256(bytes).toHex() !== digest) throw new Error(String(length));
    }
  `;
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", program],
  }).output();
  equal(code, 0);
});
