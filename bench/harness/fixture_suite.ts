/**
 * A suite for the tests of the schedule: its engines are good, wrong, broken,
 * missing, endless, deserted, mute or noisy, and keep a diary of their turns.
 *
 * @module
 */

import { type CaseSpec, NotHere, type Outcome, type Suite } from "./suite.ts";

/** One case of the fixture. */
export function fixtureCase(parts: Partial<CaseSpec> = {}): CaseSpec {
  return {
    suite: "kv",
    name: "count",
    table: "Counting",
    operation: "to ten",
    engine: "good",
    durability: "none",
    size: 10,
    repetitions: 1,
    msMax: 20_000,
    params: {},
    ...parts,
  };
}

/** The suite, with the cases that a test wants. */
export function fixtureSuite(cases: CaseSpec[]): Suite {
  return { ...suite, cases: () => cases };
}

/** What the child loads. */
export const suite: Suite = {
  name: "kv",
  peers: [],
  cases: () => [],
  run: async ({ engine, params }, stage): Promise<Outcome[]> => {
    const { diary } = params;
    if (typeof diary === "string") {
      Deno.writeTextFileSync(diary, `${engine}\n`, { append: true });
    }
    const isEmpty = [...Deno.readDirSync(stage.folder)].length === 0;
    Deno.writeTextFileSync(`${stage.folder}/litter`, "left behind");
    const wrong = isEmpty ? undefined : "the folder was not empty";
    return await behave(engine, params, wrong);
  },
};

/** A process that sleeps until it is ended, with our standard error open, in our group or not. */
function sleep(pidFile: string, detached: boolean): Deno.ChildProcess {
  const sleeper = new Deno.Command(Deno.execPath(), {
    args: ["eval", "setInterval(() => {}, 60_000)"],
    stderr: "inherit",
    detached,
  }).spawn();
  Deno.writeTextFileSync(pidFile, String(sleeper.pid));
  return sleeper;
}

async function behave(
  engine: string,
  params: CaseSpec["params"],
  wrong: string | undefined,
): Promise<Outcome[]> {
  switch (engine) {
    case "missing":
      throw new NotHere("there is no such engine on this machine");
    case "broken":
      throw new RangeError("the index is out of joint");
    case "mute":
      Deno.exit(0);
      break;
    case "endless":
      await sleep(String(params.pid), false).status;
      break;
    case "deserted":
      sleep(String(params.pid), true);
      break;
    case "wrong":
      return [{ unit: "ms", samples: [1], wrong: "11 instead of 10" }];
    case "noisy":
      console.log("this engine likes to talk");
  }
  const count: Outcome = {
    unit: "ms",
    samples: [1, 2, 3],
    beside: { peakBytes: Deno.pid },
    ...(wrong === undefined ? {} : { wrong }),
  };
  return [count, { unit: "per s", samples: [500], operation: "rate" }];
}
