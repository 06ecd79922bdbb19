import { equal, ok, strictEqual } from "node:assert/strict";
import { Suspense } from "preact/compat";
import { useErrorBoundary } from "preact/hooks";
import type { ComponentChildren } from "preact";
import {
  type Collection,
  count,
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Repository,
  type Rules,
  rulesFor,
} from "../../mod.ts";
import { Screen, settled } from "./kit_test.ts";
import {
  type Closable,
  DatabaseProvider,
  type Result,
  useCan,
  useDatabase,
  useItem,
  useQuery,
  useRepository,
  useStorage,
  useStore,
  useSuspenseItem,
  useSuspenseQuery,
  useSuspenseRepository,
  useSync,
  useText,
  useUndo,
} from "./preact.ts";

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
  rank: field.number().default(0),
});

type Tasks = Collection<typeof Task>;

async function place(rules?: Rules) {
  const database = await openDatabase({
    storage: memoryStorage(),
    schemas: [Task],
    ...(rules !== undefined && { rules }),
  });
  const repository = await database.repository("me");
  const tasks = repository.collection(Task);
  tasks.create({ id: "a", title: "A", rank: 1 });
  tasks.create({ id: "b", title: "B", rank: 2 });
  return {
    database,
    repository,
    tasks,
    [Symbol.asyncDispose]: () => database.close(),
  };
}

/** Notes every render of a component. */
class Renders<T> {
  readonly all: T[] = [];
  last(): T | undefined {
    return this.all.at(-1);
  }
  get count(): number {
    return this.all.length;
  }
}

Deno.test("useQuery shows rows, follows them, and renders only when they change", async () => {
  await using at = await place();
  using screen = new Screen();
  const renders = new Renders<Result<readonly { title: string }[]>>();
  function Open({ tasks }: { tasks: Tasks }) {
    const result = useQuery(tasks.where({ done: false }).orderBy("rank"));
    renders.all.push(result);
    return <p>{result.data?.map((task) => task.title).join(",")}</p>;
  }
  await screen.show(<Open tasks={at.tasks} />);
  equal(screen.text, "A,B");
  equal(renders.count, 1);
  at.tasks.update("a", { rank: 3 });
  await settled();
  equal(screen.text, "B,A");
  equal(renders.count, 2);
  const before = renders.last();
  at.tasks.create({ id: "c", title: "C", done: true }); // Not asked for.
  await settled();
  equal(renders.count, 2);
  await screen.show(<Open tasks={at.tasks} />); // The query is made anew.
  equal(renders.count, 3);
  strictEqual(renders.last(), before);
});

Deno.test("useQuery renders once for one transaction that changes two queries", async () => {
  await using at = await place();
  using screen = new Screen();
  const seen: string[] = [];
  function Both({ tasks }: { tasks: Tasks }) {
    const open = useQuery(tasks.where({ done: false }));
    const done = useQuery(tasks.where({ done: true }));
    seen.push(`${open.data?.length}+${done.data?.length}`);
    return <p>{seen.length}</p>;
  }
  await screen.show(<Both tasks={at.tasks} />);
  at.tasks.update("a", { done: true });
  await settled();
  equal(seen.join(" "), "2+0 1+1");
});

Deno.test("useQuery shares one live query among equal ones, and ends it when nobody uses it", async () => {
  await using at = await place();
  using screen = new Screen();
  const store = () => at.tasks.where({ rank: { gt: 0 } }).store();
  function Count({ tasks }: { tasks: Tasks }) {
    const { data } = useQuery(tasks.where({ rank: { gt: 0 } }));
    return <b>{data?.length}</b>;
  }
  await screen.show([1, 2, 3].map((n) => <Count key={n} tasks={at.tasks} />));
  equal(screen.text, "222");
  strictEqual(store(), store());
  const [shared, snapshot] = [store(), store().getSnapshot()];
  await screen.show(null);
  strictEqual(store(), shared); // It lingers: another view may come.
  strictEqual(store().getSnapshot(), snapshot);
});

