import { defineSchema, field } from "@sheaf/sheaf";

/** Who else may use a list: the item's id is the user's name. */
export const Member = defineSchema("member", {
  role: field.string(), // "reader" or "writer"
});

export const Todo = defineSchema("todo", {
  title: field.string(),
  done: field.boolean().default(false),
  createdAt: field.date(),
});

export const schemas = [Member, Todo];
