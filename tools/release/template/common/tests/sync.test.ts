import { equal, rejects } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { memoryStorage, openDatabase } from "@sheaf/sheaf";
import { openAccounts } from "../server/accounts.ts";
import { startServer } from "../server/server.ts";
import rules from "../src/rules.ts";
import { Member, schemas, Todo } from "../src/schema.ts";

test("two people share a list over the server", async () => {
  const folder = mkdtempSync(join(tmpdir(), "app-"));
  const app = openAccounts(join(folder, "accounts.json"));
  const server = await startServer({
    data: join(folder, "sheaf"),
    port: 0,
    login: { app },
    log: () => {},
  });
  const { rootKey } = server;
  const device = async (user: string) => {
    const db = await openDatabase({
      storage: memoryStorage(),
      rootKey,
      schemas,
      rules,
      user,
    });
    const connection = db.connect(server.url, {
      session: { app: { user, password: `password of ${user}`, isNew: true } },
    });
    return { db, connection, list: await db.repository("list/ann") };
  };
  try {
    const ann = await device("ann");
    await ann.list.collection(Todo).create({
      title: "Ship it",
      createdAt: new Date(),
    }).synced;
    await ann.list.collection(Member).create({ id: "bob", role: "reader" })
      .synced;

    const bob = await device("bob");
    await bob.list.sync.ready;
    equal(bob.list.collection(Todo).all()[0]?.title, "Ship it");
    await rejects(async () =>
      await bob.list.collection(Todo).create({
        title: "Mine",
        createdAt: new Date(),
      })
    );

    await bob.db.close();
    await ann.db.close();
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
});
