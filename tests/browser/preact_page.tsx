/**
 * A page whose components are Preact's, with the hooks of `./preact`.
 *
 * @module
 */

import { render } from "preact";
import { memo, Suspense } from "preact/compat";
import { defineSchema, field, memoryStorage, openDatabase } from "@sheaf/sheaf";
import {
  useItem,
  useQuery,
  useSuspenseRepository,
  useSync,
  useUndo,
} from "@sheaf/sheaf/preact";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
});

const db = await openDatabase({ storage: memoryStorage(), schemas: [Task] });
const rows = 200;
const renders = { page: 0, row: 0 };

const Row = memo(({ id }: { id: string }) => {
  renders.row++;
  const { data } = useItem(useTasks(), id);
  return <li>{data?.title}</li>;
});

function useTasks() {
  return useSuspenseRepository(db, "me").data.collection(Task);
}

function Board() {
  renders.page++;
  const { data: repository } = useSuspenseRepository(db, "me");
  const open = useQuery(useTasks().where({ done: false }));
  const { data: sync } = useSync(repository);
  const { data: undo } = useUndo(repository);
  return (
    <div>
      <p>{`${open.data?.length} ${sync?.unsent.commits} ${undo?.canUndo}`}</p>
      <ul>{open.data?.map(({ id }) => <Row key={id} id={id} />)}</ul>
    </div>
  );
}

const body = Reflect.get(globalThis, "document").body;

/** Shows the board, or nothing. */
export function show(isShown: boolean): void {
  render(
    isShown
      ? (
        <Suspense fallback="opening">
          <Board />
        </Suspense>
      )
      : null,
    body,
  );
}

/** Fills the board, and renames one item in it. */
export async function fill(): Promise<void> {
  const repository = await db.repository("me");
  await repository.undo.ready;
  repository.collection(Task).createMany(
    Array.from(
      { length: rows },
      (_, i) => ({ id: `t${1_000 + i}`, title: `task ${i}` }),
    ),
  );
}

/** Writes to one item. */
export async function rename(id: string, title: string): Promise<void> {
  (await db.repository("me")).collection(Task).update(id, { title });
}

/** Waits for frames, then says what is to be seen and how often it was rendered. */
export async function see(): Promise<
  { text: string; rows: number; page: number; row: number }
> {
  const frame: (then: () => void) => void = Reflect.get(
    globalThis,
    "requestAnimationFrame",
  );
  for (let i = 0; i < 4; i++) await new Promise<void>((then) => frame(then));
  const text = body.querySelector("p")?.innerText ?? body.innerText;
  return { text, rows: body.querySelectorAll("li").length, ...renders };
}

/** What an item shows. */
export function row(at: number): string {
  return body.querySelectorAll("li")[at]?.innerText ?? "none";
}
