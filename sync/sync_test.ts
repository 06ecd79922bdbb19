import assert from "node:assert/strict";
import type { Position } from "../repo/commit/commit.ts";
import { parseRepositoryName } from "../repo/commit/genesis.ts";
import { lateStateTree } from "../repo/state/late_state_tree.ts";
import { limits } from "../src/base/limits.ts";
import type { Connector } from "./transport/transport.ts";
import type { World } from "../src/base/world.ts";
import {
  certificateFor,
  lateSession,
  ManualWorld,
  Place,
  sessionOf,
  turns,
} from "../tests/kit/replica_place.ts";
import {
  ClientPlace,
  proverOf,
  ServerPlace,
  until,
} from "../tests/kit/sync_place.ts";
import { withAnswers } from "../tests/kit/with_answers.ts";
import { rights } from "./conversation.ts";
import { lateAudit } from "./late_audit.ts";
import { decodeResume, emptyResume, encodeResume } from "./resume.ts";
import type { Incident } from "./status.ts";
import { recordKind } from "../repo/log/format.ts";

const digest = (place: Place) => place.replica.graph.summary();

async function settled(server: ServerPlace, ...clients: ClientPlace[]) {
  const { world } = server;
  await until(world, () => {
    const wanted = server.place.replica.graph.commits;
    return clients.every(({ place, channel }) =>
      channel.status.state === "live" &&
      channel.status.unsent.commits === 0 &&
      place.replica.graph.commits === wanted
    );
  });
  for (const { place } of clients) {
    assert.deepEqual(digest(place), digest(server.place));
  }
}

/** The same world with another clock. */
function ahead(world: ManualWorld, aheadMs: number): World {
  return {
    now: () => world.now() + aheadMs,
    monotonic: () => world.monotonic(),
    random: world.random,
    after: (delayMs, task) => world.after(delayMs, task),
  };
}

/** Is everything that a client has acknowledged to it? */
function equalCounts({ channel, place }: ClientPlace, server: ServerPlace) {
  for (const [chain, count] of place.replica.port().vector()) {
    assert.equal(channel.acknowledged(chain), count);
    assert.equal(server.place.replica.port().lengthOf(chain), count);
  }
}

async function end(server: ServerPlace, ...clients: ClientPlace[]) {
  for (const client of clients) client.close();
  await server.stop();
  assert.deepEqual(server.faults, []);
  assert.equal(server.released, server.opened);
}

Deno.test("two clients converge through a server, and hear of each other's writes at once", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  const ben = await ClientPlace.connect(server, 2);
  await ann.live();
  await ben.live();
  await ann.write("a", "from ann");
  await ben.write("b", "from ben");
  await settled(server, ann, ben);
  assert.equal(ben.place.text("a"), "from ann");
  assert.equal(ann.place.text("b"), "from ben");
  assert.equal(server.place.text("a"), "from ann");
  assert.equal(server.opened, 1);
  await end(server, ann, ben);
  assert.equal(ann.channel.status.state, "closed");
});

Deno.test("a client whose clock is too far off to be followed is told so, once, also in a repository that joins later", async () => {
  const server = await ServerPlace.start();
  const aheadMs = limits.clockCorrectionMsMax + 1_000;
  const ann = await ClientPlace.connect(server, 1, {
    world: ahead(server.world, aheadMs),
  });
  const kinds = () => ann.channel.status.incidents.map(({ kind }) => kind);
  await ann.live();
  assert.deepEqual(kinds(), ["clock"]);
  const [{ message, details }] = ann.channel.status.incidents as [Incident];
  assert.match(message, /2678401 s ahead of the server's/);
  assert.deepEqual(details, { clockOffsetMs: -aheadMs });
  const port = ann.place.replica.port();
  const later = ann.client.add(port);
  assert.deepEqual(later.status.incidents.map(({ kind }) => kind), ["clock"]);
  const ben = await ClientPlace.connect(server, 2, {
    world: ahead(server.world, limits.clockCorrectionMsMax),
  });
  await ben.live();
  assert.deepEqual(ben.channel.status.incidents, []);
  await end(server, ann, ben);
});

Deno.test("a client without memory for more leaves what gets some, says so, and comes back when it has", async () => {
  const server = await ServerPlace.start();
  let isFull = false;
  const ann = await ClientPlace.connect(server, 1);
  const ben = await ClientPlace.connect(server, 2, { isFull: () => isFull });
  await ann.live();
  await ben.live();
  isFull = true;
  await ann.write("a", "from ann");
  const { world } = server;
  await until(world, () => ben.channel.status.state === "refused");
  assert.equal(ben.channel.status.reason?.code, "memory-full");
  assert.equal(ben.place.text("a"), undefined);
  assert.equal(ben.client.status.state, "ready");
  isFull = false;
  await ben.write("b", "from ben");
  await settled(server, ann, ben);
  assert.equal(ben.place.text("a"), "from ann");
  await end(server, ann, ben);
});

Deno.test("what was written offline arrives when a client connects", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  const place = await Place.open({ seed: 1, world, session: sessionOf(1) });
  for (let i = 0; i < 50; i++) await place.write(`n${i}`, `text ${i}`);
  await server.place.write("s", "from the server");
  const ann = await ClientPlace.connect(server, 1, { place });
  const { unsent } = ann.channel.status;
  assert.equal(unsent.commits, 50);
  assert.ok(unsent.bytes > 50);
  assert.equal(unsent.oldest?.getTime(), 1_800_000_000_000);
  await settled(server, ann);
  assert.equal(server.place.text("n49"), "text 49");
  assert.equal(place.text("s"), "from the server");
  await end(server, ann);
});

