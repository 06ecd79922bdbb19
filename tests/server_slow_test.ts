/** Peers of a real server that are slow, stop in the middle, or never read. */

import { equal, ok } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { type DiskCalls, diskCalls } from "../src/storage/disk_calls.ts";
import { diskStorageOver } from "../src/storage/disk_storage.ts";
import { forge } from "./kit/forge.ts";
import { until } from "./kit/patience.ts";
import {
  genesisOf,
  openMessage,
  RawPeer,
  rawSession,
  ROOT_SECRET,
} from "./raw_peer.ts";
import { frameOf, RawWire, upgradeText } from "./raw_wire.ts";
import { clientOf, hasNote } from "./server_clients.ts";
import { ANN, BOB, type Place, withServer } from "./server_place.ts";

const REPOSITORY = "team/a";
const SESSIONS = 4;
const options = { rootSecret: ROOT_SECRET };

async function sentBytes({ ask }: Place): Promise<number> {
  const text = await (await ask("/metrics")).text();
  return Number(/^sheaf_sent_bytes_total (\d+)$/m.exec(text)?.[1]);
}

/** Resolves when nothing more is sent from one question to the next, many times; the bytes sent until then. */
async function quietBytes(place: Place, least = 0): Promise<number> {
  let before = 0;
  await until(
    async () => (before = await sentBytes(place)) >= least,
    () => `${least} bytes are sent, so far ${before}`,
  );
  for (let quiet = 0; quiet < 50;) {
    const now = await sentBytes(place);
    quiet = now === before ? quiet + 1 : 0;
    before = now;
  }
  return before;
}

Deno.test("slow: halves of requests and frames cost their places, which come back", () =>
  withServer(
    { ...options, quotas: { unprovedPerAddress: 8 } },
    async (place) => {
      await using ann = await clientOf(place.server, { token: ANN });
      await ann.repo.sync.ready;
      const { hostname, port } = new URL(place.server.url);
      const halves: Disposable[] = [];
      const half = upgradeText(place.server).slice(0, 60);
      for (let i = 0; i < 20; i++) {
        const tcp = await Deno.connect({ hostname, port: Number(port) });
        await tcp.write(new TextEncoder().encode(half));
        halves.push({ [Symbol.dispose]: () => tcp.close() });
      }
      const large = frameOf(new Uint8Array(1_000_000));
      for (let i = 0; i < 8; i++) {
        const wire = await RawWire.open(place.server);
        await wire.hear();
        await wire.write(large.subarray(0, 300_000));
        halves.push(wire);
      }
      equal(place.server.status().connections, 9);
      const ninth = await RawPeer.greeted(place.server).then(
        () => "in",
        () => "out",
      );
      equal(ninth, "out");
      await ann.notes.create({ text: "meanwhile" }).synced;
      for (const one of halves) {
        one[Symbol.dispose]();
      }
      await until(
        () => place.server.status().connections === 1,
        "one connection is left",
      );
      await using _tenth = await RawPeer.greeted(place.server);
      equal(place.records.filter(({ level }) => level === "error").length, 0);
    },
  ));

Deno.test("slow: a peer that never reads is sent a window and no more, however much it asks for", () =>
  withServer(options, async (place) => {
    const { server } = place;
    await using ann = await clientOf(server, { token: ANN });
    await ann.repo.sync.ready;
    const text = "x".repeat(250_000);
    const writes = Array.from({ length: 24 }, () => ann.notes.create({ text }));
    await Promise.all(writes.map(({ synced }) => synced));
    const before = await quietBytes(place);
    const wires: RawWire[] = [];
    for (let i = 0; i < 8; i++) {
      const wire = await RawWire.open(server);
      await wire.prove();
      await wire.send(openMessage(server, 1, REPOSITORY));
      wires.push(wire);
    }
    const least = wires.length * limits.windowBytes / 2;
    const sent = await quietBytes(place, before + least) - before;
    const most = wires.length * (limits.windowBytes + 64 * 1024);
    ok(sent <= most, `${sent} bytes were sent`);
    await ann.notes.create({ text: "meanwhile" }).synced;
    for (const wire of wires) wire[Symbol.dispose]();
    await until(
      () => server.status().connections === 1,
      "one connection is left",
    );
  }));

