import { equal, match, notEqual, rejects } from "node:assert/strict";
import { type Stage, withPair } from "./place.ts";
import { differenceBetween } from "./process.ts";

Deno.test("withPair() has a server and two clients in processes of their own, with items that both hold, and tells where they differ", async () => {
  const folder = Deno.makeTempDirSync();
  const stage: Stage = { mode: "fast", folder, isQuick: true };
  try {
    await withPair(stage, async ({ a, b, server, size }) => {
      equal(size, 1_000);
      equal(new Set([Deno.pid, a.pid, b.pid, server.pid]).size, 4);
      equal(await differenceBetween(a, b), undefined);
      await b.do("leave");
      await a.do("edit", { edits: 1, size, round: 0, side: 0 });
      equal(await differenceBetween(a, b), "items differ");
      await a.do("write", size, size + 1, 1);
      match(await differenceBetween(a, b) ?? "", /^1001 items on one side/);
      await rejects(b.do("write", 0, 1, 1), /^Error: write: DatabaseError/);
      await b.do("connect", server.url);
      await b.do("has", size + 1);
      equal(await differenceBetween(a, b), undefined);
      await b.do("answerTrips");
      const trips = await a.do("trips", 0, 5, "x");
      equal(trips.length, 5);
      notEqual(Math.min(...trips), 0);
    });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
