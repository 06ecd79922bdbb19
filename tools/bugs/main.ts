/**
 * `deno task bugs [NAME…]`: makes each bug of the list in a private copy of the
 * tree, and says which test finds it and after how long. Ends with code 1 where
 * one is not found.
 *
 * @module
 */

import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkout, Sandbox } from "../sandbox.ts";
import type { Bug } from "./bug.ts";
import { hunt, type Hunted } from "./hunt.ts";
import { bugs } from "./list.ts";

const USAGE =
  `deno task bugs [NAME…]: makes the deliberate bugs of tools/bugs one by one, and says which test finds each

  --list       say what they are, and run nothing
  --blind      by everything in its own order, not by the tests that the list names
  --all        also those that only \`deno task test:all\` finds
  --seconds N  so long tests may run for each (60)
  --jobs N     so many at once (1)`;

const { values, positionals } = parseArguments();
const chosen = chooseBugs();
if (values.list) {
  for (const bug of chosen) console.log(lineOf(bug));
  Deno.exit(0);
}
const hunted = await huntAll();
const missed = hunted.filter(({ complaint }) => complaint !== undefined);
console.log(`\n${hunted.length - missed.length} found, ${missed.length} not`);
Deno.exit(missed.length === 0 ? 0 : 1);

function parseArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        list: { type: "boolean" },
        blind: { type: "boolean" },
        all: { type: "boolean" },
        seconds: { type: "string", default: "60" },
        jobs: { type: "string", default: "1" },
        help: { type: "boolean" },
      },
    });
    if (values.help) {
      console.log(USAGE);
      Deno.exit(0);
    }
    return { values, positionals };
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    return refuse(cause.message);
  }
}

function refuse(why: string): never {
  console.error(`${why}\n\n${USAGE}`);
  Deno.exit(2);
}

function wholeOf(name: "seconds" | "jobs"): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  return refuse(`--${name} must be a whole number from 1`);
}

/** Those that were named; else all of the tiers that were asked for. */
function chooseBugs(): readonly Bug[] {
  const names = new Set(bugs.map(({ name }) => name));
  const unknown = positionals.find((name) => !names.has(name));
  if (unknown !== undefined) refuse(`There is no bug "${unknown}"`);
  if (positionals.length > 0) {
    return bugs.filter(({ name }) => positionals.includes(name));
  }
  const isAll = values.all === true || values.list === true;
  return bugs.filter(({ tier }) => isAll || tier === undefined);
}

function lineOf({ name, breaks, tier, foundBy }: Bug): string {
  const where = tier === undefined ? "" : ` (test:all: ${foundBy.join(", ")})`;
  return `${name}: ${breaks}${where}`;
}

async function huntAll(): Promise<Hunted[]> {
  const queue = [...chosen];
  const hunted: Hunted[] = [];
  const options = {
    isBlind: values.blind === true,
    secondsMax: wholeOf("seconds"),
  };
  const work = async () => {
    await using sandbox = await Sandbox.open(checkout);
    // It would find every bug: its text is not there any more.
    await Deno.remove(join(sandbox.path, "tools/bugs/list_test.ts"));
    Deno.addSignalListener("SIGINT", () => void end(sandbox));
    for (let bug = queue.shift(); bug !== undefined; bug = queue.shift()) {
      const one = await hunt(bug, sandbox, options);
      hunted.push(one);
      tell(one);
    }
  };
  await Promise.all(Array.from({ length: wholeOf("jobs") }, work));
  return hunted;
}

async function end(sandbox: Sandbox): Promise<never> {
  await sandbox[Symbol.asyncDispose]();
  Deno.exit(130);
}

function tell({ bug, seconds, foundBy, complaint }: Hunted): void {
  const by = foundBy && `${foundBy.file}: ${foundBy.name}`;
  const parts = [complaint, by].filter((part) => part !== undefined);
  console.log(`${bug.name} (${seconds.toFixed(1)} s): ${parts.join("; ")}`);
}
