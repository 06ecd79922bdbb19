/**
 * The pages hold what they promise: links lead somewhere, lines and pages stay
 * short, limits have the values that are told. (That their examples run is asked by `deno task ok:docs`.)
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { defaultQuotas } from "../server/options.ts";
import { limits } from "../src/base/limits.ts";
import { filled } from "./layouts.ts";

const root = new URL("..", import.meta.url);
const COLUMNS_MAX = 130;

/** Most lines of pages that are meant to be read in one sitting. */
const LINES_MAX: Readonly<Record<string, number>> = {
  "README.md": 120,
  "docs/architecture.md": 300,
  "docs/format.md": 241,
  "docs/format-checkpoint.md": 200,
  "docs/glossary.md": 84,
  "docs/protocol.md": 243,
  "docs/security.md": 163,
  "docs/style.md": 150,
  "docs/testing.md": 100,
};

/** Pages that a program writes. */
const GENERATED = ["docs/benchmarks.md"];

function* pagesIn(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(new URL(folder, root))) {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory) yield* pagesIn(`${path}/`);
    else if (path.endsWith(".md")) yield path;
  }
}

const pages = ["README.md", "CHANGELOG.md", ...pagesIn("docs/")]
  .filter((page) => !GENERATED.includes(page)).sort();

const read = (page: string) => Deno.readTextFileSync(new URL(page, root));

/** The text of a page without its fenced blocks. */
function proseOf(page: string): string {
  return read(page).replace(/^```[^]*?^```$/gm, "");
}

function exists(url: URL): boolean {
  try {
    Deno.statSync(url);
    return true;
  } catch {
    return false;
  }
}

/** Relative links of a page that lead nowhere. */
function deadLinks(page: string): string[] {
  const targets = proseOf(page).matchAll(/\]\(([^)\s]+)\)/g);
  return Array.from(targets, ([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:|^#/.test(target))
    .filter((target) => !exists(new URL(target, new URL(page, root))))
    .map((target) => `${page}: ${target}`);
}

/** Lines of prose that are too long; tables may be wide. */
function longLines(page: string): string[] {
  return proseOf(page).split("\n")
    .filter((line) => line.length > COLUMNS_MAX && !line.startsWith("|"))
    .map((line) => `${page}: ${line.slice(0, 40)}`);
}

Deno.test("docs link to files that are there", () => {
  deepEqual(pages.flatMap(deadLinks), []);
});

Deno.test("docs keep their lines short", () => {
  deepEqual(pages.flatMap(longLines), []);
});

Deno.test("docs keep their pages short", () => {
  const long = Object.entries(LINES_MAX).filter(([page, linesMax]) =>
    read(page).trimEnd().split("\n").length > linesMax
  );
  deepEqual(long, []);
});

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  ms: 1,
  s: 1_000,
  KiB: 1_024,
  MiB: 1_024 * 1_024,
};

/** The value of "4 MiB" or "10,000". */
function valueOf(text = ""): number {
  const [, digits = "", unit = ""] = /^([\d,]+) ?(\w*)$/.exec(text.trim()) ??
    [];
  return Number(digits.replaceAll(",", "")) * UNITS[unit]!;
}

Deno.test("docs give the limits of the protocol their values", () => {
  const rows = [...read("docs/protocol.md").matchAll(/^\| `(\w+)`.*/gm)]
    .filter(([, name = ""]) => Object.hasOwn(limits, name));
  ok(rows.length >= 10);
  for (const [row, name = ""] of rows) {
    const said = /^[^|]*\|[^|]*\| ([\d,]+ ?\w*)/.exec(row)?.[1];
    deepEqual(
      [name, valueOf(said)],
      [name, limits[name as keyof typeof limits]],
    );
  }
});

/** Bounds that the page on security tells, and where they are kept. */
const BOUNDS: readonly [said: RegExp, value: number][] = [
  [/, (\d+) lines a minute per address/, limits.strangerLinesMax],
  [/asks for; (\d+ MiB) in all/, limits.servedBytesMax],
  [/write ([\d,]+) certificates into each/, limits.certificatesKeptMax],
  [/records\*\*: (\d+ MiB) over all/, limits.partBytesMax],
  [/sending records over (\d+ KiB)/, limits.recordsBytesSoft],
  [/address that has (\d+) of them/, limits.lingeringSocketsMax],
  [/: (\d+) strangers of one address/, defaultQuotas.unprovedPerAddress],
];

Deno.test("docs give the bounds of security their values", () => {
  const page = read("docs/security.md").replace(/\s+/g, " ");
  for (const [said, value] of BOUNDS) {
    deepEqual([said.source, valueOf(said.exec(page)?.[1])], [
      said.source,
      value,
    ]);
  }
  const names = [...page.matchAll(/`(\w+Max)`/g)].map(([, name = ""]) => name);
  ok(names.length >= 4);
  deepEqual(names.filter((name) => !Object.hasOwn(limits, name)), []);
});

Deno.test("docs show the layouts that the code has", () => {
  for (const page of ["docs/format.md", "docs/protocol.md"]) {
    const text = read(page);
    equal(filled(text), text, "run deno task layouts");
  }
});

Deno.test("docs install the package of this version", () => {
  const { version } = JSON.parse(read("deno.json"));
  const named =
    /sheaf-([\d.]+)\.tgz|@sheaf\/sheaf@\^([\d.]+)|^Version ([\d.]+)/gm;
  const said = pages.filter((page) => page !== "CHANGELOG.md").flatMap((page) =>
    [...read(page).matchAll(named)].map(([text, ...versions]) => ({
      page,
      text,
      isTrue: version.startsWith(versions.find(Boolean)),
    }))
  );
  ok(said.length >= 6);
  deepEqual(said.filter(({ isTrue }) => !isTrue), []);
});
