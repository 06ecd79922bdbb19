/// <reference lib="dom" />

/**
 * Two devices in one page, each with a textarea and a CodeMirror editor on the
 * same text, and a server between them that knows no schema.
 */

import { EditorView } from "@codemirror/view";
import { type Connection, type Database, defineSchema } from "@sheaf/sheaf";
import { memoryStorage, openDatabase } from "@sheaf/sheaf";
import { bindTextarea, field, textCursors } from "@sheaf/sheaf/text";
import { codemirror } from "@sheaf/sheaf/text/codemirror";
import { MemoryServer } from "../kit/memory_server.ts";

const Note = defineSchema("note", { body: field.text() });
const people = { ann: "#c2255c", bob: "#1971c2" } as const;
type Person = keyof typeof people;

interface Device {
  readonly db: Database;
  connection: Connection;
  body(): string;
  cursors: string;
}

const devices = new Map<Person, Device>();
const server = new MemoryServer({ users: { ann: "ann", bob: "bob" } });

async function open(name: Person): Promise<Device> {
  const db = await openDatabase({
    storage: memoryStorage(),
    rootKey: server.rootKey,
    schemas: [Note],
  });
  const connection = db.connect(server.connector, {
    session: { token: name },
    login: server.login,
  });
  const repo = await db.repository("team/a");
  const notes = repo.collection(Note);
  if (name === "ann") await notes.create({ id: "n", body: "" }).synced;
  else await repo.sync.ready;
  const body = () => notes.get("n")!.body;
  const device = { db, connection, body, cursors: "" };
  const cursors = textCursors(repo.presence, { name, color: people[name] });
  const place = { collection: notes, id: "n", field: "body" as const, cursors };
  bindTextarea(
    document.querySelector<HTMLTextAreaElement>(`#${name} textarea`)!,
    {
      ...place,
      delayMs: 50,
      onCursors: (all) => {
        device.cursors = all.map(({ name, head }) => `${name}@${head}`).join();
      },
    },
  );
  new EditorView({
    parent: document.querySelector(`#${name} div`)!,
    doc: body(),
    extensions: [codemirror({ ...place, delayMs: 50 })],
  });
  return device;
}

/** Opens both devices. */
export async function start(): Promise<void> {
  document.body.innerHTML = `<style>
    body { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; font: 16px system-ui; padding: 24px }
    textarea { width: 100%; height: 6em; font: inherit }
    .cm-editor { border: 1px solid #ccc; min-height: 6em; padding-top: 16px }
  </style>${
    Object.keys(people).map((name) =>
      `<section id="${name}"><h2>${name}</h2><textarea></textarea><div></div></section>`
    ).join("")
  }`;
  for (const name of ["ann", "bob"] as const) {
    devices.set(name, await open(name));
  }
}

/** What both hold, and the cursors that their textareas were told. */
export function state(): Record<Person, { body: string; cursors: string }> {
  const [ann, bob] = (["ann", "bob"] as const).map((name) => {
    const device = devices.get(name)!;
    return { body: device.body(), cursors: device.cursors };
  });
  return { ann: ann!, bob: bob! };
}

/** Off the wire. */
export async function disconnect(): Promise<void> {
  for (const { connection } of devices.values()) await connection.close();
}

/** On the wire again. */
export function connect(): void {
  for (const [name, device] of devices) {
    device.connection = device.db.connect(server.connector, {
      session: { token: name },
      login: server.login,
    });
  }
}
