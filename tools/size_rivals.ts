/**
 * `deno task size --rivals`: the same small app on us and on others, each
 * bundled alike. It keeps tasks on the device, lists those that are open, live,
 * and brings them to a server where the package can.
 *
 * @module
 */

import {
  installPages,
  installPeers,
  type Peers,
  peerVersions,
} from "../bench/peers/install.ts";
import { weigh } from "./browser/weigh.ts";
import { connecting } from "./size_budget.ts";
import { totalOf } from "./size_report.ts";

/** The app on one database. */
interface Rival {
  readonly name: string;
  /** What it is made of, as `package.json` or `pages.json` of `bench/peers/` names it. */
  readonly packages: readonly string[];
  /** What it does less than ours. */
  readonly less: string;
  readonly entries: Readonly<Record<string, string>>;
}

const rivals: readonly Rival[] = [
  {
    name: "Sheaf",
    packages: [],
    less: "",
    entries: {
      page: `
import { defineSchema, field, openDatabase } from "@sheaf/sheaf/browser";
const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
});
export async function app(worker, show) {
  const db = await openDatabase({ name: "app", worker, schemas: [Task] });
  const tasks = (await db.repository("tasks")).collection(Task);
  tasks.where({ done: false }).subscribe(show);
  await db.connect("wss://sync.example", { repositories: ["tasks"] });
  return (title) => tasks.create({ title });
}`,
      worker: `import "@sheaf/sheaf/worker";`,
    },
  },
  {
    name: "TinyBase",
    packages: ["tinybase"],
    less: "no schema; saves the whole store each time; unsigned, no history",
    entries: {
      page: `
import { createMergeableStore, createQueries } from "tinybase";
import { createIndexedDbPersister } from "tinybase/persisters/persister-indexed-db";
import { createWsSynchronizer } from "tinybase/synchronizers/synchronizer-ws-client";
export async function app(show) {
  const store = createMergeableStore();
  const persister = createIndexedDbPersister(store, "app");
  await persister.startAutoPersisting();
  const queries = createQueries(store);
  queries.setQueryDefinition("open", "task", ({ select, where }) => {
    select("title");
    where("done", false);
  });
  queries.addResultTableListener("open", () => show(queries.getResultTable("open")));
  const sync = await createWsSynchronizer(store, new WebSocket("wss://sync.example"));
  await sync.startSync();
  return (title) => store.addRow("task", { title, done: false });
}`,
    },
  },
  {
    name: "RxDB",
    packages: ["rxdb", "rxjs"],
    less: "conflicts by the whole document; unsigned, no history",
    entries: {
      page: `
import { createRxDatabase } from "rxdb/plugins/core";
import { getRxStorageDexie } from "rxdb/plugins/storage-dexie";
import { replicateWithWebsocketServer } from "rxdb/plugins/replication-websocket";
export async function app(show) {
  const db = await createRxDatabase({ name: "app", storage: getRxStorageDexie() });
  const { task } = await db.addCollections({ task: { schema: {
    version: 0,
    primaryKey: "id",
    type: "object",
    properties: {
      id: { type: "string", maxLength: 22 },
      title: { type: "string" },
      done: { type: "boolean" },
    },
  } } });
  task.find({ selector: { done: false } }).$.subscribe(show);
  await replicateWithWebsocketServer({ collection: task, url: "wss://sync.example" });
  return (title) => task.insert({ id: crypto.randomUUID(), title, done: false });
}`,
    },
  },
  {
    name: "Dexie",
    packages: ["dexie"],
    less: "no sync, no merging",
    entries: {
      page: `
import { Dexie, liveQuery } from "dexie";
export function app(show) {
  const db = new Dexie("app");
  db.version(1).stores({ task: "++id, done" });
  liveQuery(() => db.task.where({ done: 0 }).toArray()).subscribe(show);
  return (title) => db.task.add({ title, done: 0 });
}`,
    },
  },
  {
    name: "PouchDB",
    packages: ["pouchdb-browser", "pouchdb-find", "events"],
    less: "no live query; one winner of a conflict; unsigned",
    entries: {
      page: `
import PouchDB from "pouchdb-browser";
import find from "pouchdb-find";
PouchDB.plugin(find);
export function app(show) {
  const db = new PouchDB("app");
  const ask = () => db.find({ selector: { done: false } }).then(show);
  db.changes({ since: "now", live: true }).on("change", ask);
  db.sync("https://sync.example/app", { live: true, retry: true });
  return (title) => db.post({ title, done: false });
}`,
    },
  },
  {
    name: "Zero",
    packages: ["@rocicorp/zero"],
    less: "a server with Postgres decides; refuses writes offline; no history",
    entries: {
      page: `
import { boolean, createSchema, string, table, Zero } from "@rocicorp/zero";
const task = table("task")
  .columns({ id: string(), title: string(), done: boolean() })
  .primaryKey("id");
const schema = createSchema({ tables: [task] });
export function app(show) {
  const zero = new Zero({ schema, userID: "ada", server: "https://sync.example" });
  zero.query.task.where("done", false).materialize().addListener(show);
  return (title) =>
    zero.mutate.task.insert({ id: crypto.randomUUID(), title, done: false });
}`,
    },
  },
  {
    name: "Jazz",
    packages: ["jazz-tools"],
    less: "no queries; holds wasm as text",
    entries: {
      page: `
import { co, z } from "jazz-tools";
import { JazzBrowserContextManager } from "jazz-tools/browser";
const Task = co.map({ title: z.string(), done: z.boolean() });
const Account = co.account({
  profile: co.profile(),
  root: co.map({ tasks: co.list(Task) }),
}).withMigration((account) => {
  if (!account.$jazz.has("root")) account.$jazz.set("root", { tasks: [] });
});
export async function app(show) {
  const context = new JazzBrowserContextManager();
  await context.createContext({
    sync: { peer: "wss://sync.example" },
    storage: "indexedDB",
    AccountSchema: Account,
  });
  const { me } = context.getCurrentValue();
  const { root } = await me.$jazz.ensureLoaded({
    resolve: { root: { tasks: { $each: true } } },
  });
  root.tasks.$jazz.subscribe((tasks) => show(tasks.filter((one) => !one.done)));
  return (title) => root.tasks.$jazz.push({ title, done: false });
}`,
    },
  },
];

