/**
 * The web demo with a board of 10,000 cards: it opens, paints, answers, scrolls,
 * searches, moves cards, and takes 2,000 that somebody else writes, within budgets
 * of our own. They are counts of work, and no times: the same on every machine.
 * What is measured is printed.
 */

import { equal, ok } from "node:assert/strict";
import { teamRepository } from "../../web-demo/data/rules.ts";
import { Board, Card, Column } from "../../web-demo/data/schema.ts";
import { ranks } from "../../web-demo/data/rank.ts";
import { type DemoPlace, demoPlace, openAs, settled } from "./demo_place.ts";
import {
  browserTest,
  type CDPSession,
  eventually,
  type Page,
} from "./kit/mod.ts";

const CARDS = 10_000;
const COLUMNS = 5;
const WRITES = 2_000;
/** Cards in one commit of the other user. */
const TOGETHER = 50;

/**
 * Budgets: calls of the page's functions, in thousands, as V8 counts them, and
 * cards that are made in the page. About twice what is needed.
 */
const budgets = {
  /** From a reload, with all cards from this device, until the first of them is in the page. */
  paintCalls: 4_000,
  /** And until it follows the server. */
  arriveCalls: 5_000,
  arriveCards: 250,
  /** A column is scrolled from end to end. */
  scrollCalls: 3_000,
  scrollCards: 2_400,
  /** A key in the search, and the board that it leaves. */
  searchCalls: 150,
  searchCards: 20,
  /** A card is picked up, and dropped in the next column. */
  moveCalls: 600,
  moveCards: 40,
  /** Somebody else writes 2,000 cards. */
  writesCalls: 75_000,
  writesCards: 20,
  /** Cards in the page at a time. */
  cards: 200,
  /** The page's JavaScript heap and buffers afterwards, without their waste, in MB. */
  heap: 120,
};

/**
 * Counts cards that are made, and stops where the first one is, if anybody
 * debugs the page; runs before anything else of it.
 */
const watching = `{
  globalThis.cardsMade = 0;
  const cardsIn = (node) => node.nodeType !== 1 ? 0
    : Number(node.matches(".tile")) + node.querySelectorAll(".tile").length;
  new MutationObserver((records) => {
    for (const { addedNodes } of records) {
      for (const node of addedNodes) {
        const cards = cardsIn(node);
        if (cardsMade === 0 && cards > 0) debugger;
        cardsMade += cards;
      }
    }
  }).observe(document, { childList: true, subtree: true });
}`;

/** What a page does: calls of its functions, and cards that it makes. */
class Work {
  readonly #page: Page;
  readonly #session: CDPSession;
  measured: Record<string, number> = {};

  private constructor(page: Page, session: CDPSession) {
    this.#page = page;
    this.#session = session;
  }

  static async of(page: Page): Promise<Work> {
    const session = await page.context().newCDPSession(page);
    await session.send("Profiler.enable");
    await session.send("Profiler.startPreciseCoverage", { callCount: true });
    return new Work(page, session);
  }

  /** Notes what a reload costs until the first card, and until `isDone`. */
  async arrive(isDone: () => Promise<unknown>): Promise<void> {
    const session = this.#session;
    await session.send("Debugger.enable");
    let painted = 0;
    session.once("Debugger.paused", async () => {
      painted = await this.#calls();
      await session.send("Debugger.disable"); // It goes on.
    });
    await this.measure("arrive", () => this.#page.reload(), isDone);
    const paintCalls = Math.round(painted / 1_000);
    ok(paintCalls > 0, "the page was stopped at its first card");
    this.measured = {
      ...this.measured,
      paintCalls,
      arriveCalls: paintCalls + this.measured["arriveCalls"]!,
    };
  }

  /** Calls since it was asked last. */
  async #calls(): Promise<number> {
    const { result } = await this.#session
      .send("Profiler.takePreciseCoverage");
    return result.filter(({ url }) => url.startsWith("http"))
      .flatMap(({ functions }) => functions)
      .reduce((all, { ranges }) => all + (ranges[0]?.count ?? 0), 0);
  }

