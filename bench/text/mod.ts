/**
 * The text suite: what somebody types into a bound textarea, beside plain Yjs,
 * which is handed the same places and letters and keeps its updates.
 *
 * Sheaf gathers keys for a commit: as many as a bound editor does of somebody
 * who types alone, or so many. Of Yjs each key is a transaction, as in its own
 * bindings; its bytes are those of one transaction for as many keys as a commit
 * has. What Yjs need not do is taken from Sheaf: finding in the textarea's value
 * what was typed, signing, and a history that says who wrote what. What the
 * textarea takes to have a value at all is a browser's, and is taken off.
 * Nothing goes to a disk: both keep bytes.
 *
 * @module
 */

import process from "node:process";
import * as Y from "yjs";
import { defineSchema, memoryStorage, openDatabase } from "../../mod.ts";
import { bindTextarea, field } from "../../src/text/mod.ts";
import {
  type CaseSpec,
  isAsked,
  type Order,
  type Outcome,
  type Suite,
} from "../harness/suite.ts";
import { Area } from "./area.ts";
import { type Key, keysOf, typedCommits } from "./keys.ts";

const repetitions = 3;
const repetitionsQuick = 2;
const sizeFull = 60_000;
const sizeQuick = 5_000;
const msMax = 300_000;
const engines = ["sheaf-default", "yjs"] as const;
/** What a binding gathers while nobody else is there; half a second of typing, as with others; some seconds, ten. */
const gathers = ["typed alone", 4, 16, 64] as const;
const keysWarm = 2_000;

/** Rows of each table. */
const rows = {
  cpu: "CPU of all keys",
  changes: "bytes of all changes",
  state: "bytes of what they made",
  read: "read after reopening",
} as const;

const Note = defineSchema("note", { body: field.text() });

/** What one engine made of the keys. */
interface Typed {
  readonly text: string;
  readonly cpuMs: number;
  readonly changes: number;
  readonly state: number;
  readonly read: { readonly text: string; readonly ms: number };
}

function cases(order: Order): CaseSpec[] {
  const sizes = order.sizes.length > 0
    ? order.sizes
    : [order.isQuick ? sizeQuick : sizeFull];
  return sizes.flatMap((size) =>
    gathers.flatMap((gather) =>
      engines.map((engine): CaseSpec => ({
        suite: "text",
        name: `${size}, ${gather}`,
        table: `${size} keys, ${gather}${
          gather === "typed alone" ? "" : " a commit"
        }`,
        operation: rows.cpu,
        engine,
        durability: "memory",
        size,
        repetitions: order.isQuick ? repetitionsQuick : repetitions,
        msMax,
        params: { gather },
      }))
    )
  ).filter((spec) =>
    Object.values(rows).some((operation) =>
      isAsked(order, { ...spec, operation })
    )
  );
}

async function run({ engine, size, params }: CaseSpec): Promise<Outcome[]> {
  const gather = Number(params["gather"]);
  const type = engine === "yjs" ? typeIntoYjs : typeIntoSheaf;
  await type(commitsOf(keysOf(keysWarm, 3), gather));
  const keys = keysOf(size);
  const { text, cpuMs, changes, state, read } = await type(
    commitsOf(keys, gather),
  );
  const isRight = text === textOf(keys) && read.text === text;
  const wrong = isRight ? {} : { wrong: "another text than was typed" };
  return [
    { operation: rows.cpu, unit: "ms", samples: [cpuMs], ...wrong },
    { operation: rows.changes, unit: "B", samples: [changes], ...wrong },
    { operation: rows.state, unit: "B", samples: [state], ...wrong },
    { operation: rows.read, unit: "ms", samples: [read.ms], ...wrong },
  ];
}

/** The keys of each commit; as they are gathered while typed where no number is given. */
function commitsOf(keys: readonly Key[], gather: number): Key[][] {
  const lengths = Number.isNaN(gather)
    ? typedCommits(keys.length)
    : Array.from({ length: Math.ceil(keys.length / gather) }, () => gather);
  let at = 0;
  return lengths.map((length) => keys.slice(at, at += length));
}