Deno.test("a client that lost its wire comes back by itself, with what both wrote meanwhile", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  server.isDown = true;
  server.cut();
  await until(server.world, () => ann.channel.status.state === "offline");
  assert.equal(ann.channel.status.reason?.code, "lost");
  await ann.write("a", "offline");
  await turns();
  assert.equal(ann.channel.status.unsent.commits, 1);
  await server.place.write("s", "meanwhile");
  server.isDown = false;
  await settled(server, ann);
  assert.equal(server.place.text("a"), "offline");
  assert.equal(ann.place.text("s"), "meanwhile");
  await end(server, ann);
});

Deno.test("a server that restarts in good order is resumed", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  await ann.write("a", "1");
  await ann.live();
  await server.restart(1_000);
  await server.place.write("s", "after");
  await settled(server, ann);
  assert.equal(ann.place.text("s"), "after");
  await end(server, ann);
});

Deno.test("a client resumes with what it kept", async () => {
  const server = await ServerPlace.start();
  const first = await ClientPlace.connect(server, 1);
  await first.write("a", "1");
  await first.live();
  const resume = first.channel.server.bytes();
  first.close();
  const again = await ClientPlace.connect(server, 1, {
    place: first.place,
    resume,
  });
  assert.equal(again.channel.status.unsent.commits, 0);
  await server.place.write("s", "new");
  await settled(server, again);
  const junk = await ClientPlace.connect(server, 2, {
    resume: new Uint8Array(50).fill(9),
  });
  await settled(server, junk);
  await end(server, again, junk);
});

Deno.test("who leaves right after an acknowledgement is not sent its own commits again", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  for (let i = 0; i < 3; i++) {
    const place = await ann.write(`long-${i}`, "x".repeat(8_000));
    await ann.synced(place);
    const { cursor, uploadedTo } = decodeResume(ann.channel.server.bytes());
    assert.equal(cursor?.position, server.place.replica.port().shareable);
    assert.equal(uploadedTo, ann.place.replica.port().shareable);
  }
  await end(server, ann);
});

Deno.test("waits grow, are capped, and start anew after a live connection", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  server.isDown = true;
  const ann = await ClientPlace.connect(server, 1);
  const waits: number[] = [];
  for (let i = 0; i < 10; i++) {
    await until(world, () => ann.client.status.state === "offline");
    const { retryAt, attempts } = ann.client.status;
    assert.equal(attempts, i + 1);
    waits.push(retryAt!.getTime() - world.now());
    world.advance(limits.backoffMsMax);
    await turns();
  }
  for (const [i, wait] of waits.entries()) {
    const cap = Math.min(limits.backoffMsMax, limits.backoffMsMin * 2 ** i);
    assert.ok(wait <= cap && wait >= cap / 2 - 20, `${wait} of ${cap}`);
  }
  server.isDown = false;
  ann.client.retryNow();
  await ann.live();
  assert.ok(server.attempts <= 13);
  server.isDown = true;
  server.cut();
  await until(world, () => ann.client.status.state === "offline");
  const wait = ann.client.status.retryAt!.getTime() - world.now();
  assert.ok(wait <= limits.backoffMsMin);
  await end(server, ann);
});

