/** A real server process that is killed in the middle of load: nothing that was synced is lost. */

import { deepEqual, ok } from "node:assert/strict";
import { openDatabase } from "../mod.ts";
import { Child } from "./kit/child.ts";
import { clientOf, Note, textsOf } from "./server_clients.ts";
import { ANN } from "./server_place.ts";

const root = new URL("..", import.meta.url);
const KILLS = 3;

interface Running {
  readonly child: Child;
  readonly url: string;
  readonly rootKey: string;
}

/** Starts the real thing and waits until it has said where it listens. */
async function start(data: string, port: number): Promise<Running> {
  const args = [
    "run",
    "--quiet",
    "--no-check",
    "--allow-all",
    "src/cli/main.ts",
    "serve",
  ];
  const settings = ["--data", data, "--port", `${port}`, "--token"];
  const child = new Child([...args, ...settings, `ann=${ANN}`], { cwd: root });
  const text = await child.said(/client: /);
  const url = /listens on (\S+)/.exec(text)![1]!;
  const rootKey = /root key +([0-9a-f]{64})/.exec(text)![1]!;
  return { child, url, rootKey };
}

Deno.test("a server that is killed in the middle of load loses nothing that was synced", async () => {
  const data = await Deno.makeTempDir();
  let server = await start(data, 0);
  try {
    const port = Number(new URL(server.url).port);
    const rootKey = Uint8Array.fromHex(server.rootKey);
    await using ann = await clientOf({ url: server.url, rootKey }, {
      token: ANN,
    });
    const synced: string[] = [];
    const writes: Promise<void>[] = [];
    let count = 0;
    const write = () => {
      const text = `${count++}`;
      const { synced: arrived } = ann.notes.create({ text });
      writes.push(arrived.then(() => void synced.push(text)));
      return arrived;
    };
    for (let kill = 0; kill < KILLS; kill++) {
      await write();
      for (let i = 0; i < 300; i++) write();
      await writes[writes.length - 200];
      server.child.kill();
      await server.child.ended;
      await assertKept(data, [...synced]);
      server = await start(data, port);
      ann.db.connection?.retry();
    }
    await Promise.all(writes);
    ok(synced.length === count);
    server.child.kill("SIGTERM");
    await server.child.ended;
    await assertKept(data, synced);
  } finally {
    await server.child[Symbol.asyncDispose]();
    await Deno.remove(data, { recursive: true });
  }
});

/** Reads the folder itself, as a program without any network would. */
async function assertKept(
  path: string,
  synced: readonly string[],
): Promise<void> {
  const storage = await copyOf(path);
  try {
    await using db = await openDatabase({ path: storage, schemas: [Note] });
    const notes = (await db.repository("team/a")).collection(Note);
    const kept = new Set(textsOf({ notes }));
    deepEqual(synced.filter((text) => !kept.has(text)), []);
  } finally {
    await Deno.remove(storage, { recursive: true });
  }
}

/** Looking at a copy leaves the original as the kill left it. */
async function copyOf(path: string): Promise<string> {
  const copy = await Deno.makeTempDir();
  const walk = async (from: string, to: string) => {
    await Deno.mkdir(to, { recursive: true });
    for await (const entry of Deno.readDir(from)) {
      const [source, target] = [`${from}/${entry.name}`, `${to}/${entry.name}`];
      if (entry.isDirectory) await walk(source, target);
      else await Deno.copyFile(source, target);
    }
  };
  await walk(path, copy);
  return copy;
}
