/**
 * Browsers that lack something, workers that do not start, and pages of two
 * builds at once: each gets a coded answer, and no silence.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import type { Plugin } from "esbuild";
import { TABS_VERSION } from "../../src/browser/messages.ts";
import { bundle, ownPackage } from "../../tools/browser/bundle.ts";
import { type BrowserPlace, browserTest, until } from "./kit/mod.ts";
import {
  check,
  entries as proofEntries,
  moreDurable,
  plainWorker,
} from "./proof_place.ts";

type Page = typeof import("./proof_page.ts");

const entries = {
  ...proofEntries,
  bare_worker: new URL("proof_bare_worker.ts", import.meta.url),
};
const name = "board";

browserTest("a browser without OPFS keeps a database in IndexedDB", {
  entries,
}, async (place) => {
  const worker = plainWorker;
  const [one, two] = await place.openMany<Page>("page", 2);
  const { backend, role } = await one!.call("open", { name, worker });
  deepEqual([backend, role], ["indexeddb", "owner"]);
  equal((await two!.call("open", { name, worker })).role, "follower");
  await one!.call("begin", name, "one");
  await two!.call("begin", name, "two");
  for (const tab of [one!, two!]) await moreDurable(tab, name, 5);
  const known = new Map([["one", await one!.call("settle", name)]]);
  await one!.close();
  await moreDurable(two!, name, 70); // More than may wait for an owner.
  await two!.call("end", name);
  const { durable, written, failures } = await two!.call("told", name);
  deepEqual([durable, failures], [written, []]);
  known.set("two", written);
  await check(two!, name, known);
  await two!.reload();
  const again = await two!.call("open", { name, worker });
  equal(again.backend, "indexeddb");
  await check(two!, name, known);
  equal(await two!.call("verify", name), true);
});

browserTest("a database is in memory only where that is declared", {
  entries,
}, async (place) => {
  const tab = await place.open<Page>("page");
  const { backend, persisted } = await tab.call("open", {
    name,
    storage: "memory",
  });
  deepEqual([backend, persisted], ["memory", false]);
  await tab.call("bulk", name, "run", 10, 10);
  deepEqual((await tab.call("found", name)).runs, { run: 10 });
  await tab.reload();
  await tab.call("open", { name, storage: "memory" });
  deepEqual((await tab.call("found", name)).runs, {});
  await tab.reload();
  const worker = "/bare_worker.js";
  equal(await tab.call("openCode", { name, worker }), "storage-failed");
});

/** What a browser lacks, and the code that says so. */
const lacking = [
  ["Web Locks", "Object.defineProperty(navigator, 'locks', {})"],
  ["workers", "delete globalThis.Worker"],
  ["channels between pages", "delete globalThis.BroadcastChannel"],
] as const;

for (const [what, script] of lacking) {
  browserTest(`a page without ${what} is told so by a code`, {
    entries,
  }, async (place) => {
    const device = await place.device();
    await device.addInitScript(script);
    const tab = await place.open<Page>("page", { device });
    equal(await tab.call("openCode", { name }), "invalid-option");
    const { backend } = await tab.call("open", { name, storage: "memory" });
    equal(backend, "memory");
  });
}

browserTest("a worker that is not there, or fails, is said by a code", {
  entries,
  mayThrow: true,
}, async (place) => {
  await Deno.writeTextFile(
    `${place.folder}/broken_worker.js`,
    "throw new Error('broken')",
  );
  const tab = await place.open<Page>("page");
  for (const worker of ["/nowhere.js", "/broken_worker.js"]) {
    equal(await tab.call("openCode", { name, worker }), "invalid-option");
  }
  const storage = "opfs" as "durable"; // As who guesses would write.
  equal(await tab.call("openCode", { name, storage }), "invalid-option");
  // Nothing of the failed ones stands in the way.
  equal((await tab.call("open", { name })).role, "owner");
});

/** Serves the same app once more, as a build whose pages talk in another way. */
async function buildNext({ folder }: BrowserPlace): Promise<void> {
  const next: Plugin = {
    name: "next",
    setup(build) {
      build.onLoad({ filter: /src\/browser\/messages\.ts$/ }, ({ path }) => ({
        contents: Deno.readTextFileSync(path)
          .replace(/(TABS_VERSION) = \d+;/, `$1 = ${TABS_VERSION + 1};`),
        loader: "ts",
      }));
    },
  };
  const { page, worker } = proofEntries;
  const built = { next_page: page, next_worker: worker };
  await bundle(built, folder, { plugins: [ownPackage(), next] });
}

browserTest("two pages of different builds are both told to reload", {
  entries,
}, async (place) => {
  await buildNext(place);
  const old = await place.open<Page>("page");
  const next = await place.open<Page>("next_page");
  await old.call("open", { name });
  const worker = "/next_worker.js";
  equal(await next.call("openCode", { name, worker }), "other-version");
  await until(
    async () => (await old.call("told", name)).reload !== undefined,
    "the older one is told",
  );
  match((await old.call("told", name)).reload!, /reload/);
  // It goes on, and loses nothing by it.
  equal(await old.call("bulk", name, "run", 5, 5), "durable");
  await old.close();
  await next.reload();
  await next.call("open", { name, worker });
  deepEqual((await next.call("found", name)).runs, { run: 5 });
});