Deno.test("goodbye's wait is respected when the network comes back, not when somebody asks", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  let online = () => {};
  const { connector } = server;
  const ann = await ClientPlace.connect(server, 1, {
    connector: {
      ...connector,
      onNetwork(tell) {
        online = () => tell(true);
        return () => online = () => {};
      },
    },
  });
  await ann.live();
  server.isDown = true;
  server.cut();
  await until(world, () => ann.client.status.state === "offline");
  server.isDown = false;
  const before = world.now();
  online();
  await ann.live();
  assert.ok(world.now() - before < limits.backoffMsMin);
  await server.restart(60_000);
  await until(world, () => ann.client.status.state === "offline");
  assert.equal(ann.client.status.reason?.code, "shutting-down");
  const { attempts } = server;
  online();
  await turns();
  assert.equal(server.attempts, attempts);
  assert.ok(ann.client.status.retryAt!.getTime() - world.now() > 50_000);
  ann.client.retryNow();
  await ann.live();
  await end(server, ann);
});

Deno.test("synced resolves when the server has a commit, also when it has had it for long", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  const first = await ann.write("a", "1");
  const arrives = ann.synced(first);
  await until(server.world, () => server.place.text("a") === "1");
  await ann.live();
  await arrives;
  await ann.synced(first);
  await end(server, ann);
});

Deno.test("synced resolves for who goes on from a cursor with what another connection had sent", async () => {
  const server = await ServerPlace.start();
  const first = await ClientPlace.connect(server, 1);
  await first.live();
  const written = await first.write("a", "1");
  await server.place.write("s", "behind it");
  await settled(server, first);
  const resume = first.channel.server.bytes();
  first.close();
  const { place } = first;
  const again = await ClientPlace.connect(server, 1, { place, resume });
  await again.synced(written);
  equalCounts(again, server);
  await end(server, again);
});

Deno.test("a refused commit is undone and said, and what came after it arrives", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  let refusals = 0;
  server.gate = (_peer, _name, batch) =>
    refusals++ === 0
      ? { refused: "bad-clock", detail: `${batch.commits.length}` }
      : undefined;
  const places: Position[] = [];
  places.push(await ann.write("bad", "x"));
  const failure = ann.synced(places[0]!).catch((error) => error);
  await until(server.world, () => refusals > 0);
  places.push(await ann.write("good", "y"));
  await ann.synced(places[1]!);
  assert.match((await failure).message, /bad-clock/);
  await settled(server, ann);
  assert.equal(ann.place.text("bad"), undefined);
  assert.equal(server.place.text("good"), "y");
  await end(server, ann);
});

Deno.test("a repository that may not be read is refused alone, and answers as one that is not there", async () => {
  const server = await ServerPlace.start();
  server.access = { declined: { code: "forbidden", detail: "no" } };
  const ann = await ClientPlace.connect(server, 1);
  await until(server.world, () => ann.channel.status.state === "refused");
  assert.equal(ann.channel.status.reason?.code, "forbidden");
  assert.equal(ann.client.status.state, "ready");
  assert.equal(server.opened, 0);
  server.access = { rights: rights.read | rights.write };
  ann.client.retryNow();
  await ann.live();
  await end(server, ann);
});

Deno.test("a right that ends is asked before each frame, and a client hears what was taken of it first", async () => {
  const server = await ServerPlace.start();
  const given = { rights: rights.read | rights.write };
  const over = { code: "forbidden", detail: "removed" };
  let isRemoved = false;
  const ended = () => isRemoved ? over : undefined;
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  server.access = { ...given, ended };
  const bob = await ClientPlace.connect(server, 2);
  await bob.live();
  await ann.write("before", "x");
  await settled(server, ann, bob);
  server.gate = () => {
    isRemoved = true; // It ends with what comes next.
    return undefined;
  };
  const leaving = bob.synced(await bob.write("leave", "x"));
  await until(server.world, () => bob.channel.status.state === "refused");
  await leaving;
  assert.equal(bob.channel.status.reason?.code, "forbidden");
  await ann.synced(await ann.write("after", "x"));
  await settled(server, ann);
  assert.equal(server.place.text("leave"), "x");
  assert.equal(bob.place.text("before"), "x");
  assert.equal(bob.place.text("after"), undefined);
  await end(server, ann, bob);
});

