/**
 * A page whose components are React's: they show a database through nothing but
 * `useSyncExternalStore`.
 *
 * @module
 */

import { createElement, StrictMode, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { defineSchema, field, memoryStorage, openDatabase } from "@sheaf/sheaf";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
});

const db = await openDatabase({ storage: memoryStorage(), schemas: [Task] });
const repo = await db.repository("me");
const tasks = repo.collection(Task);
const renders = { list: 0, item: 0, badge: 0 };

/** The ten lines of the guide. */
function useStore<T>(store: {
  readonly subscribe: (listener: () => void) => () => void;
  readonly getSnapshot: () => T;
}): T {
  return useSyncExternalStore(store.subscribe, store.getSnapshot);
}

function List() {
  renders.list++;
  const open = useStore(tasks.where({ done: false }).orderBy("title").store());
  return createElement(
    "ul",
    null,
    open.map(({ id, title }) => createElement("li", { key: id }, title)),
  );
}

function Item() {
  renders.item++;
  const task = useStore(tasks.store("a"));
  return createElement("p", null, task?.title ?? "none");
}

function Badge() {
  renders.badge++;
  const { state, unsent } = useStore(repo.sync);
  const { canUndo } = useStore(repo.undo);
  return createElement("p", null, `${state} ${unsent.commits} ${canUndo}`);
}

const body = Reflect.get(globalThis, "document").body;
const root = createRoot(body);
await repo.undo.ready;

/** Shows everything, or nothing. */
export function show(isShown: boolean, isStrict = false): void {
  const parts = [List, Item, Badge].map((part, key) =>
    createElement(part, { key })
  );
  const all = isShown ? createElement("div", null, parts) : null;
  root.render(isStrict ? createElement(StrictMode, null, all) : all);
}

/** Waits for frames, then says what is to be seen and how often it was rendered. */
export async function see(): Promise<{ text: string; renders: string }> {
  const frame: (then: () => void) => void = Reflect.get(
    globalThis,
    "requestAnimationFrame",
  );
  for (let i = 0; i < 3; i++) await new Promise<void>((then) => frame(then));
  const { list, item, badge } = renders;
  return {
    text: body.innerText.replaceAll(/\s+/g, " ").trim(),
    renders: `${list} ${item} ${badge}`,
  };
}

/** Writes. */
export function create(id: string, title: string): void {
  tasks.create({ id, title });
}

/** Writes. */
export function finish(id: string): void {
  tasks.update(id, { done: true });
}

/** Takes back. */
export function undo(): void {
  repo.undo.undo();
}
