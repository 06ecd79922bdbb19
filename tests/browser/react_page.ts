/**
 * A page whose components are React's, with the hooks of `@sheaf/sheaf/react`.
 *
 * @module
 */

// @ts-types="@types/react"
import {
  createElement as h,
  StrictMode,
  Suspense,
  useState,
  useTransition,
} from "react";
import { createRoot } from "react-dom/client";
import { defineSchema, memoryStorage, openDatabase } from "@sheaf/sheaf";
import {
  DatabaseProvider,
  useCan,
  useDatabase,
  useItem,
  useQuery,
  useRepository,
  useStorage,
  useSuspenseQuery,
  useSuspenseRepository,
  useSync,
  useText,
  useUndo,
} from "@sheaf/sheaf/react";
import { bindTextarea, field, type TextElement } from "@sheaf/sheaf/text";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
  note: field.text(),
});

const storage = memoryStorage();
const counts = { opened: 0, closed: 0, list: 0, item: 0 };
const body = Reflect.get(globalThis, "document").body;
const root = createRoot(body);
let shown: Awaited<ReturnType<typeof openDatabase>>;

async function open() {
  counts.opened++;
  const database = shown = await openDatabase({ storage, schemas: [Task] });
  const close = database.close.bind(database);
  return Object.assign(database, {
    close() {
      counts.closed++;
      return close();
    },
  });
}

function useTasks() {
  return useSuspenseRepository(useDatabase(), "me").data.collection(Task);
}

function List() {
  counts.list++;
  const { data } = useSuspenseQuery(
    useTasks().where({ done: false }).orderBy("title"),
  );
  return h(
    "ul",
    null,
    data.map(({ id, title }) => h("li", { key: id }, title)),
  );
}

function Item() {
  counts.item++;
  const { data, status } = useItem(useTasks(), "a");
  return h("p", null, data?.title ?? status);
}

function Badge() {
  const database = useDatabase();
  const { data: repository } = useRepository(database, "me");
  const { data: sync } = useSync(repository);
  const { data: undo } = useUndo(repository);
  const { data: medium } = useStorage(database);
  const { data: may } = useCan(repository, "create", Task, { title: "new" });
  const states = [
    sync?.state,
    sync?.unsent.commits === 0,
    undo?.canUndo,
    medium?.backend,
    may?.allowed,
  ];
  return h("p", null, states.join(" "));
}

function Note() {
  const collection = useTasks();
  const isThere = useItem(collection, "a").data !== undefined;
  const ref = useText((element: TextElement) => {
    const place = { collection, id: "a", field: "note", delayMs: 0 } as const;
    return isThere ? bindTextarea(element, place) : undefined;
  }, [collection, isThere]);
  return h("textarea", { ref });
}

/** A list that is rendered by a transition, while the rest goes on. */
function Words() {
  const [isShown, show] = useState(false);
  const [, begin] = useTransition();
  const { data } = useQuery(useTasks().query());
  const onClick = () => begin(() => show(true));
  return h(
    "p",
    null,
    h("button", { type: "button", onClick }, "show"),
    isShown && data?.map(({ title }) => title).sort().join("+"),
  );
}

/** Shows everything, or nothing. */
export function show(isShown: boolean, key = "first"): void {
  const parts = [List, Item, Badge, Note, Words].map((part, key) =>
    h(part, { key })
  );
  const all = h(Suspense, { fallback: "waiting" }, parts);
  const provided = h(DatabaseProvider, { open, fallback: "opening" }, all);
  root.render(isShown ? h(StrictMode, { key }, provided) : null);
}

/** What is to be seen, and how often databases were opened and closed. */
export function see(): { text: string; note: string; opened: string } {
  const { opened, closed } = counts;
  return {
    text: body.innerText.replaceAll(/\s+/g, " ").trim(),
    note: body.querySelector("textarea")?.value ?? "none",
    opened: `${opened} ${closed}`,
  };
}

/** How often the item was rendered. */
export function rendered(): number {
  return counts.item;
}

async function tasks() {
  return (await shown.repository("me")).collection(Task);
}

/** Writes. */
export async function create(id: string, title: string): Promise<void> {
  (await tasks()).create({ id, title });
}

/** Writes. */
export async function finish(id: string): Promise<void> {
  (await tasks()).update(id, { done: true });
}

/** Reads the text that was typed. */
export async function note(): Promise<string | undefined> {
  return (await tasks()).get("a")?.note;
}
