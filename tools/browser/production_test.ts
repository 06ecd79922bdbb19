/** The browser's production build tells what the sources tell, by numbers. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import * as sources from "../../mod.ts";
import { createServer } from "../../server/mod.ts";
import { explainMessage } from "../../src/cli/commands/explain.ts";
import { writePages } from "./built.ts";
import { endBundling } from "./bundle.ts";
import { production } from "./production.ts";

/** Our modules, bundled as for production. */
async function withProduction(
  work: (built: typeof sources) => Promise<void>,
): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "sheaf-production-" });
  try {
    await writePages(folder);
    await endBundling();
    await work(await import(`file://${folder}/mod.js`));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** Errors that name what the user must act on. */
async function failures(sheaf: typeof sources): Promise<Error[]> {
  const { defineSchema, field, memoryStorage, openDatabase } = sheaf;
  const Task = defineSchema("task", {
    title: field.string(),
    rank: field.number().optional(),
  });
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: [Task] });
  const tasks = (await db.repository("team")).collection(Task);
  const wrong: readonly (() => unknown)[] = [
    () => defineSchema("a task", {}),
    () => defineSchema("task", { id: field.string() }),
    () => tasks.create({ title: 3 as unknown as string }),
    () => tasks.create({ title: "a", rank: NaN }),
    () => tasks.create({ title: "a", colour: "red" } as { title: string }),
    () => tasks.update("missing", { title: "]" }),
    () => tasks.where({ title: { above: 1 } } as object).count(),
    () => db.repository("//"),
    () => openDatabase({ storage, schemas: [Task], colour: "red" } as object),
  ];
  const errors: Error[] = [];
  for (const attempt of wrong) {
    try {
      await attempt();
    } catch (error) {
      errors.push(error as Error);
    }
  }
  equal(errors.length, wrong.length);
  return errors;
}

Deno.test("an error of the production build has its code, its values, and a number that leads to its text", () =>
  withProduction(async (built) => {
    const told = await failures(built);
    const whole = await failures(sources);
    for (const [at, error] of told.entries()) {
      const { code } = error as sources.DatabaseError;
      equal(code, (whole[at] as sources.DatabaseError).code);
      match(
        error.message,
        /^#\S+-\d+(\[.*\])? \(npx @sheaf\/sheaf explain .*\)$/,
      );
      equal(explainMessage(error.message, production()), whole[at]!.message);
    }
    ok(told[2]!.message.includes('"task","title"'));
    built.DatabaseError.docs = "https://errors.example/#";
    const [error] = await failures(built);
    match(error!.message, /\(https:\/\/errors\.example\/#\d+\.\d+\.\d+-\d+\)$/);
  }));

Deno.test("the core in a page has the names that it has elsewhere, and says that there are no folders", () =>
  withProduction(async (built) => {
    deepEqual(Object.keys(built).sort(), Object.keys(sources).sort());
    const folders = [
      () => built.openDatabase({ path: ".data/none" }),
      async () => await built.diskStorage(".data/none"),
    ];
    for (const open of folders) {
      await rejects(open(), (error: sources.DatabaseError) => {
        equal(error.code, "invalid-path");
        match(
          explainMessage(error.message, production())!,
          /this platform has no folders/,
        );
        return true;
      });
    }
  }));

Deno.test("the core in a page fetches what it takes to audit when it is asked to, while it is connected", () =>
  withProduction(async (built) => {
    const { defineSchema, field, memoryStorage, openDatabase } = built;
    await using server = await createServer({
      storage: sources.memoryStorage(),
      port: 0,
      login: { anonymous: true },
      log: () => {},
    });
    const Task = defineSchema("task", { title: field.string() });
    const rootKey = server.rootKey.toHex();
    const storage = memoryStorage();
    await using db = await openDatabase({ storage, rootKey, schemas: [Task] });
    const team = await db.repository("team");
    db.connect(server.url);
    await team.collection(Task).create({ title: "a" }).synced;
    equal((await team.sync.audit()).equal, true);
    await team.collection(Task).create({ title: "b" }).synced;
    equal((await team.sync.audit()).equal, true);
  }));

Deno.test("no text that is given to a DatabaseError is left, nor a limit that is looked up", () => {
  const left = [...production().sources.values()].flatMap((text) => [
    ...text.match(/new DatabaseError\(\s*"[\w-]+",\s*["`]\w+ [^]{20}/g) ?? [],
    ...text.match(/[^`/]\blimits\.(?!ts)\w+/g) ?? [],
  ]);
  deepEqual(left, []);
});
