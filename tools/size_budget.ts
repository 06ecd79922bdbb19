/**
 * What the parts of Sheaf may weigh in a page, in bytes of gzip.
 *
 * `target` is what we want. `atOnce` and `later` are ceilings a little above
 * what it weighs today: nobody makes it heavier without changing this file, and
 * who makes it lighter lowers them.
 *
 * @module
 */

/** One part, weighed as an app loads it. */
export interface Part {
  readonly name: string;
  /** Modules of the part, as TypeScript text, by the name of their script. */
  readonly entries: Readonly<Record<string, string>>;
  /** The part comes on top of this one, and only what it adds is counted. */
  readonly on?: string;
  /** What the page has imported besides, when it does what the part is for. */
  readonly fetched?: readonly string[];
  /** Packages that the app brings. */
  readonly external?: readonly string[];
  /** Wanted at once; `undefined` where no figure was set. */
  readonly target?: number;
  readonly atOnce: number;
  readonly later: number;
  /** Ceilings of what entries load at once, each for itself: neither may load what only the other runs. */
  readonly alone?: Readonly<Record<string, number>>;
}

/** What page and worker import in order to connect. */
export const connecting: readonly string[] = ["src/db/online.ts"];

/** What only some apps use, by its sources: what it weighs in the core is what loading it by use would spare. */
export const features: readonly (readonly [name: string, sources: RegExp])[] = [
  ["ordered indexes", /^src\/query\/(index_|ordered_index|radix|sort_)/],
  [
    "rich kinds: set, map, list, text",
    /^src\/schema\/(late_rich|rich|prepare_list|position|span_set|text_)/,
  ],
  ["IndexedDB", /^src\/storage\/indexeddb_/],
  ["history, undo, overwritten edits", /^src\/db\/(undo|overwritten|history)/],
  [
    "recovery, verification, scrubbing",
    /^repo\/(log_(quarantine|recovery)|repair|salvage|scrub|verify)/,
  ],
];

const core = {
  page:
    `export { DatabaseError, defineSchema, field, openDatabase } from "@sheaf/sheaf/browser";`,
  worker: `import "@sheaf/sheaf/worker";`,
};

/** All parts, each after the one it comes on top of. */
export const parts: readonly Part[] = [
  {
    name: "core",
    entries: core,
    target: 112_000,
    atOnce: 118_320,
    later: 131_950,
    alone: { page: 95_900, worker: 83_300 },
  },
  {
    name: "connected",
    entries: core,
    fetched: connecting,
    target: 138_000,
    atOnce: 161_080,
    later: 89_240,
  },
  {
    name: "memory alone",
    entries: {
      page:
        `export { DatabaseError, defineSchema, field, memoryStorage, openDatabase } from "@sheaf/sheaf";`,
    },
    fetched: ["src/browser/late_files.ts"],
    target: 62_000,
    atOnce: 93_870,
    later: 127_720,
  },
  {
    name: "schemas shared with a server",
    on: "core",
    entries: {
      shared: `export { defineSchema, field } from "@sheaf/sheaf";`,
    },
    target: 1_000,
    atOnce: 300,
    later: 100,
  },
  {
    name: "rules and sums",
    on: "core",
    entries: {
      rules:
        `export { avg, count, defineRules, max, min, rulesFor, sum } from "@sheaf/sheaf/browser";`,
    },
    atOnce: 4_950,
    later: 100,
  },
  {
    name: "preact",
    on: "core",
    entries: { preact: `export * from "@sheaf/sheaf/preact";` },
    external: ["preact", "preact/*"],
    target: 2_000,
    atOnce: 2_010,
    later: 100,
  },
  {
    name: "react",
    on: "core",
    entries: { react: `export * from "@sheaf/sheaf/react";` },
    external: ["react", "react/*"],
    target: 2_000,
    atOnce: 2_000,
    later: 100,
  },
  {
    name: "kv",
    on: "core",
    entries: { kv: `export * from "@sheaf/sheaf/kv";` },
    atOnce: 7_000,
    later: 200,
  },
  {
    name: "text",
    on: "core",
    entries: { text: `export * from "@sheaf/sheaf/text";` },
    external: ["@codemirror/*"],
    atOnce: 35_320,
    later: 200,
  },
  {
    name: "inspector",
    on: "core",
    entries: { inspector: `export * from "@sheaf/sheaf/inspector";` },
    atOnce: 13_500,
    later: 300,
  },
];
