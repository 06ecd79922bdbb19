import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import type { Figure } from "./figure.ts";
import { fixtureCase, fixtureSuite } from "./fixture_suite.ts";
import { casesOf, runSuite, type Watcher } from "./schedule.ts";
import type { CaseSpec, Order } from "./suite.ts";

const order: Order = {
  sizes: [],
  engines: [],
  filter: "",
  isQuick: true,
  addresses: {},
};
const module = new URL("fixture_suite.ts", import.meta.url).href;

interface Seen {
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
  /** What the run left in its folder. */
  readonly left: readonly string[];
}

async function runIn(folder: string, cases: CaseSpec[]): Promise<Seen> {
  const notes: string[] = [];
  const watcher: Watcher = {
    begin: () => {},
    step: () => {},
    note: (text) => void notes.push(text),
  };
  const place = { folder, peers: folder, module };
  const figures = await runSuite(fixtureSuite(cases), order, place, watcher);
  const left = [...Deno.readDirSync(folder)].map(({ name }) => name);
  return { figures, notes, left };
}

async function inFolder(work: (folder: string) => Promise<void>) {
  const folder = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    await work(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("runSuite() gives each engine and repetition a fresh process and folder, to and fro", async () => {
  await inFolder(async (folder) => {
    const diary = `${folder}/diary`;
    const two = { repetitions: 2, params: { diary } };
    const { figures, left } = await runIn(folder, [
      fixtureCase(two),
      fixtureCase({ ...two, engine: "noisy" }),
    ]);
    equal(Deno.readTextFileSync(diary), "good\nnoisy\nnoisy\ngood\n");
    deepEqual(left, ["diary"]);
    deepEqual(
      figures.map((one) => [
        one.engine,
        one.operation,
        one.median,
        one.samples,
        one.wrong,
        one.failed,
      ]),
      ["good", "noisy"].flatMap((engine) => [
        [engine, "to ten", 2, 6, undefined, undefined],
        [engine, "rate", 500, 2, undefined, undefined],
      ]),
    );
    equal(new Set(figures.map(({ beside }) => beside.peakBytes)).size, 3);
  });
});

Deno.test("runSuite() says of each engine that gives no figure why, and goes on", async () => {
  await inFolder(async (folder) => {
    const diary = `${folder}/diary`;
    const { figures, notes } = await runIn(
      folder,
      ["missing", "broken", "mute", "wrong", "good"].map((engine) =>
        fixtureCase({
          engine,
          repetitions: engine === "broken" ? 3 : 1,
          params: { diary },
        })
      ),
    );
    // Who broke is not asked again.
    equal(Deno.readTextFileSync(diary).split("broken").length, 2);
    const [missing, broken, mute, wrong, good] = figures;
    match(missing?.skipped ?? "", /no such engine on this machine/);
    equal(missing?.failed, undefined);
    match(broken?.failed ?? "", /the index is out of joint/);
    equal(broken?.median, null);
    equal(mute?.failed, "ended without an answer");
    equal(wrong?.wrong, "11 instead of 10");
    equal(good?.median, 2);
    equal(notes.length, 3);
    equal(notes.every((note) => !note.includes("\n")), true);
  });
});

Deno.test({
  name: "a case that takes too long is ended with all that it started",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await inFolder(async (folder) => {
      const pid = `${folder}/pid`;
      const { figures } = await runIn(folder, [
        fixtureCase({ engine: "endless", msMax: 2_500, params: { pid } }),
      ]);
      equal(figures[0]?.failed, "killed after 2.5 s");
      const sleeper = Number(Deno.readTextFileSync(pid));
      const isEnded = await isGone(sleeper);
      if (!isEnded) Deno.kill(sleeper, "SIGKILL");
      ok(isEnded, "what the case started lives on");
    });
  },
});

Deno.test({
  name:
    "a process that left the case's group and holds its standard error is not waited for",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await inFolder(async (folder) => {
      const pid = `${folder}/pid`;
      const { figures } = await runIn(folder, [
        fixtureCase({ engine: "deserted", params: { pid } }),
      ]);
      const deserter = Number(Deno.readTextFileSync(pid));
      const wasWaitedFor = await isGone(deserter);
      if (!wasWaitedFor) Deno.kill(deserter, "SIGKILL");
      equal(figures[0]?.failed, undefined);
      equal(figures[0]?.median, 2);
      equal(wasWaitedFor, false);
    });
  },
});

/** A killed process stays on the list until somebody asks how it ended. */
async function isGone(pid: number): Promise<boolean> {
  const { stdout } = await new Deno.Command("ps", {
    args: ["-o", "stat=", "-p", String(pid)],
  }).output();
  const state = new TextDecoder().decode(stdout).trim();
  return state === "" || state.startsWith("Z");
}

Deno.test("casesOf() keeps the engines that were asked for, and refuses twins", () => {
  const suite = fixtureSuite([
    fixtureCase({ engine: "sqlite-full" }),
    fixtureCase({ engine: "sheaf-fast" }),
  ]);
  deepEqual(
    casesOf(suite, { ...order, engines: ["sqlite", "lmdb"] })
      .map(({ engine }) => engine),
    ["sqlite-full"],
  );
  const twins = fixtureSuite([fixtureCase(), fixtureCase()]);
  throws(() => casesOf(twins, order), /Two cases of kv are \["count","good"\]/);
});
