/** The examples of docs/guide/examples/, whole: what their pages say they do. */

import { deepEqual, match, ok, throws } from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { memoryStorage, openDatabase } from "../mod.ts";
import {
  enter,
  Member,
  Message,
  say,
  serve as serveChat,
} from "../docs/guide/examples/chat.ts";
import { serve as serveLinks } from "../docs/guide/examples/links.ts";
import { Note, shareNote } from "../docs/guide/examples/shared_note.ts";
import { createServer } from "../server/mod.ts";
import { FakePage, FakeTextarea } from "./kit/fake_textarea.ts";
import { until } from "./kit/patience.ts";

Deno.test("each example is under 100 lines", async () => {
  const folder = new URL("../docs/guide/examples/", import.meta.url);
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const lines = (await Deno.readTextFile(new URL(name, folder))).split("\n");
    ok(lines.length <= 100, `${name} has ${lines.length} lines`);
    names.push(name);
  }
  deepEqual(names.sort(), ["chat.ts", "links.ts", "shared_note.ts"]);
});

Deno.test("the shared note: two who begin it apart have one text of both once they meet", async () => {
  await using server = await createServer({
    ...{ storage: memoryStorage(), port: 0, log: () => {} },
    login: { anonymous: true },
  });
  const { rootKey, url } = server;
  const devices = await Promise.all(["Ann. ", "Bob. "].map(async (typed) => {
    const page = new FakePage();
    const area = new FakeTextarea(page);
    const db = await openDatabase({
      ...{ storage: memoryStorage(), rootKey, schemas: [Note] },
    });
    const said: string[] = [];
    const leave = await shareNote(db, area, (words) => said.push(words));
    area.type(0, typed);
    page.pass(10_000);
    return { db, page, area, said, leave };
  }));
  for (const { db } of devices) db.connect(url);
  const [ann, bob] = devices.map(({ area }) => area);
  await until(
    () => ann!.value === bob!.value && ann!.value.length === 10,
    () => `both texts: ${ann!.value} | ${bob!.value}`,
  );
  ok(ann!.value.includes("Ann. ") && ann!.value.includes("Bob. "));
  for (const { db, said, leave } of devices) {
    match(said[0]!, /^Saved here/);
    await until(() => said.at(-1) === "Saved on the server", "it is saved");
    leave();
    await db.close();
  }
});

Deno.test("the chat: who is no member reads and writes nothing, until the host lets them in", async () => {
  await using server = await serveChat(0);
  const { url, rootKey } = server;
  const as = (token: string) => enter(url, rootKey.toHex(), token);
  const ann = await as("anns-secret");
  await ann.room.sync.ready;
  await say(ann.room, "ann", "Hello").synced;

  const early = await as("bobs-secret");
  await until(
    () => early.room.sync.status.reason?.code === "forbidden",
    "Bob hears that he may not read",
  );
  throws(() => say(early.room, "bob", "Let me in"), /Only members write/);
  throws(() => say(early.room, "bob", "/invite bob"), /Only the host lets in/);
  await early.db.close();

  await say(ann.room, "ann", "/invite bob").synced;
  const bob = await as("bobs-secret");
  await bob.room.sync.ready;
  deepEqual(bob.room.collection(Message).all().map(({ text }) => text), [
    "Hello",
  ]);
  await say(bob.room, "bob", "Thanks").synced;
  await until(
    () => ann.room.collection(Message).count() === 2,
    "Ann reads what Bob said",
  );
  throws(() => say(bob.room, "ann", "I am Ann"), /in their own name/);
  await ann.room.collection(Member).delete("bob").synced;
  await until(
    () => bob.room.sync.status.reason?.code === "forbidden",
    "Bob was shown out",
  );
  for (const { db } of [ann, bob]) await db.close();
});

Deno.test("the links: kept over a restart, answered, listed, and taken away", async () => {
  const path = await Deno.makeTempDir();
  let service = await serveLinks(path, 0);
  const ask = async (way: string, method = "GET", body?: string) => {
    const { port } = service.http.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/${way}`, {
      ...{ method, redirect: "manual" },
      ...(body !== undefined && { body }),
    });
    const text = await answer.text();
    return [answer.status, answer.headers.get("location") ?? text];
  };
  deepEqual(await ask("docs?days=7", "PUT", "https://example.org/"), [201, ""]);
  deepEqual(await ask("no", "PUT", "not a link"), [
    400,
    "Give a whole URL in the body\n",
  ]);
  deepEqual(await ask("no", "PUT", "x".repeat(3_000)), [
    400,
    "Give a whole URL in the body\n",
  ]);
  await service.close();
  service = await serveLinks(path, 0);
  deepEqual(await ask("docs"), [302, "https://example.org/"]);
  deepEqual(await ask(""), [200, '{"docs":"https://example.org/"}']);
  deepEqual(await ask("docs", "DELETE"), [204, ""]);
  deepEqual(await ask("docs"), [404, ""]);
  await service.close();
  await Deno.remove(path, { recursive: true });
});
