/** Servers of other epochs that lack what a witness proves: told as long as it is so, and given what is here. */

import { deepEqual, equal, throws } from "node:assert/strict";
import { refuse, refuseAt } from "../src/base/errors.ts";
import type { Batch } from "../repo/commit/batch.ts";
import { limits } from "../src/base/limits.ts";
import { ManualWorld, Place } from "../tests/kit/replica_place.ts";
import { meet, Serving, type Talk } from "../tests/kit/talk.ts";
import { toHex } from "../src/base/bytes.ts";
import { IncidentList } from "./client_report.ts";
import type { LogOrder } from "./order_teller.ts";
import {
  decodeResume,
  encodeResume,
  noLives,
  type ResumeState,
} from "./resume.ts";

const OTHER = new Uint8Array(16).fill(7);

/** A client that found itself equal with a server of `count` commits, and what it kept of that. */
async function proved(count = 9) {
  const world = new ManualWorld();
  const serving = await Serving.open(world);
  const place = await Place.open({ world, seed: 1 });
  for (let i = 0; i < count; i++) await place.write(`a${i}`, "1");
  const talk = meet(serving, place);
  const resume = await exchange(talk);
  equal(talk.client.told("equal").length > 0, true);
  deepEqual(lackedBy(talk), []);
  return { world, serving, place, resume };
}

/** Lets both sides have everything; what the client keeps of it. */
async function exchange(talk: Talk): Promise<ResumeState> {
  await talk.settle();
  await talk.pass(limits.witnessMs);
  talk.end();
  return talk.client.resume!;
}

/** What was kept, with another summary in the place of the proved one. */
function withSummary(resume: ResumeState, summary: Uint8Array): ResumeState {
  const proved = { ...resume.proved!, summary };
  return { ...resume, proved, receipts: [] };
}

/** What a client told of what a server lacks, one after the other. */
function lackedBy({ client }: Talk): number[] {
  return client.told("restoring").map(({ missing }) => missing);
}

Deno.test("what was proved comes back in a batch of its own, before what its author wrote since, which waits for it", async () => {
  const { world, serving, place } = await proved(1);
  // No credential comes between these any more.
  for (let i = 1; i < 9; i++) await place.write(`a${i}`, "1");
  const resume = await exchange(meet(serving, place));
  for (let i = 0; i < 3; i++) await place.write(`new${i}`, "1");
  const [chain] = [...place.replica.port().vector().keys()] as [string];
  const second = await Serving.open(world);
  const port = second.place.replica.port();
  const asked: string[] = [];
  // As a server that learned of nine commits, and judges no others before these are back.
  const gate = ({ first, commits }: Batch, from: number) => {
    const to = first + commits.length;
    asked.push(`${first + from} to ${to}`);
    return to > 9 && port.lengthOf(chain) < 9
      ? refuseAt(Math.max(9, first + from), "restoring", "")
      : undefined;
  };
  const talk = meet(second, place, resume, { gate });
  await talk.settle();
  await talk.pass(limits.refusedRetryMs);
  deepEqual(asked, ["0 to 1", "1 to 9", "9 to 12", "9 to 12"]);
  deepEqual(lackedBy(talk), [9, 0]);
  const refused = talk.client.told("refused");
  deepEqual(refused.map(({ number, then }) => [number, then]), [[9, "later"]]);
  equal(second.place.text("new2"), "1");
  talk.end();
});

Deno.test("a client tells that a second server lacks what the first had signed for, hands it in, and tells the end", async () => {
  const { world, place, resume } = await proved();
  const second = await Serving.open(world);
  const talk = meet(second, place, resume);
  await talk.settle();
  deepEqual(lackedBy(talk), [9, 0]);
  equal(second.place.text("a8"), "1");
  talk.end();
});

Deno.test("a client tells nothing of a server that has more than was signed for, in its epoch or another", async () => {
  const { serving, place, resume } = await proved();
  await serving.place.write("b", "2");
  const { order } = serving;
  const other: LogOrder = {
    epoch: OTHER,
    last: order.last,
    before: (position) => order.before(position),
    stands: () => false,
  };
  for (const one of [order, other]) {
    const talk = meet(serving, place, resume, { order: one });
    await talk.settle();
    await talk.pass(limits.witnessMs);
    deepEqual(lackedBy(talk), []);
    talk.end();
  }
});

Deno.test("a client goes on telling what a server does not take, and over connections", async () => {
  const { world, place, resume } = await proved();
  const second = await Serving.open(world);
  const gate = () => refuse("quota");
  let state = resume;
  for (let i = 0; i < 3; i++) {
    const talk = meet(second, place, state, { gate });
    await talk.settle();
    await talk.pass(limits.witnessMs);
    deepEqual(lackedBy(talk), [9]);
    state = talk.client.resume!;
    talk.end();
  }
  const talk = meet(second, place, state);
  await talk.settle();
  deepEqual(lackedBy(talk), [9, 0]);
  talk.end();
});

Deno.test("a client tells no longer of own commits that a server refused and that are void here", async () => {
  const { world, place, resume } = await proved();
  const second = await Serving.open(world);
  let isAsked = false;
  const gate = () => {
    if (isAsked) return undefined;
    isAsked = true;
    return refuse("denied");
  };
  const talk = meet(second, place, resume, { gate });
  await talk.settle();
  await talk.pass(limits.witnessMs);
  await talk.pass(limits.witnessMs);
  equal(talk.client.told("refused")[0]?.then, "void");
  equal(talk.client.told("equal").length > 0, true);
  deepEqual(lackedBy(talk), [9, 0]);
  talk.end();
});

