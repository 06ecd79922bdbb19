/** A page with a database of its own, a little history, and the inspector. */

import {
  type Database,
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  rulesFor,
} from "@sheaf/sheaf";
import { openDatabase as openTab } from "../../src/browser/mod.ts";
import { inspect, type Inspector } from "@sheaf/sheaf/inspector";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
});

/** Nobody changes or deletes what is done; a title says something. */
const rules = defineRules({
  "team": {
    read: ({ session }) => session.claims["team"] === true || "Only the team",
    collections: [
      rulesFor(Task, {
        create: ({ session, after }) =>
          after.title.startsWith(session.user) || "Say who you are",
        update: ({ before }) => !before.done || "What is done stays",
        delete: ({ before }) => !before.done || "What is done stays",
      }),
    ],
  },
});

let database: Database;
let inspector: Inspector;

/** Opens a database that two people wrote to, with a live query, and the inspector. */
export async function start(): Promise<void> {
  const storage = memoryStorage();
  for (const user of ["ann", "bob", "ann"]) {
    const db = await openDatabase({ storage, user, schemas: [Task] });
    const tasks = (await db.repository("team")).collection(Task);
    for (let i = 0; i < 4; i++) {
      const { id } = await tasks.create({ title: `${user} wrote <b>${i}</b>` });
      if (i % 2 === 0) await tasks.update(id, { done: true });
    }
    await db.close();
  }
  database = await openDatabase({ storage, user: "cyd", schemas: [Task] });
  const tasks = (await database.repository("team")).collection(Task);
  tasks.where({ done: false }).orderBy("title").limit(10).subscribe(() => {});
  inspector = inspect(database, { isOpen: true });
}

/** Opens a database with rules, which holds one task that is done and one that is not, and the inspector. */
export async function startRuled(): Promise<void> {
  database = await openDatabase({
    storage: memoryStorage(),
    user: "ann",
    schemas: [Task],
    rules,
  });
  const tasks = (await database.repository("team")).collection(Task);
  await tasks.create({ id: "open", title: "ann writes" });
  await tasks.create({ id: "shut", title: "ann wrote", done: true });
  inspector = inspect(database, { isOpen: true });
  addEventListener("keydown", ({ key }) => heard.push(key));
}

/** Opens the device's database, connected, and the inspector. */
export async function startConnected(
  rootKey: string,
  url: string,
): Promise<void> {
  const worker = "/worker.js";
  const opened = await openTab({
    ...{ worker, name: "inspected" },
    schemas: [Task],
    rootKey,
  });
  opened.connect(url, { session: { anonymous: true } });
  const { sync } = await opened.repository("team");
  await sync.ready;
  database = opened;
  inspector = inspect(database, { isOpen: true });
}

/** Writes a task, whatever becomes of it. */
export async function create(id: string, title: string): Promise<void> {
  await (await database.repository("team")).collection(Task).create({
    id,
    title,
  });
}

/** Goes offline, so that what is written waits. */
export async function disconnect(): Promise<void> {
  await database.connection?.close();
}

/** Keys that the page heard. */
const heard: string[] = [];

/** What the page knows: its tasks, and the keys that it heard. */
export async function known(): Promise<unknown> {
  const tasks = (await database.repository("team")).collection(Task);
  return {
    tasks: Object.fromEntries(tasks.all().map(({ id, title }) => [id, title])),
    heard,
  };
}

/** Somebody else, who is this page too, changes a task. */
export async function retitle(id: string, title: string): Promise<void> {
  await (await database.repository("team")).collection(Task).update(id, {
    title,
  });
}

/** Writes while the inspector looks. */
export async function write(count: number): Promise<void> {
  const tasks = (await database.repository("team")).collection(Task);
  for (let i = 0; i < count; i++) {
    await tasks.create({ title: `seen ${i}` });
  }
}

/** Closes or opens it. */
export function toggle(): void {
  inspector.toggle();
}