Deno.test("useQuery takes functions as conditions, with deps and without, and never renders in a circle", async () => {
  await using at = await place();
  using screen = new Screen();
  let [times, made] = [0, 0];
  function Big({ tasks, least }: { tasks: Tasks; least: number }) {
    times++;
    const plain = useQuery(tasks.where((task) => task.rank >= least));
    const kept = useQuery(() => {
      made++;
      return tasks.where((task) => task.rank >= least);
    }, [tasks, least]);
    return <p>{`${plain.data?.length}${kept.data?.length}`}</p>;
  }
  await screen.show(<Big tasks={at.tasks} least={2} />);
  equal(screen.text, "11");
  equal(times, 1);
  await screen.show(<Big tasks={at.tasks} least={2} />);
  equal([times, made].join(), "2,1");
  await screen.show(<Big tasks={at.tasks} least={1} />);
  equal(screen.text, "22");
  equal(made, 2);
  at.tasks.update("b", { rank: 0 });
  await settled();
  equal(screen.text, "11");
});

Deno.test("useQuery shows aggregates: one row over all, or a list of groups", async () => {
  await using at = await place();
  using screen = new Screen();
  function Counts({ tasks }: { tasks: Tasks }) {
    const all = useQuery(tasks.query().aggregate({ n: count() }));
    const groups = useQuery(
      tasks.query().groupBy("done").aggregate({ n: count() }),
    );
    return <p>{`${all.data?.n}/${groups.data?.length}`}</p>;
  }
  await screen.show(<Counts tasks={at.tasks} />);
  equal(screen.text, "2/1");
  at.tasks.create({ title: "C", done: true });
  await settled();
  equal(screen.text, "3/2");
});

Deno.test("useQuery is loading without a query, and says what a query threw", async () => {
  await using at = await place();
  using screen = new Screen();
  const renders = new Renders<Result<unknown>>();
  function Try({ tasks, field }: { tasks: Tasks | undefined; field: "rank" }) {
    renders.all.push(useQuery(tasks && (() => tasks.orderBy(field))));
    return null;
  }
  await screen.show(<Try tasks={undefined} field="rank" />);
  equal(renders.last()?.status, "loading");
  await screen.show(<Try tasks={at.tasks} field={"rang" as "rank"} />);
  equal(renders.last()?.status, "error");
  ok(String(renders.last()?.error).includes('"rang" is not a field'));
  await screen.show(<Try tasks={at.tasks} field="rank" />);
  equal(renders.last()?.status, "ready");
  await at.repository.close();
  await screen.show(<Try key="anew" tasks={at.tasks} field="rank" />);
  equal(renders.last()?.status, "error");
});

Deno.test("useItem follows one item through its life, and another one when the id changes", async () => {
  await using at = await place();
  using screen = new Screen();
  let times = 0;
  function One({ id }: { id: string }) {
    times++;
    const { data, status } = useItem(at.tasks, id);
    return <p>{`${status}:${data?.title ?? "none"}`}</p>;
  }
  await screen.show(<One id="c" />);
  equal(screen.text, "ready:none");
  at.tasks.create({ id: "c", title: "C" });
  await settled();
  equal(screen.text, "ready:C");
  at.tasks.update("b", { title: "other" });
  await settled();
  equal(times, 2);
  at.tasks.delete("c");
  await settled();
  equal(screen.text, "ready:none");
  await screen.show(<One id="b" />);
  equal(screen.text, "ready:other");
});

Deno.test("useItem sees what was written between its render and its effects", async () => {
  await using at = await place();
  using screen = new Screen();
  let isWritten = false;
  function One() {
    const { data } = useItem(at.tasks, "a");
    if (!isWritten) {
      isWritten = true;
      at.tasks.update("a", { title: "meanwhile" });
    }
    return <p>{data?.title}</p>;
  }
  await screen.show(<One />);
  equal(screen.text, "meanwhile");
});

