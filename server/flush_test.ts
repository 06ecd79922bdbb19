/** Whom a server keeps waiting while its disk flushes. */

import { equal, ok } from "node:assert/strict";
import { defineSchema, field, memoryStorage, openDatabase } from "../mod.ts";
import { system } from "../src/base/system.ts";
import { StorageOver } from "../src/storage/storage_over.ts";
import { createServer } from "./mod.ts";

const FLUSH_MS = 5;

/** A disk that takes 5 ms to make names durable. */
class SlowDisk extends StorageOver {
  /** Folders for which the thread was kept from serving. */
  readonly held: string[] = [];
  flushes = 0;

  override syncFolder(folder: string, mayWait?: boolean): void | Promise<void> {
    this.flushes++;
    if (mayWait) {
      return new Promise<void>((resolve) => system.after(FLUSH_MS, resolve))
        .then(() => super.syncFolder(folder));
    }
    this.held.push(folder);
    return super.syncFolder(folder);
  }
}

const Note = defineSchema("note", { text: field.string() });

Deno.test("a server stands still for nobody whose folder is made durable", async () => {
  const disk = new SlowDisk(memoryStorage());
  const server = await createServer({
    storage: disk,
    hostname: "127.0.0.1",
    port: 0,
    login: { anonymous: true },
    log: () => {},
  });
  const db = await openDatabase({
    storage: memoryStorage(),
    rootKey: server.rootKey,
    schemas: [Note],
  });
  try {
    disk.held.length = 0;
    disk.flushes = 0;
    db.connect(server.url.replace(/^http/, "ws"), {
      session: { anonymous: true },
    });
    for (const name of ["begun", "another"]) {
      const notes = (await db.repository(name)).collection(Note);
      for (let i = 0; i < 3; i++) await notes.create({ text: "x" }).synced;
    }
    ok(disk.flushes > 0);
    equal(disk.held.join(), "");
  } finally {
    await db.close();
    await server.close();
  }
});
