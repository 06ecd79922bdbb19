/**
 * A repository that one page deletes is gone in the others, and after the
 * browser's death: over real OPFS files and over IndexedDB.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { browserTest, until } from "./kit/mod.ts";
import { entries as proof, plainWorker } from "./proof_place.ts";

type Page = typeof import("./deletion_page.ts");

const entries = {
  ...proof,
  page: new URL("deletion_page.ts", import.meta.url),
};

for (
  const [backend, worker] of [
    ["opfs", "/worker.js"],
    ["indexeddb", plainWorker],
  ] as const
) {
  browserTest(
    `deleteRepository() in a page over ${backend} deletes for good`,
    { entries, mayThrow: true },
    async (place) => {
      const one = await place.open<Page>("page");
      const two = await place.open<Page>("page");
      for (const tab of [one, two]) {
        equal(await tab.call("open", worker), backend);
        await tab.call("write", "go", "old");
      }
      await one.call("write", "keep", "kept");
      equal(await one.call("remove", "go"), "unsent");
      equal(await one.call("remove", "go", "discard"), "deleted");
      for (const tab of [one, two]) {
        await until(
          async () => String(await tab.call("names")) === "keep",
          "it is gone",
        );
      }
      await place.killAndRestart();
      const again = await place.open<Page>("page");
      await again.call("open", worker);
      deepEqual(await again.call("names"), ["keep"]);
      deepEqual(await again.call("titles", "go"), []);
      deepEqual(await again.call("titles", "keep"), ["kept"]);
      await again.call("write", "go", "new");
      deepEqual(await again.call("titles", "go"), ["new"]);
    },
  );
}
