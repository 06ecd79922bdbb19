/**
 * An edit that lost, in a real browser: what finds it is loaded in the worker,
 * what tells it in the page, and a reload forgets nothing.
 */

import { deepEqual } from "node:assert/strict";
import { withServer } from "../server_place.ts";
import { browserTest, until } from "./kit/mod.ts";
import { entries } from "./proof_place.ts";
import { Item } from "./proof_schema.ts";

type Page = typeof import("./overwritten_page.ts");

browserTest(
  "onOverwritten() tells a page after a reload what lost while it did not listen, and another one nothing",
  {
    entries: {
      page: new URL("overwritten_page.ts", import.meta.url),
      worker: entries.worker,
    },
    secondsMax: 60,
  },
  async (place) => {
    await withServer(
      { origins: ["*"], schemas: [Item] },
      async ({ server }) => {
        const rootKey = server.rootKey.toHex();
        const opening = ["lost", rootKey, server.url] as const;
        const one = await place.open<Page>("page");
        await one.call("open", ...opening);
        await one.call("write", "old");
        const isSent = async () => await one.call("unsent") === 0;
        await until(isSent, "the server to have it");
        await one.call("listen");
        await one.call("disconnect");
        await one.call("write", "mine");
        const repository = await server.database.repository("team/board");
        await repository.collection(Item).update("x", { text: "theirs" });
        await one.reload();
        await one.call("open", ...opening);
        await until(
          async () => await one.call("text") === "theirs",
          "the page to show what the other one wrote",
        );
        await one.call("listen");
        const told = async () => (await one.call("heard")).length > 0;
        await until(told, "the page to be told");
        deepEqual(await one.call("heard"), ["overwritten x mine theirs"]);
        await one.reload();
        const two = await place.open<Page>("page");
        for (const page of [one, two]) {
          await page.call("open", ...opening);
          await page.call("listen");
        }
        await until(isSent, "the server to have all");
        deepEqual([await one.call("heard"), await two.call("heard")], [[], []]);
        await repository.close();
      },
    );
  },
);
