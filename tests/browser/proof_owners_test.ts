/**
 * Two and five pages of one app write at once, and whoever owns the files is
 * closed, killed, frozen, or stopped: the others go on, nothing is lost or
 * doubled, and who comes back goes on as well.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import {
  type BrowserPlace,
  browserTest,
  type Focus,
  until,
} from "./kit/mod.ts";
import {
  type Acknowledged,
  check,
  entries,
  moreDurable,
  type ProofTab,
  same,
} from "./proof_place.ts";

type Page = typeof import("./proof_page.ts");

const name = "board";
/** What a writer may wait for its next owner. */
const TARGET_MS = 200;
/**
 * A busy or slow machine is not the code: what is held is counted in turns of a
 * timer of 5 ms in the page that waits. It may take so many, and so many times the
 * longest gap between two acknowledgements of the same run with its owner there,
 * but never as many as where the owner might only be busy.
 */
const WAIT_TURNS_MAX = 200;
const GAPS_MAX = 10;
const IMPATIENT_TURNS_MAX = 900;
/** An owner that somebody sees may only be busy: it is given five seconds. */
const PATIENT_TURNS_MAX = 3_000;

/** How an owner leaves; gives how it comes back, if it does. */
type Leave = (owner: ProofTab) => Promise<(() => Promise<void>) | undefined>;

interface Way {
  readonly focus: Focus;
  readonly isPatient?: true;
  readonly leave: Leave;
}

const gone =
  (how: (owner: ProofTab) => Promise<void>): Leave => async (owner) => {
    await how(owner);
    return undefined;
  };

const ways: Readonly<Record<string, Way>> = {
  closed: { focus: "all", leave: gone((owner) => owner.close()) },
  killed: { focus: "all", leave: gone((owner) => owner.kill()) },
  frozen: {
    focus: "front",
    leave: async (owner) => {
      await owner.freeze();
      return () => owner.thaw();
    },
  },
  stopped: {
    focus: "front",
    leave: async (owner) => {
      const goOn = await owner.stop();
      return () => Promise.resolve(goOn());
    },
  },
  "stopped in sight": {
    focus: "all",
    isPatient: true,
    leave: async (owner) => {
      const goOn = await owner.stop();
      return () => Promise.resolve(goOn());
    },
  },
};

/** Opens so many pages; each writes a run of its own. */
async function openAll(
  place: BrowserPlace,
  count: number,
): Promise<Map<string, ProofTab>> {
  const tabs = new Map<string, ProofTab>();
  for (let i = 0; i < count; i++) {
    const tab = await place.open<Page>("page");
    const { role } = await tab.call("open", { name });
    // A busy machine may make it look as if nobody were there.
    ok(i > 0 || role === "owner");
    tabs.set(`tab${i}`, tab);
  }
  // Whoever draws a stopped page cannot be asked any more.
  for (const tab of tabs.values()) await tab.pid();
  for (const [run, tab] of tabs) {
    await tab.call("begin", name, run, { everyMs: 4 * count });
  }
  return tabs;
}

/** The one of `tabs` that owns the files; waits until there is one. */
async function ownerOf(
  tabs: ReadonlyMap<string, ProofTab>,
): Promise<[string, ProofTab]> {
  let found: [string, ProofTab] | undefined;
  await until(async () => {
    for (const one of tabs) {
      if ((await one[1].call("told", name)).role === "owner") found = one;
    }
    return found !== undefined;
  }, "somebody owns the files");
  return found!;
}

/** Ends the runs of all who are there: all that they wrote is durable. */
async function endAll(
  tabs: ReadonlyMap<string, ProofTab>,
  known: Acknowledged,
): Promise<void> {
  for (const [run, tab] of tabs) {
    await tab.call("end", name);
    const told = await tab.call("told", name);
    deepEqual(told.failures, []);
    equal(told.durable, told.written);
    ok(told.written > 0, `${run} wrote nothing`);
    known.set(run, told.durable);
  }
}

/** Those that left and can come back, with how. */
type Away = Map<string, [ProofTab, () => Promise<void>]>;

/** How long the page in front waited for its next owner, and how long it might. */
interface Wait {
  readonly turns: number;
  readonly turnsMax: number;
  readonly ms: number;
}

/** The owner leaves; gives how long the page in front waited for the next one. */
async function leaveOne(
  tabs: Map<string, ProofTab>,
  { leave, focus, isPatient }: Way,
  known: Acknowledged,
  away: Away,
): Promise<Wait> {
  await moreDurable([...tabs.values()].at(-1)!, name, 10);
  const [run, owner] = await ownerOf(tabs);
  known.set(run, (await owner.call("told", name)).durable);
  tabs.delete(run);
  const front = [...tabs.values()].at(-1)!;
  if (focus === "front") await front.show();
  await moreDurable(front, name, 5);
  // A page that was hidden before wrote seldom then, which says nothing.
  const shown = (await front.call("told", name)).durable;
  await moreDurable(front, name, 20);
  const before = await front.call("told", name, shown);
  const comeBack = await leave(owner);
  if (comeBack !== undefined) away.set(run, [owner, comeBack]);
  await ownerOf(tabs);
  const { written } = await front.call("told", name);
  await until(
    async () => (await front.call("told", name)).durable > written,
    "the next owner to take what is written",
  );
  const { gapTurns: turns, gapMs: ms } = await front
    .call("told", name, before.durable);
  const some = WAIT_TURNS_MAX + GAPS_MAX * before.gapTurns;
  const turnsMax = isPatient
    ? PATIENT_TURNS_MAX
    : Math.min(IMPATIENT_TURNS_MAX, some);
  return { turns, turnsMax, ms };
}

async function prove(
  place: BrowserPlace,
  count: number,
  [title, way]: [string, Way],
): Promise<void> {
  const known: Acknowledged = new Map();
  const away: Away = new Map();
  const tabs = await openAll(place, count);
  const waits: Wait[] = [];
  for (let leaves = count === 2 ? 1 : 2; leaves > 0; leaves--) {
    waits.push(await leaveOne(tabs, way, known, away));
  }
  await endAll(tabs, known);
  const writer = [...tabs.values()].at(-1)!;
  for (const [run, [tab, comeBack]] of away) {
    await comeBack();
    tabs.set(run, tab);
  }
  if (away.size > 0) {
    for (const [tab] of away.values()) await moreDurable(tab, name, 2);
    await endAll(tabs, known);
  }
  for (const tab of tabs.values()) {
    await same(tab, writer, name);
    const runs = await check(tab, name, known);
    for (const run of tabs.keys()) equal(runs[run], known.get(run), run);
  }
  equal(await writer.call("verify", name), true);
  const third = await place.open<Page>("page");
  await third.call("open", { name });
  await same(third, writer, name);
  const { count: there } = await third.call("told", name);
  equal(there, tabs.size + 1);
  console.log(
    `  ${count} pages, ${title}: waited ${
      waits.map(({ ms }) => ms.toFixed(0)).join(" and ")
    } ms (target ${TARGET_MS})`,
  );
  for (const { turns, turnsMax } of waits) {
    const words = `waited ${turns} turns, where ${turnsMax} are allowed`;
    ok(turns < turnsMax, words);
  }
}

for (const count of [2, 5]) {
  for (const way of Object.entries(ways)) {
    const [title, { focus, isPatient }] = way;
    if (isPatient && count > 2) continue;
    const many = count === 2
      ? "an owner of the files is"
      : "two owners of the files are";
    browserTest(
      `${count} pages lose and double nothing when ${many} ${title}`,
      { entries, focus, mayThrow: true },
      (place) => prove(place, count, way),
    );
  }
}
