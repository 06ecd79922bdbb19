import assert from "node:assert/strict";
import { browserTest } from "./kit/mod.ts";
import type * as TabsPage from "./tabs_page.ts";

const entries = {
  page: new URL("tabs_page.ts", import.meta.url),
  worker: new URL("../../src/browser/worker.ts", import.meta.url),
};

async function until(
  holds: () => Promise<boolean>,
  what: string,
): Promise<void> {
  const end = Date.now() + 60_000;
  while (!await holds()) {
    if (Date.now() > end) throw new Error(`In vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

browserTest(
  "two tabs share one board, whoever of them is closed",
  { entries },
  async (place) => {
    const one = await place.open<typeof TabsPage>("page");
    const { role, backend } = await one.call("open");
    assert.equal(backend, "opfs");
    assert.equal(role, "owner");
    const two = await place.open<typeof TabsPage>("page");
    assert.equal((await two.call("open")).role, "follower");
    await one.call("vote");
    await until(async () => (await two.call("report")).titles.length === 1, "");
    await two.call("vote");
    await until(async () => (await one.call("report")).votes === 1, "back");
    await two.call("write", "b", 100, 5);
    await new Promise((resolve) => setTimeout(resolve, 150));
    await one.close();
    await until(
      async () => (await two.call("report")).durable.length === 100,
      "all that was written is durable",
    );
    const report = await two.call("report");
    assert.equal(report.role, "owner");
    assert.deepEqual(report.failures, []);
    assert.equal(report.titles.length, 101);
    const three = await place.open<typeof TabsPage>("page");
    await three.call("open");
    assert.deepEqual((await three.call("report")).titles, report.titles);
  },
);

browserTest(
  "five tabs write at once while owners are closed and killed; nothing is lost or doubled",
  { entries },
  async (place) => {
    const tabs = await place.openMany<typeof TabsPage>("page", 5);
    for (const tab of tabs) await tab.call("open");
    for (const [i, tab] of tabs.entries()) {
      await tab.call("write", `tab${i}`, 60, 10);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    const first = (await tabs[0]!.call("report")).durable;
    await tabs[0]!.close();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const second = (await tabs[1]!.call("report")).durable;
    await tabs[1]!.kill();
    const alive = tabs.slice(2);
    for (const tab of alive) {
      await until(
        async () => (await tab.call("report")).durable.length === 60,
        "all that was written is durable",
      );
    }
    const [a] = alive;
    const { titles, failures } = await a!.call("report");
    assert.deepEqual(failures, []);
    assert.equal(new Set(titles).size, titles.length, "none is there twice");
    for (const title of [...first, ...second]) {
      assert.ok(titles.includes(title), `${title} was acknowledged`);
    }
    for (const tab of alive) {
      await until(
        async () =>
          String((await tab.call("report")).titles) === String(titles),
        "all show the same",
      );
    }
  },
);

browserTest(
  "a page stays free to draw while another one writes ten thousand cards",
  { entries },
  async (place) => {
    const one = await place.open<typeof TabsPage>("page");
    await one.call("open");
    const two = await place.open<typeof TabsPage>("page");
    await two.call("open");
    // What a busy machine does to a page is not ours: what is ours comes each time.
    const overs: number[] = [];
    while (overs.length < 3 && !overs.some((overMs) => overMs < 100)) {
      const expected = 10_000 * (overs.length + 1);
      await two.call("measure");
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const idleMs = await two.call("longest");
      await two.call("measure");
      for (let i = 0; i < 20; i++) await one.call("bulk", 500);
      await until(async () => await two.call("count") === expected, "all came");
      const longestMs = await two.call("longest");
      console.log(
        `longest turn of the other page: ${longestMs.toFixed(1)} ms (idle: ${
          idleMs.toFixed(1)
        } ms)`,
      );
      overs.push(longestMs - 2 * idleMs);
    }
    assert.ok(Math.min(...overs) < 100, `it stood still each time: ${overs}`);
  },
);