Deno.test("slow: a peer that asks for large answers and reads none gets few of them", () =>
  withServer(options, async (place) => {
    const { server } = place;
    await using ann = await clientOf(server, { token: ANN });
    await ann.repo.sync.ready;
    // Many chains make a large vector: a summary of 78 KB, 400 times.
    const genesisId = genesisOf(server, REPOSITORY);
    for (let i = 0; i < SESSIONS; i++) {
      const session = rawSession();
      await using peer = await RawPeer.opened(server, REPOSITORY, session);
      const one = { session, genesisId, wall: Date.now() };
      for (let j = 0; j < 250; j += 50) {
        peer.records(
          ...Array.from(
            { length: 50 },
            (_, k) => forge({ ...one, incarnation: j + k }),
          ),
        );
        await peer.hear("ack");
      }
    }
    const before = await quietBytes(place);
    using wire = await RawWire.open(server);
    await wire.prove();
    await wire.send(openMessage(server, 1, REPOSITORY));
    await quietBytes(place);
    const ask = { is: "audit", channel: 1, query: { ask: "summary" } } as const;
    for (let question = 1; question <= 400; question++) {
      await wire.send({ ...ask, question });
    }
    const told = () => place.records.find(({ kind }) => kind === "too-slow");
    await until(
      () => told() !== undefined,
      "the log tells that it is too slow",
    );
    const sent = await quietBytes(place) - before;
    // The system's own buffers take some megabytes before anything waits here.
    ok(sent > limits.servedBytesMax, `${sent} bytes were sent`);
    ok(sent < 16 * 1024 * 1024, `${sent} bytes were sent`);
    await ann.notes.create({ text: "meanwhile" }).synced;
  }));

/** A disk that takes 5 ms a sync, and as long as it is told to where one is held. */
class SlowDisk {
  readonly path: string = Deno.makeTempDirSync();
  /** Syncs that held up the thread. */
  blocking = 0;
  #held: (() => void)[] | undefined;

  get storage() {
    const real = diskCalls()!;
    const calls: DiskCalls = {
      ...real,
      fdatasyncSync: () => {
        this.blocking++;
        const end = performance.now() + 5;
        while (performance.now() < end);
      },
      fdatasync: (_file, done) => {
        const end = () => done(null);
        if (this.#held === undefined) setTimeout(end, 5);
        else this.#held.push(end);
      },
    };
    return diskStorageOver(calls, this.path);
  }

  /** How many syncs are held. */
  get held(): number {
    return this.#held?.length ?? 0;
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    for (const end of this.#held ?? []) end();
    this.#held = undefined;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

Deno.test("slow: nobody waits for the flush of somebody else, in whichever repository", async () => {
  using disk = new SlowDisk();
  await withServer(
    { ...options, storage: disk.storage },
    async ({ server }) => {
      const { blocking } = disk;
      await using ann = await clientOf(server, { token: ANN });
      await using bob = await clientOf(server, { token: BOB });
      for (let i = 0; i < 5; i++) {
        const repository = `team/new-${i}`;
        await using one = await clientOf(server, { token: ANN, repository });
        await one.notes.create({ text: "1" }).synced;
        await ann.notes.create({ text: `${i}` }).synced;
      }
      await hasNote(bob, "4");
      equal(disk.blocking, blocking, "no flush has held up the thread");

      await using peer = await RawPeer.opened(server, REPOSITORY);
      disk.hold();
      const late = ann.notes.create({ text: "held" });
      await until(() => disk.held > 0, () => "a flush is under way");
      peer.send({ is: "ping", token: 7 });
      equal((await peer.hear("pong")).token, 7);
      // Reading goes on in this repository and in others, for who comes anew, too.
      await using reader = await RawPeer.opened(server, REPOSITORY);
      await reader.hear("live");
      await using other = await RawPeer.opened(server, "team/new-0");
      await other.hear("live");
      disk.release();
      await late.synced;
      await hasNote(bob, "held");
    },
  );
});
