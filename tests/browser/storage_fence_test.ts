/**
 * The fence, in a browser: an owner is stopped before every single call that it
 * makes, another one takes its files, and the first one goes on.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { browserTest } from "./kit/mod.ts";
import { ask, entries, type StorageTab } from "./storage_ask.ts";
import type { Life, View } from "./storage_duel.ts";

/** One theft; gives how many calls the owner made, and whether it was robbed. */
async function duel(
  tab: StorageTab,
  stopAt: number,
): Promise<{ steps: number; isRobbed: boolean }> {
  const name = `duel-${stopAt}`;
  await ask(tab, "thief", "reset");
  const living = ask(tab, "owner", "live", name, stopAt);
  const stopped = ask(tab, "thief", "stopped").then(() => undefined);
  const early = await Promise.race([living, stopped]);
  if (early !== undefined) return { steps: early.steps, isRobbed: false };
  const found = await ask(tab, "thief", "takeOver", name);
  await ask(tab, "thief", "goOn");
  const life = await living;
  let isRobbed = typeof found !== "string";
  if (typeof found === "string") {
    // The owner stood behind the door: nobody gets in, and nothing has happened.
    equal(found, "database-locked");
    equal(life.failure, undefined);
    equal((await ask(tab, "thief", "reopen", name)).log, life.log);
  } else if (await ask(tab, "thief", "isFenced")) {
    equal(life.failure, undefined, "who comes last has it");
    isRobbed = false;
  } else {
    checkAcknowledged(life, found);
    const views = await ask(tab, "thief", "aftermath", name);
    deepEqual(views[1], views[0], "the thief's files are as it wrote them");
    deepEqual(views[2], views[0], "the next one sees what the thief wrote");
  }
  await ask(tab, "thief", "remove", name);
  return { steps: life.steps, isRobbed };
}

/** Everything that the owner has acknowledged, at any time, was found by the thief. */
function checkAcknowledged(life: Life, found: View): void {
  ok(found.log.startsWith(life.log), `${found.log} lacks ${life.log}`);
  const isChecked = found.check === life.check ||
    found.check === life.checkNext;
  ok(isChecked, `check ${found.check}, not ${life.check}`);
  if (life.failure === undefined) return;
  equal(life.failure, "database-locked");
  ok(life.later.every((code) => code === "database-locked"), `${life.later}`);
}

browserTest(
  "a fenced owner neither acknowledges nor harms, wherever it was stopped",
  {
    entries,
    secondsMax: 240,
  },
  async (place) => {
    const tab = await place.open<typeof import("./storage_page.ts")>("page");
    let robbed = 0;
    for (let stopAt = 1, last = Infinity; stopAt <= last; stopAt++) {
      try {
        const { steps, isRobbed } = await duel(tab, stopAt);
        if (steps < stopAt) last = steps;
        if (isRobbed) robbed++;
      } catch (cause) {
        throw new Error(`stopped before call ${stopAt}: ${cause}`, { cause });
      }
    }
    ok(robbed > 100, `robbed at ${robbed} calls`);
  },
);
