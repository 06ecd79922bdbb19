import assert from "node:assert/strict";
import { defineSchema, field, type Repository } from "../mod.ts";
import { eachSeed, seedsOf } from "./kit/commit_seed.ts";
import { pause, trips, until } from "./kit/patience.ts";
import { Origin } from "./kit/origin.ts";
import { Tab } from "./kit/tab_place.ts";
import { isTried, sized } from "./kit/tier.ts";

const Card = defineSchema("card", {
  title: field.string(),
  votes: field.counter(),
});
const schemas = [Card];
const MODES = ["default", "trusted", "fast"] as const;

/** Titles and votes of all cards. */
function cardsOf(repository: Repository): Map<string, number> {
  const cards = repository.collection(Card).all();
  const titles = new Map(cards.map(({ title, votes }) => [title, votes]));
  assert.equal(titles.size, cards.length, "no card is there twice");
  return titles;
}

function isSame(a: Map<string, number>, b: Map<string, number>): boolean {
  return a.size === b.size && [...a].every(([title, n]) => b.get(title) === n);
}

for (const mode of MODES) {
  Deno.test(`tabs see what the others write, before they could ask, in ${mode} mode`, async () => {
    const origin = new Origin();
    await using one = new Tab(origin, { schemas, mode });
    const a = (await one.repository()).collection(Card);
    await using two = new Tab(origin, { schemas, mode });
    const b = (await two.repository()).collection(Card);
    const { id } = await a.create({ title: "first" });
    await until(() => b.get(id)?.title === "first", "the other tab sees it");
    const { id: back } = await b.create({ title: "second" });
    await until(() => a.get(back)?.title === "second", "and the way back");
    assert.equal((await one.opening).tabs.status.role, "owner");
    assert.equal((await two.opening).tabs.status.role, "follower");
    assert.equal((await one.repository()).mode, mode);
  });

  Deno.test(`no write is lost or doubled when the owner dies between any two messages, in ${mode} mode`, async () => {
    for (let after = 1; after <= 40; after++) {
      if (!isTried(after, 9)) continue;
      const origin = new Origin();
      const first = new Tab(origin, { schemas, mode });
      await first.repository();
      await using second = new Tab(origin, { schemas, mode });
      const repository = await second.repository();
      const cards = repository.collection(Card);
      first.page.killAfter(after);
      const written = new Map<string, number>();
      const { id } = cards.create({ title: "counted" });
      const writes: Promise<void>[] = [];
      for (let i = 1; i <= 12; i++) {
        writes.push(cards.update(id, { votes: { increment: 1 } }).durable);
        await cards.create({ title: `card ${i}` });
        written.set(`card ${i}`, 0);
      }
      first.kill(); // Where it took more messages than there were.
      await Promise.all(writes);
      written.set("counted", 12);
      await using third = new Tab(origin, { schemas, mode });
      const later = await third.repository();
      await until(
        () => isSame(cardsOf(later), written),
        `after message ${after}, ${JSON.stringify([...cardsOf(later)])}`,
      );
      assert.ok(isSame(cardsOf(repository), written));
    }
  });
}

/** A die with a seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed * 2654435761 >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * sides);
  };
}

/** What happens in a world of tabs that come, go, sleep and write. */
class Life {
  readonly origin = new Origin();
  readonly tabs: Tab[] = [];
  readonly mode: typeof MODES[number];
  readonly acknowledged = new Set<string>();
  readonly asked = new Set<string>();
  readonly #roll: (sides: number) => number;
  #count = 0;

  constructor(mode: typeof MODES[number], seed: number) {
    this.mode = mode;
    this.#roll = dice(seed);
  }

  #one(): Tab | undefined {
    return this.tabs[this.#roll(this.tabs.length)];
  }

