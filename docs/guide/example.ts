/**
 * The small database that the examples of this guide share: tasks and users,
 * in memory, so that every example starts empty and leaves nothing behind.
 *
 * @module
 */

import { defineSchema, field, memoryStorage, openDatabase } from "@sheaf/sheaf";

/** A person. */
export const User = defineSchema("user", {
  name: field.string(),
});

/** Something to do. */
export const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
  rank: field.number().default(0),
  author: field.ref("user"),
  tags: field.set(field.string()),
  votes: field.counter(),
  note: field.string().optional(),
}, { indexes: [["author", "done"], ["rank"]] });

/** An open database in memory. */
export const db = await openDatabase({
  storage: memoryStorage(),
  schemas: [User, Task],
  user: "ada",
});

/** One repository of it. */
export const repo = await db.repository("team/acme");

/** Its users. */
export const users = repo.collection(User);

/** Its tasks. */
export const tasks = repo.collection(Task);

await users.createMany([
  { id: "ada", name: "Ada" },
  { id: "grace", name: "Grace" },
]);

await tasks.createMany([
  { id: "plan", title: "Draw the plan", author: "ada", rank: 1, done: true },
  { id: "ship", title: "Ship it", author: "ada", rank: 5, tags: ["release"] },
  { id: "shop", title: "Shop for tea", author: "grace", rank: 2 },
]);
