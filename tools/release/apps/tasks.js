import { defineSchema, field, openDatabase } from "@sheaf/sheaf/browser";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
});

export const db = await openDatabase({
  name: "tasks",
  schemas: [Task],
  worker: () =>
    new Worker(new URL("./worker.js", import.meta.url), { type: "module" }),
});

export const tasks = (await db.repository("team")).collection(Task);
