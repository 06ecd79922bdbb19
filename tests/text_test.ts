/**
 * Texts from end to end: devices that know the schema, and a server that knows
 * nothing of it, hold the same state and show the same characters.
 */

import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import * as Y from "yjs";
import {
  type Collection,
  defineRules,
  defineSchema,
  memoryStorage,
  openDatabase,
  type Repository,
  rulesFor,
} from "../mod.ts";
import { stateIn } from "../src/schema/merge.ts";
import { piecesPutIn } from "../src/text/update_kit_test.ts";
import { TextState } from "../src/schema/text_state.ts";
import type { Rules } from "../src/schema/rules.ts";
import { bindTextarea, field, textEngine } from "../src/text/mod.ts";
import { seededRandom } from "./kit/mod.ts";
import { AuthorPlace, refusedAt } from "./kit/author_place.ts";
import { MemoryServer } from "./kit/memory_server.ts";
import { FakePage, FakeTextarea } from "./kit/fake_textarea.ts";
import { within } from "./kit/patience.ts";
import { sized } from "./kit/tier.ts";

const Note = defineSchema("note", {
  title: field.string().default(""),
  body: field.text(),
});

const users = { a: "ann", b: "bob" };

interface Device extends AsyncDisposable {
  readonly repo: Repository;
  readonly notes: Collection<typeof Note>;
  /** Goes on the wire. */
  connect(): void;
  disconnect(): Promise<void>;
}

async function device(
  server: MemoryServer,
  token: string,
  rules?: Rules,
): Promise<Device> {
  const db = await openDatabase({
    storage: memoryStorage(),
    rootKey: server.rootKey,
    schemas: [Note],
    ...(rules !== undefined && { rules }),
  });
  const repo = await db.repository("team/a");
  const { connector, login } = server;
  return {
    repo,
    notes: repo.collection(Note),
    connect: () => void db.connect(connector, { session: { token }, login }),
    disconnect: () => db.connection!.close(),
    [Symbol.asyncDispose]: () => db.close(),
  };
}

/** Waits until the body of a note is so on a device. */
async function untilBody({ notes }: Device, id: string, body: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const live = notes.where({}).subscribe(() => {
    if (notes.get(id)?.body === body) resolve();
  });
  if (notes.get(id)?.body === body) resolve();
  await within(
    promise,
    () => `a body ${body}; it is ${JSON.stringify(notes.get(id))}`,
  );
  live.dispose();
}

Deno.test("two devices edit a text offline and converge, through a server without Yjs or schema", async () => {
  await using server = new MemoryServer({ users });
  await using a = await device(server, "a");
  await using b = await device(server, "b");
  a.connect();
  b.connect();
  await a.notes.create({ id: "n", body: "The fox jumps." }).synced;
  await untilBody(b, "n", "The fox jumps.");
  await a.disconnect();
  await b.disconnect();
  a.notes.update("n", { body: "The quick fox jumps." });
  b.notes.update("n", { body: "The fox jumps over it." });
  b.notes.update("n", { title: "Fox" });
  a.connect();
  b.connect();
  const merged = "The quick fox jumps over it.";
  await untilBody(a, "n", merged);
  await untilBody(b, "n", merged);
  const replica = await server.replica("team/a");
  const cell = replica.state.find("note")!.cellOf("n")!;
  deepEqual([cell.item!.title, cell.item!.body], ["Fox", undefined]);
  ok(cell.rich!.has("body"));
});

Deno.test("what was typed live in an editor takes a newcomer at most twice the bytes of Yjs", async () => {
  await using server = new MemoryServer({ users });
  await using a = await device(server, "a");
  a.connect();
  await a.notes.create({ id: "n", body: "" }).synced;
  const page = new FakePage();
  const element = new FakeTextarea(page);
  const place = { collection: a.notes, id: "n", field: "body" } as const;
  const bound = bindTextarea(element, place);
  const doc = new Y.Doc();
  doc.clientID = 2 ** 31; // As long as 15 of 16 of those that it draws.
  let bytes = 0;
  doc.on("update", (update: Uint8Array) => bytes += update.length);
  const random = seededRandom(5);
  for (let commit = 0; commit < 200; commit++) {
    const at = Math.floor(random() * (element.value.length + 1));
    doc.transact(() => {
      for (let key = 0; key < 9; key++) {
        const letter = "etaoinshr"[Math.floor(random() * 9)]!;
        element.type(at + key, letter);
        doc.getText().insert(at + key, letter);
      }
    });
    bound.flush();
    await a.repo.durable();
  }
  bound.close();
  await a.notes.update("n", { title: "done" }).synced;
  await using b = await device(server, "b");
  b.connect();
  await untilBody(b, "n", element.value);
  equal(doc.getText().toString(), element.value);
  const { logBytes } = b.repo.status();
  ok(logBytes < 2 * bytes, `${logBytes} B beside ${bytes} of Yjs`);
});