  async step(): Promise<void> {
    const tab = this.#one();
    switch (this.#roll(16)) {
      case 0:
        if (this.tabs.length < 4) await this.open();
        return;
      case 1:
        if (this.tabs.length > 1 && tab !== undefined) this.#remove(tab).kill();
        return;
      case 2:
        if (this.tabs.length > 1) tab?.page.killAfter(1 + this.#roll(6));
        return;
      case 3:
        return await this.#sleep(tab);
      case 4:
        if (this.tabs.length < 2 || tab === undefined) return;
        return await Promise.race([
          this.#remove(tab).opening.then((database) => database.close()),
          tab.page.life.death.promise,
        ]);
      case 5:
        return await pause(this.#roll(5));
      default:
        if (tab !== undefined) await this.#write(tab);
    }
  }

  /** Hidden and frozen, with or without a word to its worker. */
  async #sleep(tab: Tab | undefined): Promise<void> {
    if (tab === undefined) return;
    tab.seen.tell("hidden");
    await trips(2); // Most often its worker has heard of it by then.
    const isTold = this.#roll(2) === 0;
    if (isTold) tab.seen.tell("freeze");
    tab.page.life.freeze();
    const waitMs = isTold ? 5 : 200;
    await pause(this.#roll(waitMs));
    tab.page.life.thaw();
    if (isTold) tab.seen.tell("resume");
    tab.seen.tell("visible");
  }

  async open(): Promise<void> {
    const tab = new Tab(this.origin, { schemas, mode: this.mode });
    this.tabs.push(tab);
    await Promise.race([tab.repository(), tab.page.life.death.promise]);
  }

  #remove(tab: Tab): Tab {
    this.tabs.splice(this.tabs.indexOf(tab), 1);
    return tab;
  }

  /** The dead are found out, then one writes. */
  async #write(tab: Tab): Promise<void> {
    const { life } = tab.page;
    if (life.isDead) return void this.#remove(tab);
    const repository = await Promise.race([
      tab.repository(),
      life.death.promise,
    ]);
    if (repository === undefined || life.isDead) return;
    const title = `card ${++this.#count}`;
    this.asked.add(title);
    const write = repository.collection(Card).create({ title });
    // In Fast mode a page promises what it has in memory: its death breaks that.
    const promise = this.mode === "fast" ? repository.durable() : write.durable;
    // What a dead page was told, nobody was told.
    promise.then(() => life.isDead || this.acknowledged.add(title));
    if (this.#roll(3) === 0) {
      await Promise.race([write.durable, life.death.promise]);
    }
  }
}

for (const mode of MODES) {
  Deno.test(`tabs that come, go, sleep and die lose and double nothing, in ${mode} mode`, async () => {
    await eachSeed(seedsOf(sized(2, 6), 12), async (seed) => {
      const life = new Life(mode, seed);
      await life.open();
      for (let i = 0; i < 80; i++) await life.step();
      for (const { page } of life.tabs) page.life.countdown = undefined;
      const alive = life.tabs.filter(({ page }) => !page.life.isDead);
      const last = new Tab(life.origin, { schemas, mode });
      const repositories = await Promise.all(
        [...alive, last].map((tab) => tab.repository()),
      );
      await Promise.all(repositories.map((one) => one.durable()));
      const [one] = repositories;
      const is = () => {
        const all = cardsOf(one!);
        return [...life.acknowledged].every((title) => all.has(title)) &&
          repositories.every((other) => isSame(all, cardsOf(other)));
      };
      await until(is, `seed ${seed}: all have what was acknowledged`);
      for (const title of cardsOf(one!).keys()) {
        assert.ok(life.asked.has(title));
      }
      const report = await repositories.at(-1)!.verify();
      assert.equal(report.damage, undefined);
      for (const tab of [...alive, last]) await (await tab.opening).close();
    });
  });
}

Deno.test("what many tabs lack is sent to all of them in one message, and to nobody else", async () => {
  const origin = new Origin();
  await using owner = new Tab(origin, { schemas });
  const cards = (await owner.repository()).collection(Card);
  const others: Repository[] = [];
  const tabs: Tab[] = [];
  for (let i = 0; i < 3; i++) {
    const tab = new Tab(origin, { schemas });
    tabs.push(tab);
    others.push(await tab.repository());
  }
  await using idle = new Tab(origin, { schemas });
  await idle.opening;
  await trips(); // Nothing that was said before is heard below.
  const heard: { to: unknown; message: { kind: string } }[] = [];
  const spy = new BroadcastChannel(`sheaf:${origin.name}`);
  spy.onmessage = ({ data }) => heard.push(data);
  await cards.create({ title: "one" });
  for (const other of others) {
    await until(() => cardsOf(other).has("one"), "it is there");
  }
  const recordsOf = () =>
    heard.filter(({ message }) => message.kind === "records");
  await until(() => recordsOf().length > 0, "the spy heard it");
  const records = recordsOf();
  spy.close();
  assert.equal(records.length, 1);
  assert.equal((records[0]!.to as string[]).length, 3);
  for (const tab of tabs) await tab[Symbol.asyncDispose]();
});
