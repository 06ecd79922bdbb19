/**
 * An origin's quota runs out under a database, at many sizes of it and of what is
 * written: writes are refused by a code, what was acknowledged stays, it closes
 * in order, and goes on when there is room again.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { withServer } from "../server_place.ts";
import { browserTest, until } from "./kit/mod.ts";
import {
  check,
  entries,
  moreTurns,
  type ProofTab,
  same,
} from "./proof_place.ts";

type Page = typeof import("./proof_page.ts");

const name = "board";
const MiB = 1024 * 1024;

async function setQuota(tab: ProofTab, bytes: number): Promise<void> {
  const session = await tab.cdp();
  const origin = new URL(tab.page.url()).origin;
  const quotaSize = Math.round(bytes);
  await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize });
}

async function usedBytes(tab: ProofTab): Promise<number> {
  return await tab.page.evaluate(
    "navigator.storage.estimate().then(({ usage }) => usage)",
  );
}

/** Room beside what is used, and characters of each item. */
const sizes: readonly (readonly [room: number, characters: number])[] = [
  [0, 4_000],
  [MiB / 2, 9_999],
  [2.5 * MiB, 40_000],
  [3 * MiB, 20_000],
  [9 * MiB + 1, 100_000],
];

/** Fills one database until it is full, closes it, makes room, and opens it again. */
async function fill(
  tab: ProofTab,
  name: string,
  [room, characters]: readonly [number, number],
): Promise<string> {
  await tab.call("open", { name });
  await tab.call("begin", name, "before");
  await until(
    async () => (await tab.call("told", name)).durable > 20,
    "some are durable",
  );
  await tab.call("end", name);
  const { written: before } = await tab.call("told", name);
  await setQuota(tab, await usedBytes(tab) + room);
  if (room === 0) {
    const other = { name: `${name}-other` };
    equal(await tab.call("openCode", other), "storage-full");
  }
  await tab.reload();
  const code = await tab.call("openCode", { name });
  const known = new Map([["before", before]]);
  let durable = 0;
  if (code === "opened") {
    durable = await overflow(tab, name, characters);
    known.set("full", durable);
    await check(tab, name, known);
    equal(await tab.call("close", name), "storage-full");
  } else equal(code, "storage-full");
  await setQuota(tab, 2_000 * MiB);
  await tab.reload();
  await tab.call("open", { name });
  await check(tab, name, known);
  await tab.call("begin", name, "after", { characters });
  await until(
    async () => (await tab.call("told", name)).durable > 20,
    "it goes on",
  );
  await tab.call("end", name);
  const { written, failures } = await tab.call("told", name);
  deepEqual(failures, []);
  await check(tab, name, known.set("after", written));
  equal(await tab.call("verify", name), true);
  equal(await tab.call("close", name), "closed");
  return `${(room / MiB).toFixed(2)} MiB: ${code}, ${durable} x ${characters}`;
}

/** Writes until it is refused; gives how much was acknowledged. */
async function overflow(
  tab: ProofTab,
  name: string,
  characters: number,
): Promise<number> {
  await tab.call("begin", name, "full", { characters, everyMs: 1 });
  await until(
    async () => (await tab.call("told", name)).failures.length > 0,
    "a write is refused",
  );
  await tab.call("end", name);
  const { durable, written, failures } = await tab.call("told", name);
  equal(durable + failures.length, written, "each write is told its end");
  equal(failures[0], "storage-full");
  const codes = new Set(failures);
  codes.delete("storage-full");
  codes.delete("storage-readonly");
  deepEqual([...codes], []);
  // What the owner reports comes a frame later.
  await until(
    async () =>
      (await tab.call("storage", name)).codes.includes("storage-full"),
    "the page hears that it is full",
  );
  return durable;
}

browserTest(
  "a database whose quota runs out refuses writes by a code, loses nothing, and goes on with room",
  { entries },
  async (place) => {
    const tab = await place.open<Page>("page");
    for (const [i, size] of sizes.entries()) {
      console.log(`  ${await fill(tab, `full${i}`, size)}`);
    }
  },
);

for (const isPrivate of [false, true]) {
  const where = isPrivate ? " in a private window" : "";
  browserTest(
    `a full device${where} takes no more of what its server sends, says so, and catches up with room`,
    { entries },
    async (place) => {
      await withServer({ origins: ["*"] }, async ({ server, records }) => {
        const rootKey = server.rootKey.toHex();
        const other = await place.open<Page>("page", {
          device: await place.device(),
        });
        // A device of its own has no profile: it is as a private window is.
        const tab = await place.open<Page>(
          "page",
          isPrivate ? { device: await place.device() } : {},
        );
        for (const one of [other, tab]) {
          await one.call("open", { name, rootKey });
          await one.call("connect", name, server.url);
        }
        await other.call("bulk", name, "first", 10, 10);
        await until(
          async () => await tab.call("count", name, "first") === 11,
          "they talk",
        );
        await setQuota(tab, 1);
        for (let i = 0; i < 8; i++) {
          await other.call("bulk", name, `more${i}`, 1_000, 200);
        }
        await tab.call("incident", name, "storage-full");
        const known = new Map([["first", 10]]);
        await check(tab, name, known);
        await moreTurns(tab, 500); // It tries again, and later each time.
        const tries = records.filter(({ event }) =>
          event === "connection-failed"
        );
        const codes = new Set(tries.map(({ detail }) => detail));
        ok(codes.delete("storage-full"));
        codes.delete("storage-readonly");
        deepEqual([...codes], []);
        ok(tries.length < 8, `${tries.length} tries in vain`);
        await setQuota(tab, 2_000 * MiB);
        await tab.reload();
        await tab.call("open", { name, rootKey });
        await check(tab, name, known);
        await tab.call("connect", name, server.url);
        await same(tab, other, name);
        for (let i = 0; i < 8; i++) known.set(`more${i}`, 1_000);
        await check(tab, name, known);
        equal(await tab.call("verify", name), true);
      });
    },
  );
}

browserTest("a page hears that its quota is nearly full before it is", {
  entries,
}, async (place) => {
  const tab = await place.open<Page>("page");
  await tab.call("open", { name });
  await tab.call("bulk", name, "run", 10, 10);
  equal((await tab.call("storage", name)).isNearlyFull, false);
  await setQuota(tab, await usedBytes(tab) + 8 * MiB);
  await tab.call("begin", name, "more", { everyMs: 50 });
  await tab.call("incident", name, "storage-nearly-full");
  equal((await tab.call("storage", name)).isNearlyFull, true);
  await tab.call("end", name);
  const { written, durable } = await tab.call("told", name);
  equal(durable, written, "it is not full yet");
  equal(await tab.call("bulk", name, "big", 1_000, 1_000), "durable");
});
