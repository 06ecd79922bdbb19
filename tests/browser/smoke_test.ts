/**
 * The one trip through a browser of the quick tier: what most of the others
 * stand on. A bundled page with its worker keeps a database in OPFS, two tabs
 * share it, a real server has it, and a reload shows it.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { withServer } from "../server_place.ts";
import { browserTest, until } from "./kit/mod.ts";
import { entries } from "./proof_place.ts";
import { Item } from "./proof_schema.ts";

type Page = typeof import("./proof_page.ts");

const name = "smoke";

browserTest(
  "openDatabase() in two tabs: what one writes the other shows, the server has, and a reload finds",
  { entries, secondsMax: 50 },
  async (place) => {
    await withServer(
      { origins: ["*"], schemas: [Item] },
      async ({ server }) => {
        const rootKey = server.rootKey.toHex();
        const one = await place.open<Page>("page");
        const two = await place.open<Page>("page");
        const { backend, role } = await one.call("open", { name, rootKey });
        deepEqual([backend, role], ["opfs", "owner"]);
        equal((await two.call("open", { name, rootKey })).role, "follower");
        await two.call("connect", name, server.url);

        equal(await two.call("bulk", name, "run", 3, 10), "durable");
        const shows = async () => await one.call("count", name, "run") === 4;
        await until(shows, "the first tab to show what the second one wrote");

        const isSynced = async () => {
          const { state, unsent } = await two.call("sync", name);
          return state === "live" && unsent === 0;
        };
        await until(isSynced, "the server to have all of it");
        const repository = await server.database.repository("team/board");
        equal(repository.collection(Item).where({ run: "run" }).count(), 4);
        await repository.close();

        await two.reload();
        await two.call("open", { name, rootKey });
        deepEqual(await two.call("found", name), {
          runs: { run: 3 },
          faults: [],
        });
      },
    );
  },
);
