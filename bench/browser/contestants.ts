/**
 * Who is measured, and how each comes into a page: the text of the module that
 * hands its packages to its engine. Only this text names the packages, which
 * the bench installs for itself.
 *
 * @module
 */

/** One database of the bench. */
export interface Contestant {
  readonly name: string;
  /** The packages it needs of an app; what they weigh is a row. */
  readonly imports: string;
  /** Makes the engine of what `imports` names. */
  readonly engine: string;
  /** Its worker, where it has one. */
  readonly worker?: string;
}

function engineFrom(file: string, name: string, packages: string): string {
  return `import { ${name} } from "./bench/browser/engines/${file}.ts";
const engine = ${name}(${packages});`;
}

export const contestants: readonly Contestant[] = [
  {
    name: "Sheaf",
    imports:
      `import { defineSchema, field, openDatabase } from "@sheaf/sheaf/browser";`,
    engine: engineFrom(
      "sheaf",
      "sheafEngine",
      "{ defineSchema, field, openDatabase }",
    ),
    worker: `import "@sheaf/sheaf/worker";\npostMessage("up");`,
  },
  {
    name: "IndexedDB",
    imports: "",
    engine: engineFrom("indexeddb", "indexedDbEngine", ""),
  },
  {
    name: "Dexie",
    imports: `import { Dexie, liveQuery } from "dexie";`,
    engine: engineFrom("dexie", "dexieEngine", "{ Dexie, liveQuery }"),
  },
  {
    name: "RxDB",
    imports: `import { createRxDatabase } from "rxdb/plugins/core";
import { getRxStorageDexie } from "rxdb/plugins/storage-dexie";`,
    engine: engineFrom(
      "rxdb",
      "rxdbEngine",
      "{ createRxDatabase, getRxStorageDexie }",
    ),
  },
  {
    name: "TinyBase",
    imports: `import { createQueries, createStore } from "tinybase";
import { createIndexedDbPersister } from "tinybase/persisters/persister-indexed-db";`,
    engine: engineFrom(
      "tinybase",
      "tinyBaseEngine",
      "{ createStore, createQueries, createIndexedDbPersister }",
    ),
  },
  {
    name: "Yjs",
    imports: `import { Doc, Map as YMap } from "yjs";
import { IndexeddbPersistence } from "y-indexeddb";`,
    engine: engineFrom(
      "yjs",
      "yjsEngine",
      "{ Doc, Map: YMap, IndexeddbPersistence }",
    ),
  },
];

/** The script of a contestant's page. */
export function pageText({ imports, engine }: Contestant): string {
  return `import { benchPage } from "./bench/browser/page.ts";
${imports}
${engine}
export const page = benchPage(engine);`;
}

/** A script that has only what an app loads of a contestant. */
export function loadText({ imports }: Contestant): string {
  const names = imports.matchAll(/import \{([^}]*)\}/g);
  const all = Array.from(
    names,
    ([, list = ""]) =>
      list.split(",").map((name) => name.trim().split(" as ").at(-1)),
  );
  return `${imports}\nexport { ${all.flat().join(", ")} };`;
}
