import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import { ManualWorld, turns } from "../../tests/kit/replica_place.ts";
import {
  CommitQueue,
  type CommitSink,
  type QueuedCommit,
  SyncCrowd,
} from "./commit_queue.ts";

const lost = new DatabaseError("storage-failed", "The disk is gone");

function commitOf(bytes = 1): QueuedCommit {
  return {
    header: new Uint8Array(0),
    payload: new Uint8Array(bytes),
    payloadAt: -1,
    operationsOffset: 0,
    origin: { wall: 1, count: 0, chain: "c", operationsAt: -1 },
  };
}

/** Notes what happens; its syncs are slow when told to be. */
class FakeSink implements CommitSink {
  readonly events: string[] = [];
  isSlow = false;
  failure: DatabaseError | undefined;
  #waiting: PromiseWithResolvers<void> | undefined;

  append(commits: readonly QueuedCommit[]): void {
    if (this.failure !== undefined) throw this.failure;
    this.events.push(`append ${commits.length}`);
  }

  appended(): void {
    this.events.push("appended");
  }

  sync(): Promise<void> | undefined {
    this.events.push("sync");
    if (!this.isSlow) {
      if (this.failure !== undefined) throw this.failure;
      return undefined;
    }
    this.#waiting = Promise.withResolvers<void>();
    return this.#waiting.promise;
  }

  end(failure?: DatabaseError): void {
    if (failure === undefined) this.#waiting?.resolve();
    else this.#waiting?.reject(failure);
  }
}

function setUp(
  durable: boolean,
): { sink: FakeSink; world: ManualWorld; queue: CommitQueue } {
  const sink = new FakeSink();
  const world = new ManualWorld();
  return { sink, world, queue: new CommitQueue(sink, world, { durable }) };
}

Deno.test("push() gathers a tick's commits into one append and one sync", async () => {
  const { sink, queue } = setUp(true);
  const waiting = [1, 2, 3].map(() => queue.push(commitOf()).promise);
  deepEqual(sink.events, []);
  equal(queue.pendingBytes, 3);
  await Promise.all(waiting);
  deepEqual(sink.events, ["append 3", "appended", "sync"]);
  equal(queue.pendingBytes, 0);
});

Deno.test("push() tells nobody before the sync has ended, and gathers the next group meanwhile", async () => {
  const { sink, queue } = setUp(true);
  sink.isSlow = true;
  const told: string[] = [];
  const first = queue.push(commitOf()).promise.then(() => told.push("first"));
  await turns();
  const second = queue.push(commitOf()).promise.then(() => told.push("second"));
  queue.push(commitOf());
  await turns();
  deepEqual(sink.events, ["append 1", "appended", "sync"]);
  deepEqual(told, []);
  sink.end();
  await first;
  await turns();
  deepEqual(told, ["first"]);
  deepEqual(sink.events.slice(3), ["append 2", "appended", "sync"]);
  sink.end();
  await second;
});

Deno.test("a failed sync rejects who waits, who comes later and drain(), and is final", async () => {
  const { sink, queue } = setUp(true);
  sink.isSlow = true;
  const first = queue.push(commitOf());
  await turns();
  const second = queue.push(commitOf());
  const latest = queue.latest();
  const unheard = queue.push(commitOf()); // Nobody asks: nothing is rejected.
  const results = [first, second, latest].map(({ promise }) =>
    rejects(promise, { code: "storage-failed" })
  );
  sink.end(lost);
  await Promise.all(results);
  equal(queue.failure, lost);
  await rejects(queue.push(commitOf()).promise, { code: "storage-failed" });
  await rejects(queue.latest().promise, { code: "storage-failed" });
  await rejects(queue.drain(), { code: "storage-failed" });
  await turns();
  deepEqual(sink.events, ["append 1", "appended", "sync"]);
  await rejects(unheard.promise, { code: "storage-failed" });
});

Deno.test("latest() of a sync under way fails with it", async () => {
  const { sink, queue } = setUp(true);
  sink.isSlow = true;
  queue.push(commitOf());
  await turns();
  const latest = rejects(queue.latest().promise, { code: "storage-failed" });
  sink.end(lost);
  await latest;
});