const [NAME, FIGURE] = [40, 12];

function row(name: string, figures: readonly string[], less: string): string {
  const cells = figures.map((cell) => cell.padStart(FIGURE)).join("");
  return `${name.padEnd(NAME)}${cells}  ${less}`.trimEnd();
}

async function rowOf(rival: Rival, packages: string): Promise<string> {
  const { name, entries, less } = rival;
  const { chunks } = await weigh({
    entries,
    ...rival.packages.length > 0 ? { packages } : { fetched: connecting },
  });
  const kilobytes = (isLazy: boolean) =>
    (totalOf({ chunks }, isLazy) / 1_000).toFixed(1);
  const versions = peerVersions(rival.packages.slice(0, 1)).join();
  const title = rival.packages.length > 0 ? versions : name;
  return row(title, [kilobytes(false), kilobytes(true)], less);
}

/** The report, line by line; who cannot be had or built gets a line that says so. */
export async function weighRivals(): Promise<string[]> {
  const installs = [await installPeers(), await installPages()];
  const missing = Object.assign({}, ...installs.map(({ missing }) => missing));
  const lines = [
    row("KB of gzip, minified: the same app", ["connected", "later"], ""),
  ];
  for (const rival of rivals) {
    const why = rival.packages.map((name) => missing[name]).find(Boolean);
    lines.push(
      why !== undefined
        ? row(rival.name, ["-", "-"], `left out: ${why}`)
        : await rowOf(rival, folderOf(rival, installs)).catch((error: Error) =>
          row(rival.name, ["-", "-"], `does not build: ${error.message}`)
        ),
    );
  }
  return lines;
}

/** Where its packages are. */
function folderOf({ packages: [name] }: Rival, installs: Peers[]): string {
  return installs.find(({ folder }) => name && hasPackage(folder, name))
    ?.folder ?? "";
}

function hasPackage(folder: string, name: string): boolean {
  try {
    return Deno.statSync(`${folder}node_modules/${name}`).isDirectory;
  } catch {
    return false;
  }
}
