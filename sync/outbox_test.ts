import { deepEqual, equal } from "node:assert/strict";
import { Place } from "../tests/kit/replica_place.ts";
import { Outbox } from "./outbox.ts";

Deno.test("Outbox.next() forgets at the end of the log what both sides have, and no more", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  await place.write("b", "2");
  const port = place.replica.port();
  const [[chain, count]] = [...port.vector()] as [[string, number]];
  equal(count, 2);
  const ahead = Array.from({ length: 40 }, (_, i) => `${i}`.padStart(64, "0"));
  const has = new Map([
    [chain, count],
    ...ahead.map((one) => [one, 1] as const),
  ]);
  const from = port.shareable;
  const options = { port, from, has, credentials: false };
  const outbox = new Outbox({ ...options, forgets: true });
  equal(outbox.next(10_000), undefined);
  equal(outbox.countOf(chain), 0, "its length says the same");
  deepEqual(ahead.map((one) => outbox.countOf(one)), ahead.map(() => 1));
  const faithful = new Outbox(options);
  equal(faithful.next(10_000), undefined);
  equal(faithful.countOf(chain), count);
});
