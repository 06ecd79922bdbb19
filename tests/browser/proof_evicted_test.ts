/**
 * The browser removes the files of a database that talks to a server: what it
 * lost comes back, from the server when no page had it.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { withServer } from "../server_place.ts";
import { browserTest, until } from "./kit/mod.ts";
import {
  check,
  entries,
  moreDurable,
  type ProofTab,
  same,
} from "./proof_place.ts";

type Page = typeof import("./proof_page.ts");

const name = "board";

async function evict(tab: ProofTab): Promise<void> {
  const session = await tab.cdp();
  await session.send("Storage.clearDataForOrigin", {
    origin: new URL(tab.page.url()).origin,
    storageTypes: "file_systems,indexeddb",
  });
}

/** Waits until the server has all that a page wrote. */
async function sent(tab: ProofTab): Promise<void> {
  await until(async () => {
    const { state, unsent } = await tab.call("sync", name);
    return state === "live" && unsent === 0;
  }, "all is sent");
}

browserTest(
  "files that were removed under load are written again, and what was never sent arrives",
  { entries },
  async (place) => {
    await withServer({ origins: ["*"] }, async ({ server }) => {
      const rootKey = server.rootKey.toHex();
      const [one, two] = await place.openMany<Page>("page", 2);
      ok(one && two);
      for (const tab of [one, two]) await tab.call("open", { name, rootKey });
      await one.call("connect", name, server.url);
      await one.call("bulk", name, "sent", 100, 100);
      await sent(one);
      // From here on nobody but this device has it.
      await one.call("disconnect", name);
      await one.call("begin", name, "one");
      await two.call("begin", name, "two");
      for (const tab of [one, two]) await moreDurable(tab, name, 20);
      await evict(one);
      await two.call("incident", name, "storage-evicted");
      for (const tab of [one, two]) await moreDurable(tab, name, 70);
      const known = new Map([["sent", 100]]);
      for (const [run, tab] of [["one", one], ["two", two]] as const) {
        await tab.call("end", name);
        const { written, durable, failures } = await tab.call("told", name);
        deepEqual([durable, failures], [written, []]);
        known.set(run, written);
      }
      for (const tab of [one, two]) await check(tab, name, known);
      await same(one, two, name);
      // What was kept of it is on disk, and goes to the server.
      await place.killAndRestart();
      const three = await place.open<Page>("page");
      await three.call("open", { name, rootKey });
      await check(three, name, known);
      ok((await three.call("sync", name)).unsent > 0);
      await three.call("connect", name, server.url);
      await sent(three);
      const device = await place.device();
      const other = await place.open<Page>("page", { device });
      await other.call("open", { name, rootKey });
      await other.call("connect", name, server.url);
      await same(other, three, name);
      await check(other, name, known);
    });
  },
);

browserTest(
  "a device whose files are gone, and that no page had open, is filled by the server",
  { entries },
  async (place) => {
    await withServer({ origins: ["*"] }, async ({ server }) => {
      const rootKey = server.rootKey.toHex();
      const tab = await place.open<Page>("page");
      const { sessionKey } = await tab.call("open", { name, rootKey });
      await tab.call("connect", name, server.url);
      await tab.call("begin", name, "run");
      await moreDurable(tab, name, 20);
      await tab.call("end", name);
      const { written } = await tab.call("told", name);
      await sent(tab);
      await tab.call("close", name);
      await evict(tab);
      await tab.reload();
      const opened = await tab.call("open", { name, rootKey });
      ok(opened.sessionKey !== sessionKey, "its key went as well");
      deepEqual((await tab.call("found", name)).runs, {});
      await tab.call("connect", name, server.url);
      await until(
        async () => (await tab.call("found", name)).runs.run === written,
        "the server fills it",
      );
      await check(tab, name, new Map([["run", written]]));
      // It writes on: under a new key, beside what its former self wrote.
      await tab.call("begin", name, "later");
      await moreDurable(tab, name, 20);
      await tab.call("end", name);
      await sent(tab);
      equal((await tab.call("told", name)).failures.length, 0);
      equal(await tab.call("verify", name), true);
    });
  },
);
