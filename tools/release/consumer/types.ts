/** @module What a TypeScript project sees of every subpath, and infers of a schema. */

import { defineSchema, field, openDatabase } from "@sheaf/sheaf";
import * as browser from "@sheaf/sheaf/browser";
import * as inspector from "@sheaf/sheaf/inspector";
import { openKv } from "@sheaf/sheaf/kv";
import * as preact from "@sheaf/sheaf/preact";
import * as react from "@sheaf/sheaf/react";
import { createServer } from "@sheaf/sheaf/server";
import * as testing from "@sheaf/sheaf/testing";
import * as text from "@sheaf/sheaf/text";
import * as codemirror from "@sheaf/sheaf/text/codemirror";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
  due: field.date().optional(),
});

/** Never run. */
export async function unused(): Promise<unknown> {
  const db = await openDatabase({ path: "data", schemas: [Task] });
  const repo = await db.repository("team");
  const { title, done } = repo.collection(Task).create({ title: "x" }).item;
  const [text1, flag]: [string, boolean] = [title, done];
  const server = await createServer({ data: "server" });
  const url: string = server.url;
  return { url, text1, flag, openKv, all };
}

const all = { browser, inspector, preact, react, testing, text, codemirror };
