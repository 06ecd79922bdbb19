import { equal, throws } from "node:assert/strict";
// @ts-types="@types/react"
import { createElement as h, Suspense } from "react";
import { renderToReadableStream, renderToString } from "react-dom/server";
import { defineSchema, field, memoryStorage, openDatabase } from "../../mod.ts";
import {
  DatabaseProvider,
  useDatabase,
  useQuery,
  useSuspenseQuery,
  useSuspenseRepository,
  useSync,
} from "./react.ts";
import { settled } from "./kit_test.ts";

const Task = defineSchema("task", { title: field.string() });

async function place() {
  const database = await openDatabase({
    storage: memoryStorage(),
    schemas: [Task],
  });
  const repository = await database.repository("me");
  const tasks = repository.collection(Task);
  tasks.create({ title: "A" });
  return { database, repository, tasks };
}

Deno.test("on a server React renders what is in a database that is open", async () => {
  const { database, repository, tasks } = await place();
  function Open() {
    const { data = [] } = useQuery(tasks.query());
    const { data: sync } = useSync(repository);
    return h("p", null, data.map(({ title }) => title), sync?.state);
  }
  equal(renderToString(h(Open)), "<p>A<!-- -->offline</p>");
  await database.close();
});

Deno.test("on a server React waits in Suspense for what is being opened", async () => {
  const { database } = await place();
  function Count() {
    const { data: me } = useSuspenseRepository(useDatabase(), "me");
    const { data } = useSuspenseQuery(me.collection(Task).query());
    return h("b", null, data.length);
  }
  const page = h(
    DatabaseProvider,
    { database },
    h(Suspense, { fallback: "waiting" }, h(Count)),
  );
  const stream = await renderToReadableStream(page);
  await stream.allReady;
  equal((await new Response(stream).text()).includes("<b>1</b>"), true);
  await database.close();
});

Deno.test("useDatabase() below no provider, and a database that does not open, say so", async () => {
  const Needs = () => h("p", null, useDatabase().user);
  throws(() => renderToString(h(Needs)), /stands below no DatabaseProvider/);
  const open = () => Promise.reject(new Error("not today"));
  const page = () =>
    h(DatabaseProvider, { open, name: "bad", fallback: "opening" }, h(Needs));
  equal(renderToString(page()), "opening");
  await settled();
  throws(() => renderToString(page()), /not today/);
});