Deno.test("audit() is for a channel that is live, and is refused at once on any other", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  const unreachable = { code: "unreachable" };
  await assert.rejects(ann.channel.audit(), unreachable, "no connection yet");
  await ann.live();
  assert.equal((await ann.channel.audit()).equal, true);
  server.access = { declined: { code: "forbidden", detail: "no" } };
  await server.host.reauthorize(() => true);
  await until(server.world, () => ann.channel.status.state === "refused");
  assert.equal(ann.client.status.state, "ready", "the connection lives");
  await assert.rejects(ann.channel.audit(), unreachable, "no channel");
  await end(server, ann);
});

/** As it is in a page, until somebody audits. */
function forgetAudit(): void {
  lateAudit.provide(undefined);
  lateStateTree.provide(undefined);
}

Deno.test("audit() loads what it takes, in the middle of a conversation", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  await ann.synced(await ann.write("a", "x"));
  forgetAudit();
  const first = ann.channel.audit();
  const second = ann.channel.audit();
  assert.equal(lateAudit.isLoaded, false);
  assert.deepEqual(await first, await second);
  assert.equal((await first).equal, true);
  await ann.synced(await ann.write("b", "y"));
  assert.equal((await ann.channel.audit()).equal, true);
  forgetAudit();
  const late = assert.rejects(ann.channel.audit(), { code: "unreachable" });
  ann.close(); // While it is loaded.
  await late;
  await end(server, ann);
});

Deno.test("who meets a difference before it can audit names it on its next connection", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  await ann.synced(await ann.write("a", "x"));
  await until(server.world, () => ann.channel.status.equalAt !== undefined);
  const { cursor, genesisId } = decodeResume(ann.channel.server.bytes());
  const resume = encodeResume({ ...emptyResume(genesisId), cursor });
  forgetAudit();
  const bob = await ClientPlace.connect(server, 2, { resume });
  const kinds = () => bob.channel.status.incidents.map(({ kind }) => kind);
  await until(server.world, () => kinds().includes("desync"));
  assert.ok(lateAudit.isLoaded);
  await until(server.world, () => bob.place.text("a") === "x");
  await settled(server, ann, bob);
  await end(server, ann, bob);
});

Deno.test("a host says which channels it opened and declined, and why", async () => {
  const server = await ServerPlace.start();
  server.access = { declined: { code: "unavailable", detail: "later" } };
  const ann = await ClientPlace.connect(server, 1);
  await until(server.world, () => ann.channel.status.state === "refused");
  server.access = { rights: rights.read | rights.write };
  await ann.live();
  server.access = { declined: { code: "forbidden", detail: "no" } };
  await server.host.reauthorize(() => true);
  await until(server.world, () => ann.channel.status.state === "refused");
  const told = server.events.flatMap((event) => {
    if (event.kind === "opened") return [event.name];
    return event.kind === "declined" ? [`${event.name} ${event.code}`] : [];
  });
  assert.deepEqual(told, ["place unavailable", "place", "place forbidden"]);
  await end(server, ann);
});

Deno.test("a repository that is not there does not disturb the others", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  const port = ann.place.replica.port();
  const other = ann.client.add(
    withAnswers(port, { name: parseRepositoryName("other") }),
  );
  await until(server.world, () => other.status.state === "refused");
  assert.deepEqual(other.status.reason, {
    code: "forbidden",
    message: "This session may not read it, or there is none",
  });
  await ann.write("a", "1");
  await settled(server, ann);
  assert.ok(ann.states.every((state) => state !== "refused"));
  await end(server, ann);
});

Deno.test("what passes by itself is opened again on the same connection", async () => {
  const server = await ServerPlace.start();
  server.access = { declined: { code: "unavailable", detail: "later" } };
  const ann = await ClientPlace.connect(server, 1);
  await until(server.world, () => ann.channel.status.state === "refused");
  server.access = { rights: rights.read | rights.write };
  await ann.live();
  assert.equal(server.attempts, 1);
  await end(server, ann);
});

Deno.test("garbage ends its own connection with a code, and no other", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  const ends: string[] = [];
  const random = new Uint8Array(64);
  for (let i = 0; i < 200; i++) {
    const transport = await server.connector.connect(
      new AbortController().signal,
    );
    transport.listen({ frame() {}, ended: ({ code }) => ends.push(code) });
    world.random(random);
    transport.send(random.slice(0, 1 + i % 64));
    await turns();
  }
  await until(world, () => ends.length === 200);
  for (const code of ends) assert.match(code, /bad-|wrong-version|too-large/);
  assert.equal(server.peers, 1);
  await ann.write("a", "1");
  await settled(server, ann);
  await end(server, ann);
});

