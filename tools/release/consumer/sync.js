/** @module Two devices and the server that the package brings, which is killed once. */

import assert from "node:assert/strict";
import { defineSchema, field, openDatabase } from "@sheaf/sheaf";
import { Child, sheafProgram, until, withFolder } from "./place.js";

const Task = defineSchema("task", {
  title: field.string(),
  tags: field.set(field.string()),
  count: field.counter(),
});

/** Starts `sheaf serve`; gives its address and root key. */
export async function serve(data, port = "0", ...more) {
  const args = ["serve", "--data", data, "--port", port, "--anonymous"];
  const child = new Child(
    sheafProgram(),
    ...args,
    "--log-level",
    "error",
    ...more,
  );
  const [, url] = await child.said(/listens on (\S+)/);
  const [, rootKey] = await child.said(/root key\s+([0-9a-f]{64})/);
  return { child, url, rootKey };
}

async function device(path, { url, rootKey }) {
  const db = await openDatabase({ path, rootKey, schemas: [Task] });
  const repo = await db.repository("team");
  db.connect(url, { session: { anonymous: true } });
  return { db, repo, tasks: repo.collection(Task) };
}

function has({ tasks }, count) {
  const subscribe = (look) => void tasks.where({}).subscribe(look);
  return until(
    `${count} tasks`,
    subscribe,
    () => tasks.count() === count,
  );
}

/** The checks by their sentences. */
export function sync() {
  return {
    "two devices converge over a server that is killed and comes again": () =>
      withFolder(async (folder) => {
        const data = `${folder}/server`;
        const first = await serve(data);
        const [a, b] = await Promise.all(
          ["a", "b"].map((name) => device(`${folder}/${name}`, first)),
        );
        const write = a.tasks.create({ title: "Ship", tags: ["x"] });
        await write.synced;
        await has(b, 1);
        b.tasks.update(write.id, { count: 1 });
        first.child.signal("SIGKILL");
        await first.child.ended;
        const offline = a.tasks.createMany([{ title: "1" }, { title: "2" }]);
        const port = new URL(first.url).port;
        const second = await serve(data, port);
        assert.equal(second.rootKey, first.rootKey);
        await offline.synced;
        await has(b, 3);
        assert.deepEqual(
          b.tasks.all().map(({ title }) => title).sort(),
          ["1", "2", "Ship"],
        );
        await Promise.all([a.db.close(), b.db.close()]);
        second.child.signal("SIGTERM");
        // Deno's `node:child_process` names the signal that was sent.
        const wanted = "Deno" in globalThis ? "SIGTERM" : 0;
        assert.equal(await second.child.ended, wanted);
      }),
  };
}
