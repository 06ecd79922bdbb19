import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { Place } from "../../tests/kit/replica_place.ts";
import { lateDoor } from "./door.ts";
import { Intake } from "./intake.ts";
import { ReplicaPort } from "../replica_port.ts";

const code = { Intake, ReplicaPort };

/** A door whose code is there when the test says so. */
class Loading {
  asked = 0;
  readonly #code = Promise.withResolvers<typeof code>();
  readonly door = lateDoor(() => {
    this.asked++;
    return this.#code.promise;
  });

  done(): void {
    this.#code.resolve(code);
  }

  failed(): void {
    this.#code.reject(new TypeError("Failed to fetch"));
  }
}

Deno.test("lateDoor() lets in once it is prepared, and nobody before", async () => {
  const loading = new Loading();
  const other = await Place.open({ seed: 2 });
  await other.write("theirs", "one");
  const arrivals = await other.arrivals();
  const place = await Place.open({ door: loading.door });
  await place.write("mine", "two");
  equal(loading.asked, 0, "opening and writing load nothing");
  throws(() => place.replica.receive(arrivals));
  throws(() => place.replica.port());
  equal(place.replica.status().parked, 0);
  loading.done();
  await loading.door.prepare!();
  await loading.door.prepare!();
  equal(loading.asked, 1);
  equal(place.replica.receive(arrivals).length, arrivals.length);
  deepEqual([place.text("mine"), place.text("theirs")], ["two", "one"]);
  // What waits for another is counted where it waits.
  for (const text of ["two", "three"]) await other.write("theirs", text);
  place.replica.receive((await other.arrivals()).slice(-1));
  equal(place.replica.status().parked, 1);
  await place.replica.close();
  await other.replica.close();
});

Deno.test("lateDoor() is loaded before a repair, which touches nothing where that fails", async () => {
  const place = await Place.open();
  await place.write("before", "one");
  const other = await Place.open({ seed: 2 });
  await other.write("theirs", "kept");
  const at = place.replica.loaded.log.end;
  await place.write("damaged", "two");
  place.replica.receive(await other.arrivals());
  await place.replica.close();
  place.spoil("log-00000000", at + 20);
  const failing = new Loading();
  failing.failed();
  await rejects(place.reopen({ repair: true, door: failing.door }), TypeError);
  equal(failing.asked, 1);
  const loading = new Loading();
  loading.done();
  const mended = await place.reopen({ repair: true, door: loading.door });
  equal(loading.asked, 1);
  deepEqual([mended.text("before"), mended.text("theirs")], ["one", "kept"]);
  await mended.replica.close();
  await other.replica.close();
});
