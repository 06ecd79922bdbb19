import { equal, throws } from "node:assert/strict";
import { memoryStorage, openDatabase } from "../../mod.ts";
import { MemoryServer } from "../../tests/kit/memory_server.ts";

Deno.test("connect() keeps the address as the platform writes it, and names it to who connects again", async () => {
  await using database = await openDatabase({ storage: memoryStorage() });
  const connection = database.connect("ws://LOCALHOST:7/a/../b");
  equal(connection.address, "ws://localhost:7/b");
  equal(database.connection, connection);
  throws(() => database.connect("ws://localhost:8"), {
    code: "already-connected",
    message:
      "The database is connected to ws://localhost:7/b: close that connection first",
  });
  await connection.close();
  equal(database.connection, undefined);
  const next = database.connect(new URL("wss://localhost:8"));
  equal(next.address, "wss://localhost:8/");
  await next.close();
});

Deno.test("connect() over a wire of one's own has the address that it says", async () => {
  await using server = new MemoryServer({ users: {} });
  const { connector, login, rootKey } = server;
  const options = { storage: memoryStorage(), rootKey };
  await using database = await openDatabase(options);
  const connection = database.connect(connector, { login });
  equal(connection.address, connector.address);
  await connection.close();
});
