/**
 * What is redacted on a server is in nothing that a browser keeps: over real OPFS
 * files and over IndexedDB.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { replicaOf } from "../../src/db/internals.ts";
import { createSigner } from "../../crypto/mod.ts";
import { ROOT_SECRET } from "../raw_peer.ts";
import { withServer } from "../server_place.ts";
import { browserTest, until } from "./kit/mod.ts";
import { entries as proof, plainWorker } from "./proof_place.ts";
import { Item } from "./proof_schema.ts";

type Page = typeof import("./redaction_page.ts");

const SECRET = "ann lives in Wild Rose Lane";
const entries = {
  ...proof,
  page: new URL("redaction_page.ts", import.meta.url),
};

for (
  const [backend, worker] of [
    ["opfs", "/worker.js"],
    ["indexeddb", plainWorker],
  ] as const
) {
  browserTest(
    `redaction: nothing of it is in what a browser keeps over ${backend}`,
    { entries, secondsMax: 60 },
    async (place) => {
      const options = {
        ...{ origins: ["*"], schemas: [Item], rootSecret: ROOT_SECRET },
      };
      await withServer(options, async ({ server }) => {
        const page = await place.open<Page>("page");
        const opening = [worker, server.rootKey.toHex(), server.url] as const;
        equal(await page.call("open", ...opening), backend);
        await page.call("write", "ann", SECRET);
        await page.call("write", "bob", "bob stays");
        await page.call("checkpoint");
        await page.call("write", "ann", `${SECRET} 7`);
        ok((await page.call("said")).includes(SECRET));
        await page.call("close");
        const before = await page.call("find", SECRET);
        ok(before.found.length > 0, "it is found where it is");
        const bob = await page.call("find", "bob stays");
        ok(bob.found.length > 0);

        await page.call("open", ...opening);
        const repository = await server.database.repository("team/board");
        const items = [{ collection: Item.name, id: "ann" }];
        const signer = createSigner(ROOT_SECRET);
        equal(await replicaOf(repository).redact(items, signer, ""), 2);
        await until(
          async () => await page.call("text", "ann") === undefined,
          "it is gone from the page",
        );
        await until(async () => {
          await page.call("checkpoint");
          return !(await page.call("said")).includes(SECRET);
        }, "no commit says it");
        equal(await page.call("verify"), true);
        await page.call("close");
        let after = await page.call("find", SECRET);
        // What a closed worker still empties, a moment later.
        await until(async () => {
          after = await page.call("find", SECRET);
          return after.found.length === 0;
        }, "it is in no file");
        ok(after.bytes >= bob.bytes / 2, "all of it was looked through");
        deepEqual(
          (await page.call("find", "bob stays")).found.length > 0,
          true,
        );
        await page.call("open", ...opening);
        equal(await page.call("text", "bob"), "bob stays");
        equal(await page.call("text", "ann"), undefined);
        await page.call("close");
      });
    },
  );
}