Deno.test("history, at() and diff() show a text as it was, and who wrote what", async () => {
  await using server = new MemoryServer({ users });
  await using a = await device(server, "a");
  a.notes.create({ id: "n", body: "one" });
  a.notes.update("n", { body: "one two" });
  a.notes.update("n", {
    body: { splice: [{ at: 0, delete: 3, insert: "1" }] },
  });
  const history = a.notes.history("n");
  deepEqual(history.slice(1).map(({ operations }) => operations[0]!.fields), [
    [{
      name: "body",
      change: { what: "edit", inserted: " two", deleted: 0 },
    }],
    [{ name: "body", change: { what: "edit", inserted: "1", deleted: 3 } }],
  ]);
  const point = history[1]!.commit;
  equal(a.repo.at(point).collection(Note).get("n")!.body, "one two");
  const [difference] = a.notes.diff("n", point, history[2]!.commit);
  deepEqual(difference, { name: "body", before: "one two", after: "1 two" });
});

Deno.test("a text survives a checkpoint and a reopening, and goes on from there", async () => {
  const storage = memoryStorage();
  for (const round of [0, 1, 2]) {
    const db = await openDatabase({ storage, schemas: [Note] });
    const repo = await db.repository("r");
    const notes = repo.collection(Note);
    if (round === 0) notes.create({ id: "n", body: "😀" });
    const { body } = notes.get("n")!;
    equal(body, "😀" + "!".repeat(round));
    notes.update("n", { body: body + "!" });
    if (round === 0) await repo.checkpoint();
    await db.close();
  }
});

/** Changes a body at 500 places, and leaves a checkpoint. */
const longWays: Record<string, (notes: Notes, repo: Repository) => unknown> = {
  "updates wrote and somebody read": async (notes, repo) => {
    for (const { at, insert, ...rest } of longSplices()) {
      const splice = [{ at, delete: rest.delete, insert }];
      notes.update("n", { body: { splice } });
    }
    ok(notes.get("n")!.body.length > 1_000);
    await repo.checkpoint();
  },
  "an editor holds that is still open": async (notes, repo) => {
    const page = new FakePage();
    const element = new FakeTextarea(page);
    const bound = bindTextarea(element, {
      collection: notes,
      id: "n",
      field: "body",
    });
    for (const { at, insert, ...rest } of longSplices()) {
      element.type(at, insert, rest.delete);
      bound.flush();
    }
    await repo.checkpoint();
    bound.close();
  },
};
type Notes = Collection<typeof Note>;

const longBegin = "It was a dark and stormy night. ";

function longSplices() {
  const random = seededRandom(11);
  let { length } = longBegin;
  return Array.from({ length: 500 }, (_, i) => {
    const splice = {
      at: Math.floor(random() * length),
      delete: i % 2,
      insert: "word ",
    };
    length += splice.insert.length - splice.delete;
    return splice;
  });
}

for (const [way, write] of Object.entries(longWays)) {
  Deno.test(`a long text that ${way} is shown after a reopening without being put in order again`, async () => {
    const storage = memoryStorage();
    const open = async () => {
      const db = await openDatabase({ storage, schemas: [Note] });
      const repo = await db.repository("r");
      return { db, repo, notes: repo.collection(Note) };
    };
    const before = await open();
    before.notes.create({ id: "n", body: longBegin });
    await write(before.notes, before.repo);
    const { body } = before.notes.get("n")!;
    const text = before.notes.textOf("n", "body")!;
    await before.db.close();
    const after = await open();
    const { show } = textEngine;
    textEngine.show = () => {
      throw new Error("put in order again");
    };
    try {
      equal(after.notes.get("n")!.body, body);
    } finally {
      textEngine.show = show;
    }
    const there = after.notes.textOf("n", "body")!;
    ok(there.orderBytes(), "the order of its pieces is there, too");
    deepEqual(there.clients, text.clients);
    const pieces = piecesPutIn(() => {
      after.notes.update("n", { body: `${body}!` });
      equal(after.notes.get("n")!.body, `${body}!`);
    });
    equal(pieces, 0, "no document is made to write in it");
    const { clients } = after.notes.textOf("n", "body")!;
    equal(textEngine.show(new TextState(new Map(clients))), `${body}!`);
    await after.db.close();
  });
}

