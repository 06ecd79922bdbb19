/** A page with a database of its own, a little history, and the inspector. */

import {
  type Database,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
} from "@sheaf/sheaf";
import { inspect, type Inspector } from "@sheaf/sheaf/inspector";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
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