Deno.test("who proves nothing is closed in time", async () => {
  const server = await ServerPlace.start();
  const transport = await server.connector.connect(
    new AbortController().signal,
  );
  const ends: string[] = [];
  transport.listen({ frame() {}, ended: ({ code }) => ends.push(code) });
  await until(
    server.world,
    () => ends.length === 1,
    2 * limits.proveMsMax,
    500,
  );
  assert.deepEqual(ends, ["timeout"]);
  await server.stop();
});

Deno.test("a silent wire is noticed by both sides, and replaced", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  const [wire] = server.wires;
  wire!.hold(0);
  wire!.hold(1);
  await until(
    world,
    () => ann.client.status.state === "offline",
    5 * limits.heartbeatMs,
    500,
  );
  assert.equal(ann.client.status.reason?.code, "timeout");
  await ann.write("a", "1");
  await settled(server, ann);
  await end(server, ann);
});

/** A client that writes over a wire on which nothing moves any more. */
async function silenced() {
  const server = await ServerPlace.start();
  let tell = (_isThere: boolean) => {};
  const connector: Connector = {
    ...server.connector,
    onNetwork(hear) {
      tell = hear;
      return () => {};
    },
  };
  const ann = await ClientPlace.connect(server, 1, { connector });
  await ann.live();
  const lanes = [0, 1] as const;
  const each = (act: "hold" | "release") => {
    for (const lane of lanes) server.wires.at(-1)![act](lane);
  };
  return {
    server,
    ann,
    tell: (isThere: boolean) => tell(isThere),
    hold: () => each("hold"),
    release: () => each("release"),
    isOffline: (ms: number) =>
      until(
        server.world,
        () => ann.channel.status.state === "offline",
        ms,
        50,
      ),
  };
}

Deno.test("a server that does not answer a write is shown within 2 s, and found again on the same wire", async () => {
  const { server, ann, hold, release, isOffline } = await silenced();
  hold();
  const place = await ann.write("a", "1");
  await isOffline(2_000);
  assert.equal(ann.channel.status.reason?.code, "timeout");
  assert.equal(ann.channel.status.unsent.commits, 1);
  release();
  await ann.synced(place);
  assert.equal(ann.channel.status.state, "live");
  assert.equal(server.attempts, 1);
  await end(server, ann);
});

Deno.test("a wire that stays silent under a write is replaced, at once where somebody asks", async () => {
  for (const isAsked of [false, true]) {
    const { server, ann, hold, isOffline } = await silenced();
    hold();
    await ann.write("a", "1");
    await isOffline(2_000);
    const silentMs = server.world.monotonic();
    if (isAsked) ann.client.retryNow();
    await ann.live();
    const tookMs = server.world.monotonic() - silentMs;
    assert.equal(tookMs < 1_000, isAsked);
    assert.ok(tookMs < limits.answerMsMax + limits.backoffMsMin);
    assert.equal(server.attempts, 2);
    await end(server, ann);
  }
});

Deno.test("who hears that the network is gone is offline at once; that it came, asks the server", async () => {
  const { server, ann, hold, tell, isOffline } = await silenced();
  tell(false);
  assert.equal(ann.channel.status.state, "offline");
  tell(true);
  await ann.live();
  assert.equal(server.attempts, 2);
  tell(true);
  await until(server.world, () => false, 2_000).catch(() => {});
  assert.equal(ann.channel.status.state, "live");
  hold();
  tell(true);
  await isOffline(1_000);
  tell(true);
  await ann.live();
  assert.equal(server.attempts, 3);
  await end(server, ann);
});

Deno.test("replicas converge over slow wires that go away at any moment", async () => {
  for (const seed of [1, 2, 3]) {
    const world = new ManualWorld(seed);
    const dice = () => {
      const byte = new Uint8Array(1);
      world.random(byte);
      return byte[0]!;
    };
    const server = await ServerPlace.start(world, (deliver) => {
      world.after(dice(), deliver);
    });
    const clients: ClientPlace[] = [];
    for (let i = 1; i <= 4; i++) {
      clients.push(await ClientPlace.connect(server, i));
    }
    for (let round = 0; round < 40; round++) {
      const client = clients[dice() % clients.length]!;
      await client.write(`n${dice() % 20}`, `${seed} ${round}`);
      world.advance(dice());
      await turns();
      if (dice() < 40) server.cut();
    }
    await settled(server, ...clients);
    const texts = (place: Place) =>
      Array.from({ length: 20 }, (_, i) => place.text(`n${i}`));
    for (const { place } of clients) {
      assert.deepEqual(texts(place), texts(server.place));
    }
    await end(server, ...clients);
  }
});

