/**
 * Finding and bundling, as far as no browser is needed for it.
 *
 * @module
 */

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { bundle, endBundling } from "./bundle.ts";
import { findBrowser, versionOf } from "./find.ts";
import { launch } from "./launch.ts";
import { keptFolder } from "./kept.ts";
import { servePages } from "./page_server.ts";

async function findAs(wish: string): Promise<unknown> {
  const before = Deno.env.get("SHEAF_TEST_BROWSER");
  Deno.env.set("SHEAF_TEST_BROWSER", wish);
  try {
    return await findBrowser();
  } finally {
    if (before === undefined) Deno.env.delete("SHEAF_TEST_BROWSER");
    else Deno.env.set("SHEAF_TEST_BROWSER", before);
  }
}

Deno.test("findBrowser() does what SHEAF_TEST_BROWSER says, or says why not", async () => {
  deepEqual(await findAs("none"), { reason: "SHEAF_TEST_BROWSER is none" });
  deepEqual(await findAs("/no/such/browser"), {
    reason: "/no/such/browser does not run",
  });
});

Deno.test("versionOf() believes only a program that says a version", async () => {
  match(await versionOf(Deno.execPath()) ?? "", /^deno \d/);
  equal(await versionOf("/dev/null"), undefined);
});

Deno.test("launch() says what a browser said that does not start", async () => {
  const found = { path: Deno.execPath(), version: "", args: [], env: {} };
  await rejects(
    launch(found, "/dev/null", []),
    /did not start: it ended[^]*did not recognize/,
  );
});

Deno.test("keptFolder() makes a folder once, whole, also when it is asked for twice at once", async () => {
  const details = crypto.randomUUID();
  let made = 0;
  const ask = () =>
    keptFolder("kept-test", details, async (folder) => {
      made++;
      await Deno.writeTextFile(`${folder}/one`, "1");
      await Deno.writeTextFile(`${folder}/two`, "2");
    });
  const [folder, other] = await Promise.all([ask(), ask()]);
  try {
    deepEqual([other, made], [folder, 2]);
    deepEqual([await ask(), made], [folder, 2]);
    equal(await Deno.readTextFile(`${folder}/two`), "2");
    const fail = () => Promise.reject(new Error("it cannot be made"));
    await rejects(keptFolder("kept-test", `${details} 2`, fail), /cannot be/);
    const cache = [...Deno.readDirSync(`${folder}/..`)];
    const ours = cache.filter(({ name }) => name.startsWith("kept-test"));
    deepEqual(ours.length, 1, "no draft is left");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("bundle() resolves our own names, and servePages() serves them with a page", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "sheaf-bundle-" });
  const entry = (name: string, text: string) => {
    Deno.writeTextFileSync(`${folder}/${name}.ts`, text);
    return new URL(`file://${folder}/${name}.ts`);
  };
  const good = entry("good", `export { field } from "@sheaf/sheaf";`);
  const bad = entry("bad", `export * from "@sheaf/sheaf/nothing";`);
  try {
    await bundle({ good }, `${folder}/out`);
    await rejects(bundle({ bad }, `${folder}/out`), /exports no/);
    await using server = servePages(`${folder}/out`);
    const get = async (path: string) => {
      const response = await fetch(`${server.url}${path}`);
      return [response.status, await response.text()] as const;
    };
    match((await get("/good.html"))[1], /import \* as entry from "\/good.js"/);
    const [status, script] = await get("/good.js");
    equal(status, 200);
    match(script, /as field|field[,}\s]/);
    equal((await get("/none.js"))[0], 404);
    equal((await get("/../deno.json"))[0], 404);
  } finally {
    await endBundling();
    Deno.removeSync(folder, { recursive: true });
  }
});