Deno.test("useCan follows what rules say, and renders only for another answer", async () => {
  const rules = defineRules({
    me: {
      collections: [rulesFor(Task, {
        create: () => true,
        update: ({ before, after }) =>
          before.done ? "it is done" : after.rank < 9 || "too high",
        delete: () => true,
      })],
    },
  });
  await using at = await place(rules);
  using screen = new Screen();
  let times = 0;
  function Button({ rank }: { rank: number }) {
    times++;
    const { data, status } = useCan(at.repository, "update", Task, "a", {
      rank,
    });
    if (data === undefined) return <p>{status}</p>;
    return <p>{data.allowed ? "yes" : data.reason}</p>;
  }
  await screen.show(<Button rank={10} />);
  equal(screen.text, "too high");
  await screen.show(<Button rank={5} />);
  equal(screen.text, "yes");
  at.tasks.update("b", { title: "of no matter" });
  await settled();
  equal(times, 2);
  at.tasks.update("a", { done: true });
  await settled();
  equal(screen.text, "it is done");
  at.tasks.delete("a");
  await settled();
  equal(screen.text, "error");
});

Deno.test("useStore sees what any store said between its render and its effects, and until it is gone", async () => {
  using screen = new Screen();
  const listeners = new Set<() => void>();
  let value = 0;
  const store = {
    getSnapshot: () => value,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  function Show() {
    const { data } = useStore(store);
    if (value === 0) value = 1; // Meanwhile, and nobody tells.
    return <p>{data}</p>;
  }
  await screen.show(<Show />);
  equal(screen.text, "1");
  equal(listeners.size, 1);
  await screen.show(null);
  equal(listeners.size, 0);
});

Deno.test("useSync shows unsent writes as they come", async () => {
  await using at = await place();
  using screen = new Screen();
  function Badge() {
    const { data } = useSync(at.repository);
    return <p>{`${data?.state} ${data?.unsent.commits}`}</p>;
  }
  await screen.show(<Badge />);
  await at.tasks.create({ title: "C" });
  await settled();
  equal(screen.text, "offline 3");
});

Deno.test("useUndo and useStorage show what can be done, and what is stored where", async () => {
  await using at = await place();
  using screen = new Screen();
  const { undo } = at.repository;
  await undo.ready;
  undo.clear();
  function Bar() {
    const { data: steps } = useUndo(at.repository);
    const { data: medium } = useStorage(at.database);
    return (
      <p>
        {`${steps?.canUndo} ${steps?.canRedo} ${medium?.backend} ${medium?.open}`}
      </p>
    );
  }
  await screen.show(<Bar />);
  equal(screen.text, "false false memory me");
  at.tasks.delete("a");
  await settled();
  equal(screen.text, "true false memory me");
  undo.undo();
  await settled();
  equal(screen.text, "false true memory me");
  await at.database.repository("other");
  await settled();
  equal(screen.text, "false true memory me,other");
});

Deno.test("useRepository is loading until the repository is open, and says why it cannot be", async () => {
  await using at = await place();
  using screen = new Screen();
  const states: string[] = [];
  function Show({ name }: { name: string }) {
    const { data, status } = useRepository(at.database, name);
    states.push(`${status}:${data?.name ?? ""}`);
    return null;
  }
  await screen.show(<Show name="other" />);
  equal(states.join(" "), "loading: ready:other");
  await screen.show(<Show name="no good" />);
  equal(states.at(-1), "error:");
});

Deno.test("useSuspenseRepository waits in Suspense, and the twins give data at once", async () => {
  await using at = await place();
  using screen = new Screen();
  const texts: string[] = [];
  const gate = Promise.withResolvers<Repository>();
  const slow = {
    repository: (name: string) =>
      name === "new" ? gate.promise : at.database.repository(name),
  };
  function Titles({ repository }: { repository: Repository }) {
    const tasks = repository.collection(Task);
    const { data } = useSuspenseQuery(tasks.orderBy("rank"));
    const first = useSuspenseItem(tasks, data[0]?.id ?? "none");
    return <p>{`${data.length} ${first.data?.title}`}</p>;
  }
  function Show({ name }: { name: string }) {
    const { data } = useSuspenseRepository(slow, name);
    return <Titles repository={data} />;
  }
  function Page({ name }: { name: string }) {
    return (
      <Boundary>
        <Suspense fallback="waiting">
          <Show name={name} />
        </Suspense>
      </Boundary>
    );
  }
  function Boundary({ children }: { children: ComponentChildren }) {
    const [error] = useErrorBoundary((error) => void texts.push(String(error)));
    return <div>{error === undefined ? children : "failed"}</div>;
  }
  await screen.show(<Page name="new" />);
  equal(screen.text, "waiting");
  const fresh = await at.database.repository("new");
  gate.resolve(fresh);
  await settled();
  equal(screen.text, "0 undefined");
  fresh.collection(Task).create({ title: "N" });
  await settled();
  equal(screen.text, "1 N");
  await screen.show(<Page key="bad" name="no good" />);
  equal(screen.text, "failed");
  ok(texts[0]?.includes("no good"));
});

Deno.test("useSuspenseRepository asks once for what cannot be opened, however often it is rendered meanwhile, and again when it is shown anew", async () => {
  using screen = new Screen();
  const gates: PromiseWithResolvers<Repository>[] = [];
  const closed = {
    repository() {
      const gate = gates.at(-1);
      if (gate !== undefined && !settledOnes.has(gate)) return gate.promise;
      gates.push(Promise.withResolvers<Repository>());
      return gates.at(-1)!.promise;
    },
  };
  const settledOnes = new Set<unknown>();
  const fail = async () => {
    settledOnes.add(gates.at(-1));
    gates.at(-1)!.reject(new Error("not today"));
    await settled();
  };
  function Show() {
    return <p>{useSuspenseRepository(closed, "any").data.name}</p>;
  }
  function Page({ turn }: { turn: number }) {
    const [error] = useErrorBoundary(() => {});
    if (error !== undefined) return <p>{String(error)}</p>;
    return (
      <Suspense fallback={`waiting ${turn}`}>
        <Show key={turn} />
      </Suspense>
    );
  }
  for (const round of ["first", "second"]) {
    await screen.show(<Page key={round} turn={1} />);
    equal(screen.text, "waiting 1");
    await screen.show(<Page key={round} turn={2} />);
    equal(screen.text, "waiting 2");
    await fail();
    equal(screen.text, "Error: not today");
  }
  equal(gates.length, 2);
});

Deno.test("DatabaseProvider opens once, closes with its last one, and opens anew after that", async () => {
  using screen = new Screen();
  const deeds: string[] = [];
  const open = () => {
    const number = deeds.push("opened");
    return Promise.resolve({
      number,
      close: () => Promise.resolve(void deeds.push("closed")),
    });
  };
  function Number() {
    return <b>{useDatabase<{ number: number } & Closable>().number}</b>;
  }
  const page = (key: string) => (
    <DatabaseProvider key={key} open={open} fallback="opening">
      <Number />
    </DatabaseProvider>
  );
  await screen.show([page("a"), page("b")]);
  equal(screen.text, "11");
  await screen.show(page("c")); // As hot reload does it.
  equal(screen.text, "1");
  equal(deeds.join(" "), "opened");
  await screen.show(null);
  equal(deeds.join(" "), "opened closed");
  await screen.show(page("a"));
  equal(screen.text, "3");
});

Deno.test("useText binds its element, anew when a dependency changes, and lets go of it", async () => {
  using screen = new Screen();
  const deeds: string[] = [];
  function Note({ id }: { id: string }) {
    const ref = useText(() => {
      deeds.push(`bind ${id}`);
      return { close: () => void deeds.push(`close ${id}`) };
    }, [id]);
    return <p ref={ref} />;
  }
  await screen.show(<Note id="a" />);
  await screen.show(<Note id="a" />);
  equal(deeds.join(), "bind a");
  await screen.show(<Note id="b" />);
  equal(deeds.join(), "bind a,close a,bind b");
  await screen.show(null);
  equal(deeds.join(), "bind a,close a,bind b,close b");
});