Deno.test("a revoked session is disconnected, and gets no more than leave to hand in", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  const ben = await ClientPlace.connect(server, 2);
  await ann.live();
  await ben.live();
  server.access = { rights: rights.write };
  const key = proverOf(ann.place.replica.session).publicKey;
  const count = server.host.disconnect(
    ({ session }) => session?.key.every((byte, i) => byte === key[i]) ?? false,
    "forbidden",
    "The session was revoked",
  );
  assert.equal(count, 1);
  await until(server.world, () => ann.channel.status.state === "refused");
  assert.equal(ann.channel.status.reason?.code, "forbidden");
  await server.place.write("secret", "x");
  await settled(server, ben);
  assert.equal(ann.place.text("secret"), undefined);
  await end(server, ann, ben);
});

Deno.test("a session that runs out while it is connected logs in anew, and goes on", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  const bare = sessionOf(1);
  const asked: boolean[] = [];
  const ann = await ClientPlace.connect(server, 1, {
    prover(renew) {
      asked.push(renew);
      const notAfter = world.now() + 30_000;
      const certificate = certificateFor(bare, undefined, false, notAfter);
      return proverOf({ ...bare, certificate });
    },
  });
  await ann.live();
  await until(world, () => asked.length === 2, 60_000, 500);
  await ann.write("a", "1");
  await settled(server, ann);
  assert.deepEqual(asked, [false, true]);
  await end(server, ann);
});

Deno.test("a client whose key signs later proves itself, and sends what it sealed", async () => {
  const server = await ServerPlace.start();
  const late = lateSession(sessionOf(1));
  const { world } = server;
  const place = await Place.open({ seed: 1, world, session: late.session });
  const ann = await ClientPlace.connect(server, 1, {
    place,
    prover: () => ({
      ...late.session.signer,
      certificates: [late.session.certificate!],
    }),
  });
  await until(world, () => late.waiting.length === 1);
  assert.equal(ann.channel.status.state, "connecting");
  late.signOne();
  await ann.live();
  const write = ann.write("a", "1");
  await until(world, () => late.waiting.length === 1);
  assert.equal(server.place.text("a"), undefined);
  late.signOne();
  await write;
  await settled(server, ann);
  assert.equal(server.place.text("a"), "1");
  await end(server, ann);
});

Deno.test("rights that change are judged anew on open channels", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  server.access = { rights: rights.write };
  await server.host.reauthorize(() => true);
  await until(
    server.world,
    () => ann.channel.status.reason?.code === "forbidden",
  );
  server.access = { declined: { code: "forbidden", detail: "secret why" } };
  await server.host.reauthorize(() => true);
  await until(
    server.world,
    () =>
      ann.channel.status.reason?.message.includes("or there is none") === true,
  );
  server.access = { rights: rights.read | rights.write };
  ann.client.retryNow();
  await ann.live();
  await end(server, ann);
});

Deno.test("credit that a quota holds back slows its client down, and nothing is lost", async () => {
  let granted = 0;
  const server = await ServerPlace.start(undefined, undefined, {
    creditDelay: (_peer, bytes) => {
      granted += bytes;
      return 200;
    },
  });
  const { world } = server;
  const ann = await ClientPlace.connect(server, 1);
  await ann.live();
  const text = "x".repeat(200_000);
  for (let i = 0; i < 12; i++) await ann.write(`n${i}`, text);
  const before = world.now();
  await settled(server, ann);
  assert.ok(world.now() - before >= 400, `${world.now() - before} ms`);
  assert.ok(granted >= 12 * 200_000);
  await end(server, ann);
});

