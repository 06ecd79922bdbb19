import assert from "node:assert/strict";
import { lateRefusing, type OwnRecord } from "../../repo/mod.ts";
import { until } from "../../tests/kit/patience.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { Records } from "./messages.ts";
import { TabInbox } from "./tab_inbox.ts";
import "../db/schemas.ts"; // Says how rich kinds are loaded.
import { lateRich } from "../schema/late_rich.ts";
import { recordKind } from "../../repo/mod.ts";

/** An inbox in a world in which following a run of records takes a millisecond. */
class Place {
  now = 0;
  isHidden = false;
  missed = 0;
  readonly followed: OwnRecord[] = [];
  readonly later: (() => void)[] = [];
  failure: unknown;
  missing: string | undefined;
  /** What is thrown for want of code. */
  unloaded: unknown;
  readonly inbox: TabInbox;

  constructor() {
    const world: World = {
      now: () => this.now,
      monotonic: () => this.now,
      random: () => {},
      after: (_delayMs, task) => {
        this.later.push(task);
        return () => {};
      },
    };
    this.inbox = new TabInbox({ address: 100, crc: 1 }, {
      world,
      follow: (records) => {
        this.now++;
        if (this.unloaded !== undefined) throw this.unloaded;
        if (this.missing === undefined) this.followed.push(...records);
        return this.missing;
      },
      missed: () => void this.missed++,
      isHidden: () => this.isHidden,
      caughtUp: () => {},
      failed: (cause) => this.failure = cause,
    });
  }
}

/** `count` records of 8 KiB from an address on, which is counted in records. */
function records(from: number, count: number): Records {
  const record: OwnRecord = {
    kind: recordKind.signedBatch,
    bytes: new Uint8Array(8_192),
  };
  return {
    kind: "records",
    repository: "board",
    from,
    next: { address: from + count, crc: from + count },
    records: new Array(count).fill(record),
  };
}

Deno.test("an inbox holds the page no longer than a slice, unless nobody looks", () => {
  const place = new Place();
  assert.deepEqual(place.inbox.at, { address: 100, crc: 1 });
  place.inbox.take(records(100, 20));
  assert.equal(place.now, limits.tabSliceMsMax);
  assert.equal(place.inbox.at.address, 100, "a message is taken whole or not");
  while (place.later.length > 0) {
    const before = place.now;
    place.later.shift()!();
    assert.ok(place.now - before <= limits.tabSliceMsMax);
  }
  assert.equal(place.followed.length, 20);
  assert.deepEqual(place.inbox.at, { address: 120, crc: 120 });
  place.isHidden = true;
  place.inbox.take(records(120, 20));
  assert.equal(place.followed.length, 40);
  assert.equal(place.later.length, 0);
});

Deno.test("an inbox leaves what comes between two slices to the next one", () => {
  const place = new Place();
  place.inbox.take(records(100, 20));
  place.inbox.take(records(120, 20));
  assert.equal(place.now, limits.tabSliceMsMax);
  assert.equal(place.later.length, 1);
  while (place.later.length > 0) place.later.shift()!();
  assert.equal(place.followed.length, 40);
  assert.deepEqual(place.inbox.at, { address: 140, crc: 140 });
});

Deno.test("an inbox says that it missed something, and takes nothing twice", () => {
  const place = new Place();
  place.inbox.take(records(105, 1));
  assert.equal(place.missed, 1);
  assert.equal(place.followed.length, 0);
  place.inbox.take(records(100, 5));
  place.inbox.take(records(100, 5));
  assert.equal(place.followed.length, 5);
  place.inbox.take(records(106, 1));
  assert.equal(place.missed, 2);
});

Deno.test("an inbox forgets what an owner before sent when another one begins", () => {
  const place = new Place();
  place.inbox.take(records(100, 20));
  place.inbox.begin({ address: 7, crc: 7 });
  assert.deepEqual(place.inbox.at, { address: 7, crc: 7 });
  const { length } = place.followed;
  for (const task of place.later.splice(0)) task();
  assert.equal(place.followed.length, length);
  place.inbox.take(records(7, 1));
  assert.equal(place.inbox.at.address, 8);
});

Deno.test("an inbox that lacks something reads the whole log once, and then gives up", () => {
  const place = new Place();
  place.missing = "a parent";
  place.inbox.take(records(100, 1));
  assert.deepEqual([place.missed, place.inbox.at.address], [1, 0]);
  assert.equal(place.failure, undefined);
  place.inbox.begin({ address: 0, crc: 0 }); // As the owner answers.
  place.inbox.take(records(0, 1));
  assert.match(String(place.failure), /a parent/);
});

Deno.test("an inbox waits for code that it lacks, and follows the same run again", async () => {
  for (const { unloaded } of [lateRefusing, lateRich]) {
    const place = new Place();
    place.unloaded = unloaded;
    place.inbox.take(records(100, 2));
    assert.deepEqual([place.now, place.followed.length], [1, 0]);
    place.inbox.take(records(102, 1));
    assert.equal(place.now, 1, "nothing overtakes what waits");
    place.unloaded = undefined;
    await until(() => place.inbox.at.address === 103, "all is followed");
    assert.equal(place.followed.length, 3);
    assert.equal(place.failure, undefined);
  }
});

Deno.test("an inbox that another owner begins forgets what waits for code", async () => {
  const place = new Place();
  place.unloaded = lateRefusing.unloaded;
  place.inbox.take(records(100, 2));
  place.inbox.begin({ address: 50, crc: 2 });
  place.unloaded = undefined;
  await lateRefusing.load();
  await Promise.resolve();
  place.inbox.take(records(50, 1));
  assert.equal(place.followed.length, 1);
  assert.equal(place.inbox.at.address, 51);
});