Deno.test("a failed append rejects, whatever kind of error it was", async () => {
  for (const durable of [true, false]) {
    const { sink, world, queue } = setUp(durable);
    sink.append = () => {
      throw new TypeError("no such method");
    };
    const { promise } = queue.push(commitOf());
    if (durable) await rejects(promise, { code: "storage-failed" });
    world.advance(10);
    await rejects(queue.push(commitOf()).promise, { code: "storage-failed" });
  }
});

Deno.test("write() puts everything into the log while a slow sync runs, and syncs it afterwards", async () => {
  const { sink, queue } = setUp(true);
  sink.isSlow = true;
  const first = queue.push(commitOf()).promise;
  await turns();
  let isDurable = false;
  const second = queue.push(commitOf()).promise.then(() => isDurable = true);
  queue.write();
  deepEqual(sink.events.slice(3), ["append 1", "appended"]);
  sink.end();
  await first;
  await turns();
  equal(isDurable, false);
  deepEqual(sink.events.slice(5), ["sync"]);
  sink.end();
  await second;
});

Deno.test("a failed write() leaves the sync under way to tell its own end", async () => {
  const { sink, queue } = setUp(true);
  sink.isSlow = true;
  const first = queue.push(commitOf()).promise;
  await turns();
  const second = queue.push(commitOf());
  sink.failure = lost;
  queue.write();
  await rejects(second.promise, { code: "storage-failed" });
  sink.end();
  await first;
  await rejects(queue.drain(), { code: "storage-failed" });
});

/** Its syncs are slow where others sync at the same time, as those of a disk. */
class MeetingSink extends FakeSink {
  override sync(isMet = false): Promise<void> | undefined {
    this.isSlow = isMet;
    this.events.push(isMet ? "beside others" : "alone");
    return super.sync();
  }
}

/** Queues of one thread. */
function setUpMeeting(
  count: number,
): { sink: MeetingSink; queue: CommitQueue }[] {
  const crowd = new SyncCrowd();
  return Array.from({ length: count }, () => {
    const sink = new MeetingSink();
    const policy = { durable: true, crowd };
    return { sink, queue: new CommitQueue(sink, new ManualWorld(), policy) };
  });
}

Deno.test("queues that flush in one turn sync side by side, each as soon as it has appended", async () => {
  const events: string[] = [];
  const all = setUpMeeting(3);
  for (const [at, { sink }] of all.entries()) {
    sink.events.push = (event) => events.push(`${at} ${event}`);
  }
  const told: number[] = [];
  const waiting = all.map(({ queue }, at) =>
    queue.push(commitOf()).promise.then(() => told.push(at))
  );
  await turns();
  deepEqual(events.filter((event) => !event.endsWith("sync")), [
    ...["0 append 1", "0 appended", "0 beside others"],
    ...["1 append 1", "1 appended", "1 beside others"],
    ...["2 append 1", "2 appended", "2 alone"],
  ]);
  deepEqual(told, [2], "nobody is told before the sync that covers it");
  all[1]?.sink.end();
  await turns();
  deepEqual(told, [2, 1]);
  all[0]?.sink.end();
  await Promise.all(waiting);
});

Deno.test("a lone queue syncs alone, also when others have synced before", async () => {
  const [one, other] = setUpMeeting(2);
  ok(one && other);
  const met = other.queue.push(commitOf()).promise;
  await one.queue.push(commitOf()).promise;
  other.sink.end();
  await met;
  for (let turn = 0; turn < 3; turn++) {
    one.sink.events.length = 0;
    await one.queue.push(commitOf()).promise;
    deepEqual(one.sink.events, ["append 1", "appended", "alone", "sync"]);
  }
});

Deno.test("a sync that fails beside others fails its own queue only, and leaves no crowd behind", async () => {
  const [bad, good] = setUpMeeting(2);
  ok(bad && good);
  const lostWrite = rejects(bad.queue.push(commitOf()).promise, {
    code: "storage-failed",
  });
  await good.queue.push(commitOf()).promise;
  bad.sink.end(lost);
  await lostWrite;
  equal(bad.queue.failure, lost);
  await rejects(bad.queue.push(commitOf()).promise, { code: "storage-failed" });
  await good.queue.push(commitOf()).promise;
  deepEqual(good.sink.events.filter((event) => event === "alone").length, 2);
});

