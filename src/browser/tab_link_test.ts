import assert from "node:assert/strict";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { type Envelope, type OwnerMessage, TABS_VERSION } from "./messages.ts";
import type { Wire } from "./route.ts";
import { type OwnerSight, TabLink } from "./tab_link.ts";

const bytes = new Uint8Array(32);
const welcome: OwnerMessage = {
  kind: "welcome",
  rootKey: bytes,
  mode: "default",
  session: { user: "ann", publicKey: bytes, key: bytes, others: [] },
  report: {
    kind: "database",
    storage: {
      backend: "memory",
      persisted: false,
      usedBytes: 0,
      isNearlyFull: false,
      unsyncedBytes: 0,
      open: [],
      incidents: [],
    },
    repositories: [],
    tabs: [],
  },
};

/** A tab that always waits for an owner, which nobody sees. */
class Place {
  now = 1_000;
  term = 7;
  sight: OwnerSight = "hidden";
  readonly said: string[] = [];
  readonly link: TabLink;
  #timers: { at: number; task: () => void }[] = [];
  #hear: (event: Event) => void = () => {};

  constructor() {
    const world: World = {
      now: () => this.now,
      monotonic: () => this.now,
      random: () => {},
      after: (delayMs, task) => {
        const timer = { at: this.now + delayMs, task };
        this.#timers.push(timer);
        return () => this.#timers = this.#timers.filter((one) => one !== timer);
      },
    };
    const hello = { wishes: { user: "ann" }, isHidden: false, chains: [] };
    this.link = new TabLink({
      name: "played",
      id: "t1",
      near: this.#wire(),
      far: this.#wire((listener) => this.#hear = listener),
      world,
      hello: () => ({ kind: "hello", ...hello }),
      welcomed: () => {},
      hear: () => {},
      rejected: (why) => assert.fail(why),
      otherVersion: () => assert.fail("it is this build"),
      isJoined: () => true,
      isWaiting: () => true,
      lookAtOwner: () => Promise.resolve(this.sight),
    });
    this.link.start();
    this.owner({ kind: "announce" });
    this.owner(welcome);
    assert.equal(this.link.isWelcome, true);
  }

  #wire(listens: (listener: (event: Event) => void) => void = () => {}): Wire {
    return {
      postMessage: (envelope) =>
        void this.said.push((envelope as Envelope).message.kind),
      addEventListener: (_type, listener) => listens(listener),
      removeEventListener: () => {},
    };
  }

  /** The owner says something. */
  owner(message: OwnerMessage): void {
    const to = message.kind === "announce" ? undefined : "t1";
    const from = `o${this.term}`;
    const data = { sheaf: TABS_VERSION, from, to, term: this.term, message };
    this.#hear({ data } as MessageEvent);
  }

  /** Time goes by. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    while (this.now < end) {
      this.now++;
      const due = this.#timers.filter(({ at }) => at <= this.now);
      this.#timers = this.#timers.filter(({ at }) => at > this.now);
      for (const { task } of due) task();
      await Promise.resolve();
    }
  }

  /** Is asked something that takes it so long. */
  async answers(tookMs: number): Promise<void> {
    this.link.post({
      kind: "write",
      repository: "board",
      seq: 1,
      records: [],
    });
    await this.pass(tookMs);
    this.owner({ kind: "acknowledged", repository: "board", seq: 1 });
  }

  /** How long a silent owner is left in place, at most `msMax`. */
  async patience(msMax = 20_000): Promise<number> {
    const began = this.now;
    while (!this.said.includes("steal") && this.now < began + msMax) {
      await this.pass(1);
    }
    return this.now - began;
  }
}

/** Silence after which an owner is replaced that answers soon. */
const soonMs = limits.tabSilenceMsMax + limits.tabPingMs;

Deno.test("TabLink replaces a silent owner that nobody sees within three looks", async () => {
  const place = new Place();
  await place.answers(1);
  const ms = await place.patience();
  assert.ok(ms >= limits.tabSilenceMsMax && ms <= soonMs, `${ms}`);
});

Deno.test("TabLink leaves an owner in place that answers late, as on a busy machine", async () => {
  const place = new Place();
  for (const tookMs of [40, 110, 1, 170, 1, 250, 390]) {
    await place.answers(tookMs);
    assert.equal(place.said.includes("steal"), false, `${tookMs} ms`);
  }
  const ms = await place.patience();
  assert.ok(ms > 390 && ms < 450, `${ms}`);
});

Deno.test("TabLink sees in answers to its pings, too, how busy its owner is", async () => {
  const place = new Place();
  await place.answers(1);
  await place.pass(2 * limits.tabPingMs + 10);
  assert.ok(place.said.includes("ping"));
  place.owner({ kind: "pong", ping: 1 });
  const ms = await place.patience();
  assert.ok(ms > 110 && ms < 180, `${ms}`);
});

Deno.test("TabLink forgets how slow its owner was when that has answered soon for a while", async () => {
  const place = new Place();
  for (const tookMs of [45, 110]) await place.answers(tookMs);
  for (let i = 0; i < 100; i++) await place.answers(1);
  const ms = await place.patience();
  assert.ok(ms <= soonMs, `${ms}`);
});

Deno.test("TabLink gives an owner time that it does not know, or that opens a repository", async () => {
  const place = new Place();
  assert.ok(await place.patience() > 1.5 * soonMs);
  const known = new Place();
  await known.answers(1);
  known.link.post({ kind: "open", call: 1, repository: "board" });
  assert.ok(await known.patience() > 1.5 * soonMs);
});

Deno.test("TabLink does not take its page's own standstill for its owner's", async () => {
  const place = new Place();
  await place.answers(1);
  await place.pass(limits.tabPingMs);
  place.now += 5_000; // Its page was frozen.
  await place.pass(2);
  assert.equal(place.said.includes("steal"), false);
  place.owner({ kind: "pong", ping: 1 });
});

Deno.test("TabLink does not hold against an owner what the one before left unanswered", async () => {
  const place = new Place();
  await place.answers(1);
  place.link.post({ kind: "write", repository: "board", seq: 2, records: [] });
  await place.pass(50);
  place.term++;
  place.owner({ kind: "announce" });
  place.owner(welcome);
  place.owner({ kind: "pong", ping: 1 });
  await place.answers(1);
  const ms = await place.patience();
  assert.ok(ms <= soonMs, `${ms}`);
});

for (const sight of ["seen", "none", "own"] as const) {
  Deno.test(`TabLink waits five seconds for an owner that may begin or go on, and for ever for its own: ${sight}`, async () => {
    const place = new Place();
    await place.answers(1);
    place.sight = sight;
    const ms = await place.patience();
    if (sight === "own") return assert.equal(ms, 20_000);
    assert.ok(ms >= 4_990 && ms < 5_050, `${ms}`);
  });
}
