import assert from "node:assert/strict";
import type { CommitPlace } from "../repo/commit_place.ts";
import { ArrivalList } from "./arrivals.ts";

const has = new Map<string, number>();
const list = () => new ArrivalList((chain) => has.get(chain) ?? 0);

Deno.test("who waits is told when the count passes the commit, not before", async () => {
  const arrivals = list();
  const told: string[] = [];
  const place: CommitPlace = { chain: "a", number: 2, state: "kept" };
  const waiting = arrivals.wait(place).then(() => told.push("there"));
  has.set("a", 2);
  arrivals.check();
  await Promise.resolve();
  assert.deepEqual(told, []);
  has.set("a", 3);
  arrivals.check();
  await waiting;
  assert.deepEqual(told, ["there"]);
});

Deno.test("a commit that moves is followed, a refused one rejects with the reason", async () => {
  const arrivals = list();
  const place = {
    chain: "b",
    number: 5,
    state: "kept" as CommitPlace["state"],
  };
  const waiting = arrivals.wait(place);
  place.chain = "c";
  place.number = 0;
  has.set("c", 1);
  arrivals.check();
  await waiting;
  const refused = {
    chain: "d",
    number: 8,
    state: "kept" as CommitPlace["state"],
  };
  const failing = arrivals.wait(refused).catch((error) => error);
  arrivals.noteRefused("d", 7, 3, "denied: team task.update: not yours");
  refused.state = "refused";
  arrivals.check();
  const { code, message } = await failing;
  assert.equal(code, "refused");
  assert.match(message, /not yours/);
});

Deno.test("nobody waits for ever when a client closes", async () => {
  const arrivals = list();
  const place: CommitPlace = { chain: "e", number: 0, state: "kept" };
  const failing = assert.rejects(arrivals.wait(place), { code: "closed" });
  arrivals.close();
  await failing;
});