Deno.test("presence reaches the others, survives a reconnect, and goes with its client", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  const ann = await ClientPlace.connect(server, 1);
  const ben = await ClientPlace.connect(server, 2);
  ann.channel.present(Uint8Array.of(1, 2));
  const shows = () =>
    ben.channel.others.map(({ user, bytes }) => `${user} ${[...bytes]}`);
  await until(world, () => shows().length === 1);
  assert.deepEqual(shows(), ["user-1 1,2"]);
  assert.equal(ben.channel.others, ben.channel.others);
  server.cut();
  await until(world, () => ben.channel.others.length === 0);
  await until(world, () => shows().length === 1);
  ann.close();
  await until(world, () => ben.channel.others.length === 0);
  await end(server, ann, ben);
});

Deno.test("presence may be as large as the limit, and no larger", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  const ben = await ClientPlace.connect(server, 2);
  await ann.live();
  await ben.live();
  const bytes = new Uint8Array(limits.presenceBytesMax).fill(7);
  ann.channel.present(bytes);
  await until(server.world, () => ben.channel.others.length === 1);
  assert.deepEqual(ben.channel.others[0]!.bytes, bytes);
  assert.throws(() => ann.channel.present(new Uint8Array(bytes.length + 1)), {
    code: "value-too-large",
  });
  assert.equal(ben.client.status.state, "ready");
  assert.equal(server.attempts, 2, "no connection was lost");
  await end(server, ann, ben);
});

Deno.test("a peer that does not read is closed, and the others do not wait for it", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  const slow = await ClientPlace.connect(server, 1);
  const ann = await ClientPlace.connect(server, 2);
  await slow.live();
  await ann.live();
  server.wires[0]!.hold(1);
  const text = "x".repeat(100_000);
  for (let i = 0; i < 20; i++) await ann.write(`n${i}`, text);
  await settled(server, ann);
  const ends = () => server.events.filter(({ kind }) => kind === "ended");
  await until(world, () => ends().length > 0, 120_000, 500);
  const [over] = ends();
  assert.ok(over?.kind === "ended");
  assert.match(over.end.code, /too-slow|timeout/);
  await settled(server, ann, slow);
  await end(server, ann, slow);
});

Deno.test("a certificate that is not taken is had anew once, then shown", async () => {
  const server = await ServerPlace.start();
  const { world } = server;
  const place = await Place.open({ seed: 1, world, session: sessionOf(1) });
  const { SyncClient } = await import("./client.ts");
  const asked: boolean[] = [];
  const stranger = proverOf({
    ...sessionOf(2),
    certificate: new Uint8Array(10),
  });
  const client = new SyncClient({
    connector: server.connector,
    world,
    rootKey: place.replica.port().rootKey,
    prover(renew) {
      asked.push(renew);
      return Promise.resolve(stranger);
    },
  });
  await until(world, () => client.status.state === "refused");
  assert.deepEqual(asked, [false, true]);
  assert.equal(client.status.reason?.code, "bad-certificate");
  world.advance(10 * limits.backoffMsMax);
  await turns();
  assert.deepEqual(asked, [false, true]);
  client.retryNow();
  await turns();
  assert.equal(asked.length, 3);
  client.close();
  await server.stop();
});

Deno.test("a login that fails is shown and tried again later and later", async () => {
  const world = new ManualWorld();
  const { SyncClient } = await import("./client.ts");
  const { DatabaseError } = await import("../src/base/errors.ts");
  let asked = 0;
  const client = new SyncClient({
    connector: { address: "none", connect: () => Promise.reject("never") },
    world,
    rootKey: new Uint8Array(32),
    prover() {
      asked++;
      return Promise.reject(new DatabaseError("login-failed", "No"));
    },
  });
  await until(world, () => client.status.state === "offline");
  assert.deepEqual(client.status.reason, {
    code: "login-failed",
    message: "No",
  });
  for (let i = 0; i < 6_000; i++) {
    world.advance(10);
    if (i % 10 === 0) await turns(5);
  }
  assert.ok(asked >= 4 && asked <= 10, `${asked} times in a minute`);
  client.close();
  assert.equal(world.timers, 0);
});

Deno.test("credentials go to nobody who has them: neither a client's own up, nor a received one back", async () => {
  const server = await ServerPlace.start();
  const ann = await ClientPlace.connect(server, 1);
  const ben = await ClientPlace.connect(server, 2);
  await ann.write("a", "1");
  await ben.write("b", "1");
  await settled(server, ann, ben);
  const judged = server.events.flatMap((event) =>
    event.kind === "received" ? event.judged : []
  );
  const kinds = new Set(judged.map(({ arrival }) => arrival.kind));
  assert.deepEqual([...kinds], [recordKind.signedBatch]);
  await end(server, ann, ben);
});