  /** Notes what `act` costs, until `isDone`. */
  async measure(
    name: string,
    act: () => Promise<unknown>,
    isDone: () => Promise<unknown>,
  ): Promise<void> {
    await this.#page.evaluate("cardsMade = 0");
    await this.#calls();
    await act();
    await isDone();
    this.measured[`${name}Calls`] = Math.round(await this.#calls() / 1_000);
    const made = await this.#page.evaluate<number>("cardsMade");
    this.measured[`${name}Cards`] = made;
  }
}

function cardsFrom(first: number, count: number, order: readonly string[]) {
  return Array.from({ length: count }, (_, at) => {
    const i = first + at;
    return {
      id: `large-${i}`,
      board: "large",
      column: `large.${i % COLUMNS}`,
      position: order[Math.floor(i / COLUMNS)]!,
      title: `Card ${i} about ${i % 7 === 0 ? "ropes and " : ""}timetables`,
      labels: i % 3 === 0 ? ["app"] : [],
      assignees: i % 4 === 0 ? ["jonas"] : [],
      by: "maya",
      at: i,
    };
  });
}

const order = ranks((CARDS + WRITES) / COLUMNS);

async function fill({ demo }: DemoPlace) {
  // It stays open: its people come over the wire to the same one.
  const repo = await demo.server.database.repository(teamRepository);
  const columns = ranks(COLUMNS).map((position, at) => ({
    id: `large.${at}`,
    board: "large",
    name: `Column ${at + 1}`,
    position,
  }));
  repo.collection(Board).create({ id: "large", name: "Large", position: "zz" });
  repo.collection(Column).createMany(columns);
  await repo.collection(Card).createMany(cardsFrom(0, CARDS, order));
  return repo;
}

/** Waits until the first column counts so many. */
async function counts(page: Page, cards: number): Promise<void> {
  await eventually(async () =>
    equal(
      await page.locator(".lane-count").first().innerText().then(parseInt),
      cards,
    )
  );
}

/** Scrolls a column from end to end, a step in each frame. */
async function scrollThrough(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector(".lane-cards");
    let frames = 0;
    const step = () => {
      list.scrollTop += 900;
      if (++frames < 90) requestAnimationFrame(step);
      else requestAnimationFrame(() => resolve());
    };
    requestAnimationFrame(step);
  })`);
}

/** Memory that is in use, once what is not has been collected. */
async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const used = await session.send("Runtime.getHeapUsage");
  const { usedSize, backingStorageSize } = used;
  return Math.round((usedSize + backingStorageSize) / 1e6);
}

browserTest("demo: a board of 10,000 cards stays within its budgets", {
  entries: {},
}, async (place) => {
  await using demo = await demoPlace();
  const repo = await fill(demo);
  const device = await place.device({ viewport: { width: 1440, height: 900 } });
  await device.addInitScript(watching);
  const page = await openAs("maya", demo, device, "#/large");
  await settled(page);
  await counts(page, CARDS / COLUMNS);

  const work = await Work.of(page);
  const tiles = () => page.locator(".tile").count();
  const most: number[] = [];
  await work.arrive(async () => {
    await page.waitForSelector(".tile");
    await settled(page);
    await counts(page, CARDS / COLUMNS);
  });
  most.push(await tiles());
  await work.measure(
    "scroll",
    () => scrollThrough(page),
    async () => most.push(await tiles()),
  );

  await page.keyboard.press("/");
  await page.keyboard.type("rope");
  await work.measure(
    "search",
    () => page.keyboard.type("s"),
    () => page.waitForSelector(".lane-count:text-matches('of 2000')"),
  );
  await page.keyboard.press("Escape");
  await page.evaluate("document.querySelector('.lane-cards').scrollTop = 0");
  await page.locator('[data-card="large-1"]').focus();
  await work.measure("move", async () => {
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Space");
  }, () => page.waitForSelector('[data-lane="large.2"] [data-card="large-1"]'));

  await work.measure("writes", async () => {
    const cards = repo.collection(Card);
    for (let at = CARDS; at < CARDS + WRITES; at += TOGETHER) {
      await cards.createMany(cardsFrom(at, TOGETHER, order));
    }
  }, () => counts(page, (CARDS + WRITES) / COLUMNS));
  await settled(page);
  most.push(await tiles());

  const measured: Record<string, number> = {
    ...work.measured,
    cards: Math.max(...most),
    heap: await heapOf(page),
  };
  console.log(`  10,000 cards: ${JSON.stringify(measured)}`);
  for (const [name, atMost] of Object.entries(budgets)) {
    const found = measured[name]!;
    ok(found <= atMost, `${name}: ${found}, at most ${atMost}`);
  }
});
