/**
 * The map from promises to tests, `docs/promises.md`: reads it and the pages
 * that promise, and says where map, pages and tests do not agree.
 *
 * A section of the map has the heading of the section that promises. Its table
 * has one line per test; the first line of an entry quotes how the promise
 * begins.
 *
 * @module
 */

import type { Tier } from "./test/tiers.ts";

/** A section of a page, and what in it is a promise. */
export interface PromisePage {
  readonly page: string;
  /** Its heading, here and in the map. */
  readonly heading: string;
  readonly read: (section: string) => string[];
  /** Only some of it promises: what has no entry is no fault. */
  readonly isPartial?: boolean;
}

/** A test that proves a promise. */
export interface Proof {
  readonly file: string;
  /** How its name begins. */
  readonly name: string;
  readonly tier: string;
}

/** One promise in the map. */
export interface Entry {
  readonly heading: string;
  /** How the promise begins. */
  readonly promise: string;
  readonly proofs: Proof[];
  /** Why no test proves it, or what of it. */
  readonly excuses: string[];
}

/** What a map is compared with. */
export interface Facts {
  /** Promises by heading. */
  readonly promised: ReadonlyMap<string, readonly string[]>;
  /** Headings that need not be covered whole. */
  readonly partial: ReadonlySet<string>;
  /** Names of a file's tests, `undefined` where there is no such file. */
  readonly testsIn: (file: string) => readonly string[] | undefined;
  readonly tierOf: (file: string) => Tier;
}

/** Every page that promises. */
export const promisePages: readonly PromisePage[] = [
  { page: "README.md", heading: "What it promises", read: sentencesOfBullets },
  {
    page: "docs/security.md",
    heading: "Who may lie, in Default mode",
    read: defencesOfTable,
  },
  {
    page: "docs/security.md",
    heading: "What a session can do, and for how long",
    read: (section) => sentencesOf(plain(section)),
  },
  {
    page: "docs/security.md",
    heading: "What is trusted",
    read: sentencesOfBullets,
    isPartial: true,
  },
  {
    page: "docs/security.md",
    heading: "What is not defended",
    read: sentencesOfBullets,
    isPartial: true,
  },
  { page: "docs/architecture.md", heading: "Laws", read: numbered },
];

/** The text below a heading of the second level, up to the next one. */
export function sectionOf(page: string, heading: string): string {
  const [, section] = `\n${page}`.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`There is no "${heading}"`);
  return section.split("\n## ")[0]!;
}

/** Text without marks of Markdown, on one line. */
function plain(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\*\*|`|(?<=^|\s)_(?=\w)|(?<=\w)_(?=\s)/g, "").replace(/\s+/g, " ")
    .trim();
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.;])\s+/).map((one) => one.replace(/[.;]$/, ""));
}

function sentencesOfBullets(section: string): string[] {
  return section.split(/^- /m).slice(1)
    .flatMap((bullet) => sentencesOf(plain(bullet.split("\n\n")[0]!)));
}

function numbered(section: string): string[] {
  return [...section.matchAll(/^\d+\. .*(?:\n {3,}.*)*/gm)]
    .map(([item]) => plain(item));
}

/** `what is tried: what stops it`, one for each thing that does. */
function defencesOfTable(section: string): string[] {
  return rowsOf(section).flatMap(([, tried = "", stopped = ""]) =>
    plain(stopped).split("; ").map((defence) => `${plain(tried)}: ${defence}`)
  );
}

/** Cells of a table's rows, without its head. */
function rowsOf(section: string): string[][] {
  const lines = section.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line.slice(1, -1).split("|").map((cell) => cell.trim())
  );
}

/** The entries of a map. */
export function readMap(map: string): Entry[] {
  const headings = [...map.matchAll(/^## (.*)$/gm)].map(([, name = ""]) =>
    name
  );
  return headings.flatMap((heading) =>
    entriesOf(heading, rowsOf(sectionOf(map, heading)))
  );
}

function entriesOf(heading: string, rows: readonly string[][]): Entry[] {
  const entries: Entry[] = [];
  for (const [promise = "", test = "", tier = ""] of rows) {
    if (promise !== "" || entries.length === 0) {
      entries.push({
        heading,
        promise: plain(promise),
        proofs: [],
        excuses: [],
      });
    }
    if (test === "") continue;
    const { proofs, excuses } = entries.at(-1)!;
    const [, excuse] = /^not tested: (.+)/.exec(test) ?? [];
    const [, file = test, name = ""] = /^`([^`]+)`: (.+)$/.exec(test) ?? [];
    if (excuse === undefined) proofs.push({ file, name, tier });
    else excuses.push(excuse);
  }
  return entries;
}

/** The names of a module's tests, with `${…}` as it stands there. */
export function testNamesIn(source: string): string[] {
  const code = source.replace(/^\s*\/\/.*$/gm, "");
  const calls = code.matchAll(
    /\b(?:Deno\.test|browserTest)\(\s*(?:\{\s*name:\s*)?(["'`])((?:\\.|(?!\1)[^\\])+)\1/g,
  );
  return Array.from(calls, ([, , name = ""]) => name.replace(/\\(.)/g, "$1"));
}

/** Where map, pages and tests do not agree, one line each. */
export function objectionsTo(
  entries: readonly Entry[],
  facts: Facts,
): string[] {
  return [
    ...uncovered(entries, facts),
    ...entries.flatMap((entry) => objectionsToEntry(entry, facts)),
  ];
}

function uncovered(entries: readonly Entry[], facts: Facts): string[] {
  const headings = [...facts.promised].filter(([heading]) =>
    !facts.partial.has(heading)
  );
  return headings.flatMap(([heading, promises]) =>
    promises.filter((promise) =>
      !entries.some((entry) =>
        entry.heading === heading && promise.startsWith(entry.promise)
      )
    ).map((promise) => `${heading}: "${promise}" has no entry`)
  );
}

function objectionsToEntry(entry: Entry, facts: Facts): string[] {
  const { heading, promise, proofs, excuses } = entry;
  const meant = (facts.promised.get(heading) ?? []).filter((one) =>
    one.startsWith(promise)
  );
  const objections: string[] = [];
  if (meant.length === 0) objections.push("no page says so");
  if (meant.length > 1) objections.push("several promises begin so");
  if (proofs.length + excuses.length === 0) {
    objections.push("has neither a test nor a reason");
  }
  if (proofs.length > 0 && proofs.every(({ tier }) => tier === "all")) {
    objections.push("has no quick test");
  }
  for (const proof of proofs) {
    objections.push(...objectionsToProof(proof, facts));
  }
  return objections.map((why) => `${heading}: "${promise}" ${why}`);
}

function objectionsToProof(proof: Proof, facts: Facts): string[] {
  const { file, name, tier } = proof;
  const names = facts.testsIn(file);
  if (names === undefined) return [`names "${file}", which is no file`];
  const objections: string[] = [];
  if (name === "" || !names.some((one) => one.startsWith(name))) {
    objections.push(`names "${name}", and no test of ${file} begins so`);
  }
  const is = facts.tierOf(file);
  if (tier !== is) {
    objections.push(`calls ${file} "${tier}", and it is "${is}"`);
  }
  return objections;
}