Deno.test("queries look into a text, and indexes do not take it", async () => {
  const db = await openDatabase({ storage: memoryStorage(), schemas: [Note] });
  const notes = (await db.repository("r")).collection(Note);
  notes.create({ id: "a", body: "apples" });
  notes.create({ id: "b", body: "pears" });
  const found: string[][] = [];
  notes.where({ body: { contains: "pears" } }).subscribe(({ rows }) =>
    void found.push(rows.map(({ id }) => id))
  );
  notes.update("a", { body: "apples and pears" });
  deepEqual(notes.where({ body: { prefix: "apples and" } }).run().length, 1);
  deepEqual(found.at(-1)!.toSorted(), ["a", "b"]);
  throws(
    () => defineSchema("x", { body: field.text() }, { indexes: [["body"]] }),
    { code: "invalid-schema" },
  );
  await db.close();
});

Deno.test("update() refuses splices and texts that cannot be, and changes nothing", async () => {
  const db = await openDatabase({ storage: memoryStorage(), schemas: [Note] });
  const notes = (await db.repository("r")).collection(Note);
  notes.create({ id: "n", body: "a😀b" });
  const wrong: unknown[] = [
    { splice: [{ at: 5 }] },
    { splice: [{ at: 0, delete: 9 }] },
    { splice: [{ at: 2, insert: "x" }] },
    { splice: [{ at: 0, delete: 2 }] },
    { splice: [{ at: 2, delete: 1 }] },
    { splice: [{ at: 3, insert: "x" }, { at: 0, insert: "y" }] },
    { splice: [{ at: -1 }] },
    { splice: [{ at: 0, insert: "\ud800" }] },
    { splice: [7] },
    { splice: "x" },
    "\udc00",
    7,
    undefined,
    null,
  ];
  for (const body of wrong) {
    throws(() => notes.update("n", { body } as never), {
      code: "invalid-value",
    });
  }
  equal(notes.get("n")!.body, "a😀b");
  notes.update("n", {
    body: {
      splice: [{ at: 0, insert: "<" }, { at: 1, delete: 2 }, {
        at: 4,
        insert: ">",
      }],
    },
  });
  equal(notes.get("n")!.body, "<ab>");
  await db.close();
});

Deno.test("rules read a text as it is after the write, and a denied edit goes back in the editor", async () => {
  const rules = defineRules({
    "team/{team}": {
      read: () => true,
      collections: [rulesFor(Note, {
        create: () => true,
        update: ({ after }) =>
          after.body.includes("secret") ? "no secrets" : true,
      })],
    },
  });
  await using server = new MemoryServer({ users, rules });
  await using a = await device(server, "a");
  a.connect();
  await a.notes.create({ id: "n", body: "plain" }).synced;
  const page = new FakePage();
  const element = new FakeTextarea(page);
  const bound = bindTextarea(element, {
    collection: a.notes,
    id: "n",
    field: "body",
  });
  element.type(5, " secret");
  page.pass(500);
  equal(a.notes.get("n")!.body, "plain secret");
  await untilBody(a, "n", "plain");
  deepEqual([element.value, bound.text], ["plain", "plain"]);
  element.type(5, " text");
  bound.close();
  await untilBody(a, "n", "plain text");
  const [refused] = a.repo.sync.status.refusals;
  equal(refused?.detail, "no secrets");
});

Deno.test("replicas that fold the same texts in other orders have one digest and show one text", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const random = seededRandom(seed);
      await using server = new MemoryServer({ users });
      await using a = await device(server, "a");
      await using b = await device(server, "b");
      a.connect();
      b.connect();
      await a.notes.create({ id: "n", body: "0123456789" }).synced;
      await untilBody(b, "n", "0123456789");
      await a.disconnect();
      await b.disconnect();
      for (let i = 0; i < 20; i++) {
        const { notes } = random() < 0.5 ? a : b;
        const { body } = notes.get("n")!;
        const at = Math.floor(random() * (body.length + 1));
        const length = Math.min(Math.floor(random() * 3), body.length - at);
        notes.update("n", {
          body: { splice: [{ at, delete: length, insert: "ab".slice(i % 3) }] },
        });
      }
      a.connect();
      b.connect();
      await Promise.all(
        [a, b].map(({ notes }) => notes.update("n", { title: "end" }).synced),
      );
      const replica = await server.replica("team/a");
      for (const { repo, notes } of [a, b]) {
        await untilBody({ notes } as Device, "n", a.notes.get("n")!.body);
        ok(repo !== undefined);
      }
      const table = replica.state.find("note")!;
      const digests = [a, b].map(({ notes }) =>
        notes.textOf("n", "body")!.clients
      );
      deepEqual(digests[0], digests[1]);
      equal(table.count, 1);
    }),
    { seed: 8, numRuns: sized(8, 250) },
  );
});

