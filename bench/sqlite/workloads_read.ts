/**
 * Workloads that open and read: nothing here changes what is stored.
 *
 * @module
 */

import type { Database } from "./engine.ts";
import { touchAll } from "../harness/items.ts";
import { type Question, question, type QuestionName } from "./questions.ts";
import type { Context, Task } from "./workload.ts";

/** Asks `name` of a database that stays open. */
export async function readTask(
  context: Context,
  name: QuestionName,
): Promise<Task> {
  const database = await readOnce(context);
  return askTask(question(name, context.store.model), () => database);
}

/**
 * The open database after every item was read once: each engine has in memory
 * what it keeps there, pages or items. First reads have rows of their own.
 */
export async function readOnce(context: Context): Promise<Database> {
  const database = await context.store.database();
  touchAll(database.all());
  return database;
}

/** Reads by id, each item for the first time since the database was opened. */
export async function firstTouchTask(context: Context): Promise<Task> {
  const { store } = context;
  const asked = question("get-first", store.model);
  let database = await store.database();
  let untouched = 0;
  return {
    ...askTask(asked, () => database),
    async before() {
      if (untouched < asked.burst) {
        await store.release();
        database = await store.database();
        untouched = store.model.size;
      }
      untouched -= asked.burst;
      asked.choose();
    },
  };
}

/** Reads by id while SQLite holds its file exclusively, as Sheaf always does. */
export async function exclusiveReadTask(context: Context): Promise<Task> {
  const { store } = context;
  await store.release();
  const shape = { ...store.shape, exclusive: true };
  const database = await context.engine.open(store.folder, shape);
  touchAll(database.all());
  const task = askTask(question("get", store.model), () => database);
  return { ...task, end: () => database.close() };
}

function askTask(asked: Question, database: () => Database): Task {
  let sum = () => 0;
  return {
    burst: asked.burst,
    before() {
      asked.choose();
      return undefined;
    },
    run: () => void (sum = asked.ask(database())),
    after: () => judge(asked, sum()),
    check: () => asked.check(database()),
  };
}

/** Opens the database, asks `name` (or nothing), and closes it outside the timed part. */
export async function openTask(
  context: Context,
  name: QuestionName | undefined,
): Promise<Task> {
  const { store } = context;
  await store.release();
  const asked = name === undefined ? undefined : question(name, store.model);
  let database: Database | undefined;
  let sum = () => 0;
  const answer = (opened: Database): void => {
    database = opened;
    if (asked !== undefined) sum = asked.ask(opened);
  };
  return {
    burst: 1,
    before() {
      asked?.choose();
      return undefined;
    },
    run() {
      const opened = store.open();
      if (opened instanceof Promise) return opened.then(answer);
      answer(opened);
      return undefined;
    },
    async after() {
      const wrong = asked === undefined ? undefined : judge(asked, sum());
      sum = () => 0;
      await database?.close();
      return wrong;
    },
    async check() {
      const opened = await store.database();
      const wrong = asked?.check(opened) ??
        checkCount(opened, store.model.size);
      await store.release();
      return wrong;
    },
  };
}

/** Makes a new database, ready for writes; it is removed outside the timed part. */
export function createInstanceTask(context: Context): Task {
  const folder = `${context.home}/instance`;
  let database: Database | undefined;
  let wrong: string | undefined;
  const keep = (opened: Database): void => void (database = opened);
  return {
    burst: 1,
    run() {
      const opened = context.engine.open(folder, context.store.shape);
      if (opened instanceof Promise) return opened.then(keep);
      keep(opened);
      return undefined;
    },
    async after() {
      if (database !== undefined) wrong ??= checkCount(database, 0);
      await database?.close();
      Deno.removeSync(folder, { recursive: true });
      return wrong;
    },
    check: () => wrong,
  };
}

function judge(asked: Question, sum: number): string | undefined {
  const expected = asked.expected();
  return sum === expected
    ? undefined
    : `the answers add up to ${sum}, not ${expected}`;
}

function checkCount(database: Database, size: number): string | undefined {
  const count = database.count();
  return count === size ? undefined : `it holds ${count} items, not ${size}`;
}
