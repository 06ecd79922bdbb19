/**
 * Several pages of one browser are one device: one author and one connection for
 * the server, offline and back together.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { toHex } from "../../src/base/bytes.ts";
import { createServer, type Server } from "../../server/mod.ts";
import { memoryStorage } from "../../mod.ts";
import { serverOptions, withServer } from "../server_place.ts";
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

async function isLive(tab: ProofTab): Promise<boolean> {
  const { state, unsent } = await tab.call("sync", name);
  return state === "live" && unsent === 0;
}

/** Open connections, and sessions that are connected. */
function connectionsOf(server: Server): [number, number] {
  const { connections, sessions } = server.status();
  return [connections, sessions];
}

browserTest(
  "five pages of a device have one connection, whoever of them is closed",
  { entries },
  async (place) => {
    await withServer({ origins: ["*"] }, async ({ server }) => {
      const rootKey = toHex(server.rootKey);
      const tabs = await place.openMany<Page>("page", 5);
      const keys = new Set<string>();
      for (const [i, tab] of tabs.entries()) {
        keys.add((await tab.call("open", { name, rootKey })).sessionKey);
        await tab.call("connect", name, server.url);
        await tab.call("begin", name, `tab${i}`, { everyMs: 10 });
      }
      equal(keys.size, 1, "one author");
      await until(() => isConnected(tabs[4]!), "it is connected");
      deepEqual(connectionsOf(server), [1, 1]);
      const device = await place.device();
      const other = await place.open<Page>("page", { device });
      await other.call("open", { name, rootKey });
      await other.call("connect", name, server.url);
      await until(() => isConnected(other), "the other is connected");
      deepEqual(connectionsOf(server), [2, 2]);
      await tabs[0]!.close();
      await until(() => isConnected(tabs[4]!), "it is connected again");
      await until(
        () => Promise.resolve(String(connectionsOf(server)) === "2,2"),
        "the former connection is gone",
      );
      const known = new Map<string, number>();
      for (const [i, tab] of tabs.entries()) {
        if (i === 0) continue;
        await tab.call("end", name);
        const { written, durable } = await tab.call("told", name);
        equal(durable, written);
        known.set(`tab${i}`, written);
      }
      await until(() => isLive(tabs[4]!), "all is sent");
      await same(other, tabs[4]!, name);
      await check(other, name, known);
    });
  },
);

async function isConnected(tab: ProofTab): Promise<boolean> {
  return (await tab.call("sync", name)).connection === "ready";
}

browserTest(
  "pages write while their server is away, and all of it arrives when it is back",
  { entries },
  async (place) => {
    const storage = memoryStorage();
    const options = serverOptions({ storage, origins: ["*"] }, []);
    let server = await createServer(options);
    const { port } = new URL(server.url);
    const rootKey = toHex(server.rootKey);
    const [one, two] = await place.openMany<Page>("page", 2);
    ok(one && two);
    for (const tab of [one, two]) {
      await tab.call("open", { name, rootKey });
      await tab.call("connect", name, server.url);
    }
    await one.call("bulk", name, "online", 10, 10);
    await until(() => isLive(one), "it is sent");
    await server.close();
    await until(async () => !await isConnected(two), "it is noticed");
    await one.call("begin", name, "one");
    await two.call("begin", name, "two");
    for (const tab of [one, two]) await moreDurable(tab, name, 10);
    // The owner of the files goes while nobody can be reached.
    await one.call("end", name);
    const { written } = await one.call("told", name);
    await one.close();
    await moreDurable(two, name, 70); // More than may wait for an owner.
    await two.call("end", name);
    const { written: later, durable, failures } = await two.call("told", name);
    deepEqual([durable, failures], [later, []]);
    await until(
      async () => (await two.call("sync", name)).unsent >= written + later,
      "the badge counts what is unsent",
    );
    server = await createServer({ ...options, port: Number(port) });
    try {
      await until(() => isLive(two), "all is sent");
      deepEqual(connectionsOf(server), [1, 1]);
      const device = await place.device();
      const other = await place.open<Page>("page", { device });
      await other.call("open", { name, rootKey });
      await other.call("connect", name, server.url);
      await same(other, two, name);
      const known = new Map([["online", 10], ["one", written], ["two", later]]);
      await check(other, name, known);
    } finally {
      await server.close();
    }
  },
);

browserTest("the key of a device's pages is one that no script can read", {
  entries,
}, async (place) => {
  const [one, two] = await place.openMany<Page>("page", 2);
  ok(one && two);
  const { sessionKey } = await one.call("open", { name });
  equal((await two.call("open", { name })).sessionKey, sessionKey);
  await one.call("bulk", name, "one", 3, 3);
  await two.call("bulk", name, "two", 3, 3);
  for (const tab of [one, two]) {
    const keys = await tab.call("keys", name);
    ok(keys.length > 0, "they are in the vault");
    deepEqual(keys.filter((key) => key !== "Ed25519 hidden"), []);
  }
  equal(await two.call("verify", name), true);
  await one.close();
  await two.reload();
  equal((await two.call("open", { name })).sessionKey, sessionKey);
});
