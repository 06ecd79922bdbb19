/** What a real server must not show: names, reasons, and the files that its keys lie in. */

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { DatabaseError, memoryStorage } from "../mod.ts";
import { CountedStorage } from "../server/foundation.ts";
import { createServer } from "../server/mod.ts";
import { until } from "./kit/patience.ts";
import { clientOf } from "./server_clients.ts";
import { type Place, serverOptions, withServer } from "./server_place.ts";

/** Asks until a server is not well any more. */
async function failing({ ask }: Place): Promise<Response> {
  let response = await ask("/healthz");
  await until(async () => {
    if (response.status !== 200) return true;
    await response.body?.cancel();
    response = await ask("/healthz");
    return response.status !== 200;
  }, "the server says that it fails");
  return response;
}

Deno.test("server: says to everybody that it fails, and only to its log what and where", async () => {
  let isBroken = false;
  let failure: unknown = "nothing was seen";
  const storage = new CountedStorage(memoryStorage(), () => {
    if (isBroken) throw new DatabaseError("storage-failed", "the disk is gone");
  });
  const options = { storage };
  await withServer(options, async (place) => {
    await using ann = await clientOf(place.server, {
      repository: "secret/plan",
    });
    await ann.notes.create({ text: "1" }).synced;
    isBroken = true;
    await ann.notes.create({ text: "2" });
    const health = await failing(place);
    deepEqual([health.status, await health.json()], [
      503,
      { status: "failing" },
    ]);
    await (await failing(place)).body?.cancel();
    const told = place.records.filter(({ event }) =>
      event === "repository-failing"
    );
    equal(told.length, 1);
    equal(told[0]!["repository"], "secret/plan");
    match(String(told[0]!["message"]), /the disk is gone/);
    failure = undefined;
  }).catch((error) => failure &&= error); // Closing says again what could not be written.
  equal(failure, undefined);
});

Deno.test("createServer() serves no folder in which its keys lie, or that lies among them", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${folder}/app/data/deep`, { recursive: true });
    await Deno.mkdir(`${folder}/link`);
    await Deno.symlink(`${folder}/app`, `${folder}/link/app`);
    await Deno.mkdir(`${folder}/data`);
    await Deno.writeTextFile(`${folder}/app/tls.key`, "a key");
    const refused: [
      data: string,
      app: string,
      options?: { readonly rootKeyFile?: string; readonly tls?: string },
    ][] = [
      ["app/data", "app"],
      ["app/data", "link/app"],
      ["app/data", "app/data"],
      ["app/data", "app/data/deep"],
      ["data", "app", { rootKeyFile: "app/root.key" }],
      ["data", "app", { tls: "app/tls.key" }],
    ];
    for (const [data, app, { rootKeyFile, tls } = {}] of refused) {
      const options = serverOptions({
        data: `${folder}/${data}`,
        static: `${folder}/${app}`,
        ...(rootKeyFile !== undefined && {
          rootKeyFile: `${folder}/${rootKeyFile}`,
        }),
        ...(tls !== undefined && {
          tls: { cert: `${folder}/cert.pem`, key: `${folder}/${tls}` },
        }),
      }, []);
      const message = /everybody may read/;
      await rejects(createServer(options), { code: "invalid-option", message });
    }
    const data = `${folder}/data`;
    const options = serverOptions({ data, static: `${folder}/link` }, []);
    await using server = await createServer(options);
    const hidden = ["/app/data/database", "/../data/database"];
    for (const path of hidden) {
      const response = await fetch(`${server.url}${path}`);
      await response.body?.cancel();
      equal(response.status, 404);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
