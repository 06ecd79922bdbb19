/**
 * `deno task bench:browser`: Sheaf beside other databases of the browser, in
 * one Chromium, with the same items.
 *
 * @module
 */

import { Command } from "commander";
import { endBundling } from "../../tools/browser/bundle.ts";
import { showSize } from "../harness/format.ts";
import { describeMachine, describeVersions } from "../harness/machine.ts";
import { parseSizes } from "../harness/options.ts";
import { Progress } from "../harness/progress.ts";
import { contestants } from "./contestants.ts";
import { installPeers, peerVersions } from "../peers/install.ts";
import { type BrowserRun, textLines, withSection } from "./report.ts";
import { Collected, rowsOf } from "./results.ts";
import { isPublished, run } from "./run.ts";

const root = new URL("../../", import.meta.url);
const docPath = new URL("docs/benchmarks.md", root);

/** The packages of the pages; those of the other benches do not matter here. */
const browserPeers = [
  "dexie",
  "rxdb",
  "rxjs",
  "tinybase",
  "y-indexeddb",
  "yjs",
];

interface Options {
  readonly size: number[];
  readonly only?: string;
  readonly quick?: true;
  readonly json?: string;
  readonly doc?: true;
}

function parse(): Options {
  return new Command("deno task bench:browser")
    .description(
      "Sheaf beside IndexedDB, Dexie, RxDB, TinyBase and Yjs in a real Chromium.",
    )
    .option("-s, --size <size>", "items: 2k, 100k", parseSizes, [100_000])
    .option("-o, --only <names>", "databases, with commas")
    .option("-q, --quick", "few samples: to see that it runs, not to believe")
    .option("--json <file>", "write everything as JSON")
    .option("--doc", "write the section of docs/benchmarks.md")
    .showHelpAfterError("(--help shows the options)")
    .parse([...Deno.args], { from: "user" })
    .opts<Options>();
}

/** The command that measures the same again. */
function commandOf({ only, quick }: Options, size: string): string {
  return [
    "deno task bench:browser --size",
    size,
    ...only === undefined ? [] : ["--only", only],
    ...quick === undefined ? [] : ["--quick"],
  ].join(" ");
}

async function measure(options: Options): Promise<BrowserRun> {
  const items = options.size.at(-1) ?? 100_000;
  const size = showSize(items);
  const wanted = options.only?.toLowerCase().split(",");
  const chosen = contestants.filter((contestant) =>
    isPublished(contestant) &&
    (wanted?.includes(contestant.name.toLowerCase()) ?? true)
  );
  if (chosen.length === 0) throw new Error("There is nobody to measure.");
  const dir = new URL(".data", root).pathname;
  Deno.mkdirSync(dir, { recursive: true });
  const folder = Deno.makeTempDirSync({ dir, prefix: "bench-browser-" });
  const progress = new Progress();
  const collected = new Collected();
  try {
    const browser = await run(
      {
        contestants: chosen,
        size: items,
        budget: options.quick
          ? { ms: 500, samplesMax: 20 }
          : { ms: 3_000, samplesMax: 300 },
        opens: options.quick ? 3 : 12,
        packages: (await installPeers(console.error)).folder,
        folder,
      },
      collected,
      progress,
    );
    const { cpu, cores, memoryGiB, fileSystem } = describeMachine(folder);
    const { sheaf, commit, date } = describeVersions();
    const names = chosen.map(({ name }) => name);
    return {
      about: [
        `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${fileSystem}, ${browser}`,
        `Sheaf ${sheaf} at ${commit}, ${
          peerVersions(browserPeers).join(", ")
        }, ${date}`,
      ],
      command: commandOf(options, size),
      size,
      contestants: names,
      rows: rowsOf(collected, names, size),
      failures: collected.failures,
    };
  } finally {
    progress.end();
    await endBundling();
    Deno.removeSync(folder, { recursive: true });
  }
}

async function main(): Promise<number> {
  const options = parse();
  const result = await measure(options);
  console.log(textLines(result).join("\n"));
  if (options.json !== undefined) {
    Deno.writeTextFileSync(options.json, JSON.stringify(result, null, 2));
  }
  if (options.doc === true) {
    const page = Deno.readTextFileSync(docPath);
    Deno.writeTextFileSync(docPath, withSection(page, result));
  }
  return result.failures.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