async function typeIntoSheaf(commits: readonly Key[][]): Promise<Typed> {
  const storage = memoryStorage();
  const open = async () => {
    const db = await openDatabase({ storage, schemas: [Note] });
    const repo = await db.repository("bench");
    return { db, repo, notes: repo.collection(Note) };
  };
  const { db, repo, notes } = await open();
  notes.create({ id: "n", body: "" });
  const element = new Area();
  const place = { collection: notes, id: "n", field: "body" } as const;
  const bound = bindTextarea(element, place);
  const cpu = process.cpuUsage();
  for (const keys of commits) {
    for (const { at, delete: length, insert } of keys) {
      element.type(at, length, insert);
    }
    bound.flush();
    // Each is sealed by itself, as when time passes between them.
    await repo.durable();
  }
  const cpuMs = msSince(cpu) - msOfArea(commits);
  const { text } = bound;
  bound.close();
  await repo.checkpoint();
  await db.close();
  const [folder = ""] = storage.folders("repositories");
  const bytesOf = (kind: string) =>
    storage.list(`repositories/${folder}`)
      .filter((name) => name.startsWith(kind))
      .reduce((sum, name) =>
        sum + storage.open(`repositories/${folder}/${name}`)!.size(), 0);
  const [changes, state] = [bytesOf("log"), bytesOf("checkpoint")];
  const again = await open();
  const start = performance.now();
  const { body } = again.notes.get("n")!;
  const read = { text: body, ms: performance.now() - start };
  await again.db.close();
  return { text, cpuMs, changes, state, read };
}

/** What a textarea takes that nobody is bound to, whose value is read once a commit. */
function msOfArea(commits: readonly Key[][]): number {
  const element = new Area();
  const cpu = process.cpuUsage();
  for (const keys of commits) {
    for (const { at, delete: length, insert } of keys) {
      element.type(at, length, insert);
    }
    element.value.charCodeAt(0); // A string is put together when it is first read.
  }
  return msSince(cpu);
}

function typeIntoYjs(commits: readonly Key[][]): Promise<Typed> {
  const doc = new Y.Doc();
  const root = doc.getText("text");
  const cpu = process.cpuUsage();
  // Who keeps what is typed hears of each key.
  doc.on("update", () => {});
  for (const key of commits.flat()) doc.transact(() => strike(root, key));
  const cpuMs = msSince(cpu);
  const changes = updateBytesOf(commits);
  const state = Y.encodeStateAsUpdate(doc);
  const start = performance.now();
  const again = new Y.Doc();
  Y.applyUpdate(again, state);
  const text = again.getText("text").toString();
  const read = { text, ms: performance.now() - start };
  return Promise.resolve({
    text: root.toString(),
    cpuMs,
    changes,
    state: state.length,
    read,
  });
}

/** Of updates that have as many keys each as a commit. */
function updateBytesOf(commits: readonly Key[][]): number {
  const doc = new Y.Doc();
  let bytes = 0;
  doc.on("update", (update: Uint8Array) => bytes += update.length);
  for (const keys of commits) {
    doc.transact(() => {
      for (const key of keys) strike(doc.getText("text"), key);
    });
  }
  return bytes;
}

function strike(root: Y.Text, { at, delete: length, insert }: Key): void {
  if (length > 0) root.delete(at, length);
  if (insert !== "") root.insert(at, insert);
}

/** Of all threads, because what one leaves behind others clear away. */
function msSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function textOf(keys: readonly Key[]): string {
  let text = "";
  for (const { at, delete: length, insert } of keys) {
    text = text.slice(0, at) + insert + text.slice(at + length);
  }
  return text;
}

/** Texts that are typed. */
export const suite: Suite = { name: "text", peers: [], cases, run };