Deno.test("a queue whose append fails is missed by nobody", async () => {
  const [bad, good] = setUpMeeting(2);
  ok(bad && good);
  bad.sink.failure = lost;
  const failing = rejects(bad.queue.push(commitOf()).promise, {
    code: "storage-failed",
  });
  await good.queue.push(commitOf()).promise;
  await failing;
  equal(good.sink.events.includes("alone"), true);
});

Deno.test("while a sync is under way, who writes on and on leaves the thread to its end", async () => {
  const [slow, busy] = setUpMeeting(2);
  ok(slow && busy);
  const first = slow.queue.push(commitOf()).promise;
  await busy.queue.push(commitOf()).promise; // Last of the turn: alone.
  const next = busy.queue.push(commitOf()).promise;
  await turns();
  equal(busy.sink.events.at(-2), "beside others");
  slow.sink.end();
  busy.sink.end();
  await Promise.all([first, next]);
});

Deno.test("Fast mode acknowledges at once and writes a little later", async () => {
  const { sink, world, queue } = setUp(false);
  await queue.push(commitOf()).promise;
  queue.push(commitOf());
  world.advance(1);
  deepEqual(sink.events, []);
  world.advance(1);
  deepEqual(sink.events, ["append 2", "appended"]);
});

Deno.test("Fast mode gathers for no longer than a microtask where somebody follows", async () => {
  const sink = new FakeSink();
  const policy = { durable: false, isFollowed: () => true };
  const queue = new CommitQueue(sink, new ManualWorld(), policy);
  queue.push(commitOf());
  queue.push(commitOf());
  deepEqual(sink.events, []);
  await turns();
  deepEqual(sink.events, ["append 2", "appended"]);
});

Deno.test("Fast mode writes at once when much has gathered", () => {
  const { sink, queue } = setUp(false);
  queue.push(commitOf(limits.queueBytesMax));
  deepEqual(sink.events, []);
  queue.push(commitOf(1));
  deepEqual(sink.events, ["append 2", "appended"]);
});

Deno.test("Fast mode syncs once, about a second after a write", () => {
  const { sink, world, queue } = setUp(false);
  queue.push(commitOf());
  world.advance(2);
  queue.push(commitOf());
  world.advance(2);
  equal(sink.events.includes("sync"), false);
  world.advance(1_000);
  equal(sink.events.filter((event) => event === "sync").length, 1);
  equal(world.timers, 0);
});

Deno.test("Fast mode ends with a failed sync that nobody waited for", async () => {
  const { sink, world, queue } = setUp(false);
  await queue.push(commitOf()).promise;
  world.advance(2);
  sink.failure = lost;
  world.advance(1_000);
  await turns();
  equal(queue.failure, lost);
  await rejects(queue.push(commitOf()).promise, { code: "storage-failed" });
});

Deno.test("drain() writes and syncs in every mode, and leaves no timer", async () => {
  for (const durable of [true, false]) {
    const { sink, world, queue } = setUp(durable);
    queue.push(commitOf());
    await queue.drain();
    deepEqual(sink.events, ["append 1", "appended", "sync"]);
    equal(world.timers, 0);
  }
});

Deno.test("drain() waits for what is pushed while it waits", async () => {
  const { sink, queue } = setUp(true);
  sink.isSlow = true;
  queue.push(commitOf());
  let isDrained = false;
  const drained = queue.drain().then(() => isDrained = true);
  await turns();
  queue.push(commitOf());
  sink.end();
  await turns();
  equal(isDrained, false);
  sink.end();
  await drained;
});

Deno.test("stop() forgets the timers", () => {
  const { world, queue } = setUp(false);
  queue.push(commitOf());
  equal(world.timers, 1);
  queue.stop();
  equal(world.timers, 0);
});

Deno.test("a flush is cut into batches that stay sendable", async () => {
  const { sink, queue } = setUp(true);
  const half = limits.batchBytesSoft / 2;
  for (const bytes of [half, half, half, 1]) queue.push(commitOf(bytes));
  await queue.drain();
  deepEqual(sink.events, ["append 2", "append 2", "appended", "sync"]);
});

Deno.test("a batch never has more commits than one seal may cover", async () => {
  const { sink, queue } = setUp(true);
  const commit = commitOf(0);
  for (let i = 0; i <= limits.batchCommitsMax; i++) queue.push(commit);
  await queue.drain();
  deepEqual(sink.events.slice(0, 2), [
    `append ${limits.batchCommitsMax}`,
    "append 1",
  ]);
});