Deno.test("a client that lost it, too, tells it until others have brought it back", async () => {
  const { world, place: whole, resume } = await proved();
  const second = await Serving.open(world);
  const poor = await Place.open({ world, seed: 2 });
  const talk = meet(second, poor, resume);
  await talk.settle();
  deepEqual(lackedBy(talk), [9]);
  const rich = meet(second, whole);
  await rich.settle();
  await talk.settle();
  deepEqual(lackedBy(talk), [9, 0]);
  equal(poor.text("a8"), "1");
  for (const one of [talk, rich]) one.end();
});

Deno.test("a server that is restored from a backup is told of until all is back", async () => {
  const { world, serving, place } = await proved(4);
  const backup = await Serving.open(world);
  await exchange(meet(backup, place));
  for (let i = 4; i < 9; i++) await place.write(`a${i}`, "1");
  const resume = await exchange(meet(serving, place));
  await place.write("later", "1");
  const talk = meet(backup, place, resume);
  await talk.settle();
  deepEqual(lackedBy(talk), [5, 0]);
  equal(backup.place.text("later"), "1");
  talk.end();
});

Deno.test("a server that went back in its own epoch is shown what there was", async () => {
  const { world, serving, place, resume } = await proved();
  const back = await Serving.open(world);
  const order: LogOrder = {
    epoch: serving.order.epoch,
    last: back.order.last,
    before: (position) => back.order.before(position),
    stands: () => false,
  };
  const talk = meet(back, place, resume, { order });
  await talk.settle();
  equal(talk.server.told("proof").length, 1);
  deepEqual(lackedBy(talk), [9, 0]);
  talk.end();
  const again = meet(serving, place, resume);
  await again.settle();
  equal(again.server.told("proof").length, 0);
  deepEqual(lackedBy(again), []);
  again.end();
});

Deno.test("a summary that rotted where it was kept proves nothing, and stops nobody", async () => {
  const { world, place, resume } = await proved();
  const summary = resume.proved!.summary.slice();
  summary[45]! ^= 4; // In the chain's length.
  const second = await Serving.open(world);
  const talk = meet(second, place, withSummary(resume, summary));
  await talk.settle();
  deepEqual(lackedBy(talk), []);
  equal(second.place.text("a8"), "1");
  talk.end();
  const cut = encodeResume(withSummary(resume, summary.subarray(1)));
  throws(() => decodeResume(cut), SyntaxError);
});

Deno.test("a cursor that stands in another epoch is a lie, and nothing is left unsent by it", async () => {
  const { world, place, resume } = await proved();
  const second = await Serving.open(world);
  const { epoch } = second.order;
  const talk = meet(second, place, resume);
  // The server says that the cursor of the other epoch stands.
  for (let open = false; !open;) {
    for (const frame of talk.client.take()) talk.server.frame(frame.slice());
    const opened = talk.server.messages.find(({ is }) => is === "opened");
    open = opened !== undefined;
    if (open) break;
    for (const frame of talk.server.take()) talk.client.frame(frame.slice());
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const message of talk.server.messages) {
    const lie = message.is === "opened"
      ? { ...message, epoch, vector: undefined }
      : message;
    talk.client.message(lie);
  }
  equal(talk.client.ended?.code, "bad-message");
  talk.end();
});

Deno.test("IncidentList knows an epoch that comes back over restarts, and tells of two logs until both are the same", () => {
  let nowMs = 1;
  const world = { now: () => nowMs };
  const [one, two] = [new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)];
  const told = (list: IncidentList) =>
    list.list.map(({ kind, at, details }) => [kind, at, details]);
  const seen: unknown[] = [];
  const server = { lives: noLives };
  let list = new IncidentList(world, server);
  for (const epoch of [one, one, two, one]) {
    list.noteEpoch(epoch);
    list = new IncidentList(world, server);
    seen.push(told(list).length);
    nowMs++;
  }
  deepEqual(seen, [0, 0, 0, 1]);
  const details = { epoch: toHex(one), other: toHex(two) };
  deepEqual(told(list), [["server-forked", new Date(4), details]]);
  for (const epoch of [one, two, one]) list.noteEpoch(epoch);
  equal(list.list.length, 1, "once a connection");
  list.settle();
  equal(list.list.length, 1);
  list = new IncidentList(world, server);
  deepEqual(list.list, []);
  list.noteEpoch(two);
  equal(list.list.length, 1, "it came back once more");
});

Deno.test("IncidentList keeps one account of what is missing, however many epochs a server invents", () => {
  const list = new IncidentList({ now: () => ++time }, { lives: noLives });
  let time = 0;
  for (let i = 1; i < 1_000; i++) {
    list.noteRestoring(i, new Uint8Array(16).fill(i), "");
  }
  equal(list.list.length, 1);
  const [{ kind, at, details }] = list.list as [typeof list.list[0]];
  equal(kind, "restore-incomplete");
  deepEqual(at, new Date(1), "since when");
  equal((details as { missing: number }).missing, 999);
  list.noteRestoring(0, OTHER, "");
  deepEqual(list.list, []);
});
