import { defineSchema, field, openDatabase } from "@sheaf/sheaf/browser";
import worker from "@sheaf/sheaf/worker?url";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
});

export const db = await openDatabase({
  name: "tasks",
  schemas: [Task],
  worker,
});

export const tasks = (await db.repository("team")).collection(Task);