Deno.test("what was typed into a refused text comes back with its retry", async () => {
  const place = await AuthorPlace.open();
  const kept = place.put("kept", "kept").commit!;
  place.write((tx, leaves) =>
    void leaves.create(tx, { id: "n", title: "n", body: "one three" })
  );
  place.write((tx, leaves) =>
    void leaves.update(tx, "n", { body: "one two three" })
  );
  place.replica.refuse(kept.chain, [refusedAt(1)]);
  equal(place.get("n")?.body, "");
  await place.agrees("without its create");
  place.replica.retry(place.replica.refusals()[0]!);
  equal(place.get("n")?.body, "one two three");
  await place.agrees("with it");
});

Deno.test("a database without the schema shows an edited text where it is given the engine", async () => {
  const storage = memoryStorage();
  const db = await openDatabase({ storage, schemas: [Note] });
  const notes = (await db.repository("r")).collection(Note);
  notes.create({ id: "n", body: "one" });
  notes.update("n", { body: "one and two" });
  notes.update("n", { body: "one two" });
  await db.close();
  for (
    const [given, body] of [[{}, undefined], [
      { textEngine },
      "one two",
    ]] as const
  ) {
    const bare = await openDatabase({ storage, ...given });
    const stored = (await bare.repository("r")).storedCollection("note");
    deepEqual(stored.get("n"), { id: "n", title: "", body });
    await bare.close();
  }
});

Deno.test("undo takes back what was typed in an editor, and leaves what others typed", async () => {
  await using server = new MemoryServer({ users });
  await using a = await device(server, "a");
  await using b = await device(server, "b");
  const { undo } = a.repo;
  await undo.ready;
  a.connect();
  b.connect();
  await a.notes.create({ id: "n", body: "one" }).synced;
  await untilBody(b, "n", "one");
  const page = new FakePage();
  const element = new FakeTextarea(page);
  const place = { collection: a.notes, id: "n", field: "body" as const };
  const bound = bindTextarea(element, place);
  element.type(3, " two");
  bound.flush();
  await untilBody(b, "n", "one two");
  await b.notes.update("n", { body: "zero one two" }).synced;
  await untilBody(a, "n", "zero one two");
  undo.undo();
  equal(element.value, "zero one");
  undo.redo();
  equal(element.value, "zero one two");
  bound.close();
  await untilBody(b, "n", "zero one two");
});

Deno.test("a refused update of a text takes nothing with it but what stands on it", async () => {
  const place = await AuthorPlace.open();
  const splice = (at: number, insert: string) =>
    place.write((tx, leaves) =>
      void leaves.update(tx, "n", { body: { splice: [{ at, insert }] } })
    );
  place.write((tx, leaves) =>
    void leaves.create(tx, { id: "n", title: "n", body: "one three" })
  );
  splice(0, "zero ");
  const { chain, number } = splice(9, "secret ").commit!;
  splice(5, "half ");
  splice(26, " four");
  place.write((tx, leaves) =>
    void leaves.update(tx, "n", { body: "half one secret three four five" })
  );
  // The create's, and one of all that followed.
  equal(
    stateIn(place.editor.table.cellOf("n")!, "body", "text").clients.size,
    2,
  );
  place.replica.refuse(chain, [refusedAt(number)]);
  equal(place.get("n")!.body, "half one three four five");
  await place.agrees("without it");
  place.write((tx, leaves) =>
    void leaves.update(tx, "n", { body: "half one three four five six" })
  );
  const state = stateIn(place.editor.table.cellOf("n")!, "body", "text");
  for (const [client, { runs }] of state.clients) {
    equal(state.endOf(client), runs.reduce((n, one) => n + one.length, 0));
  }
  place.replica.retry(place.replica.refusals()[0]!);
  equal(place.get("n")!.body, "half one secret three four five six");
  await place.agrees("with it");
});
