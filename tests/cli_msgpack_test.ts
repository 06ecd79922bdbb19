/**
 * `sheaf export --format msgpack` and its import lose nothing: items of every
 * kind of field, and entries of key-value stores, come back equal.
 *
 * @module
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { defineSchema, openDatabase } from "../mod.ts";
import { type KvValue, openKv } from "../src/kv/mod.ts";
import { field } from "../src/text/mod.ts";
import { assertFailure, Place } from "./cli_place.ts";
import { anyCharacter } from "./kit/any_text.ts";

const Task = defineSchema("task", {
  title: field.string().optional(),
  rank: field.number().optional(),
  done: field.boolean().optional(),
  when: field.date().optional(),
  blob: field.bytes().optional(),
  state: field.enum(["open", "closed"]).default("open"),
  extra: field.json().optional(),
  owner: field.ref("task").optional(),
  votes: field.counter(),
  tags: field.set(field.string()),
  numbers: field.set(field.number()),
  labels: field.map(field.number()),
  flags: field.map(field.boolean()),
  steps: field.list(field.string()),
  sizes: field.list(field.number()),
  any: field.list(field.json()),
  body: field.text(),
});

const text = fc.string({ unit: anyCharacter });
const key = fc.oneof(
  text,
  fc.constantFrom("__proto__", "constructor", "toJSON"),
);
const double = fc.double({ noNaN: true, noDefaultInfinity: true });
const moment = fc.date({ noInvalidDate: true });
const json = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(null, "5", "null", "2026-01-01", 2 ** 63),
  fc.dictionary(key, fc.jsonValue()),
);
const values = fc.record({
  title: text,
  rank: double,
  done: fc.boolean(),
  when: moment,
  blob: fc.uint8Array(),
  state: fc.constantFrom("open", "closed"),
  extra: json,
  owner: fc.constantFrom("a", "b"),
  votes: fc.maxSafeInteger(),
  tags: fc.array(text),
  numbers: fc.array(double),
  labels: fc.dictionary(key.filter((name) => name !== ""), double),
  flags: fc.dictionary(key.filter((name) => name !== ""), fc.boolean()),
  steps: fc.array(text),
  sizes: fc.array(double),
  any: fc.array(json),
  body: text,
}, { requiredKeys: [] });

/** Items as they are read, in order of their ids. */
async function tasksOf(path: string, name: string): Promise<unknown[]> {
  await using db = await openDatabase({ path, schemas: [Task] });
  const repository = await db.repository(name);
  return repository.collection(Task).query().orderBy("id").run().slice();
}

Deno.test("sheaf export --format msgpack and import give back items of every kind", async () => {
  const property = async (items: readonly object[]) => {
    await using place = await Promise.resolve(new Place());
    const path = `${place.path}/data`;
    {
      await using db = await openDatabase({ path, schemas: [Task] });
      const tasks = (await db.repository("a")).collection(Task);
      for (const values of items) await tasks.create(values);
    }
    const out = ["--format=msgpack", "--out"];
    await place.sheaf("export", "--repo=a", ...out, "a.msgpack");
    const target = ["--repo=b", "--collection=task"];
    await place.sheaf("import", "a.msgpack", ...target);
    const expected = await tasksOf(path, "a");
    assert.deepEqual(await tasksOf(path, "b"), expected);

    // And back, over what is there and over what is not.
    await place.sheaf("export", "--repo=b", ...out, "b.msgpack");
    const back = ["--on-conflict=replace", "--collection=task"];
    await place.sheaf("import", "b.msgpack", "--repo=a", ...back);
    assert.deepEqual(await tasksOf(path, "a"), expected);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(values, { minLength: 1 }), property),
    { seed: 7, numRuns: 12 },
  );
});

const { value } = fc.letrec<{ value: KvValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<KvValue>(null, true, NaN, -Infinity, 2 ** 63, "5", "null"),
    double.map((number) => number + 0),
    text,
    fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
    moment,
    fc.uint8Array(),
    fc.array(tie("value")),
    fc.dictionary(key, tie("value"), { noNullPrototype: true }),
    fc.array(fc.tuple(text, tie("value"))).map((pairs) => new Map(pairs)),
    fc.array(text).map((texts) => new Set(texts)),
  ),
}));

/** Entries as they are read, in order of their keys. */
async function entriesOf(path: string, name: string): Promise<unknown[]> {
  await using db = await openDatabase({ path });
  const kv = openKv(await db.repository(name), { name: "own" });
  return kv.list().entries;
}

Deno.test("sheaf export and import give back the entries of a key-value store, as MessagePack and as JSON", async () => {
  const entries = fc.uniqueArray(
    fc.tuple(fc.stringMatching(/^[a-z]{1,5}$/), value),
    { minLength: 1, selector: ([key]) => key },
  );
  const property = async (entries: readonly [string, KvValue][]) => {
    await using place = await Promise.resolve(new Place());
    const path = `${place.path}/data`;
    {
      await using db = await openDatabase({ path });
      const kv = openKv(await db.repository("a"), { name: "own" });
      await kv.setMany(entries);
      await kv.set("UNTIL", 1, { expiresAt: 8e15 });
      await kv.set("GONE", 1);
      await kv.delete("GONE");
      await kv.set("OVER", 1, { expiresAt: 1 });
      await kv.compareAndSet("SWAPPED", undefined, 1n);
    }
    const expected = await entriesOf(path, "a");
    assert.equal(expected.length, entries.length + 2);
    for (const format of ["msgpack", "jsonl"]) {
      const file = `a.${format}`;
      await place.sheaf("export", "--repo=a", "--out", file);
      const target = [`--repo=${format}`, "--collection=kv-own"];
      const { out } = await place.sheaf("import", file, ...target);
      assert.equal(out, "");
      assert.deepEqual(await entriesOf(path, format), expected);

      const back = `${format}.${format}`;
      await place.sheaf("export", `--repo=${format}`, "--out", back);
      const over = ["--on-conflict=replace", "--repo=a"];
      await place.sheaf("import", back, ...over);
      assert.deepEqual(await entriesOf(path, "a"), expected);
    }
  };
  await fc.assert(fc.asyncProperty(entries, property), {
    seed: 7,
    numRuns: 12,
  });
});

Deno.test("sheaf import writes an entry that was deleted, and refuses a value that no store writes", async () => {
  await using place = await Promise.resolve(new Place());
  const path = `${place.path}/data`;
  {
    await using db = await openDatabase({ path });
    const kv = openKv(await db.repository("a"));
    await kv.set("k", 1);
    await kv.delete("k");
  }
  place.file("k.jsonl", '{"id":"k","value":2,"expected":"absent"}\n');
  await place.sheaf("import", "k.jsonl", "--repo=a");
  const again = await place.run(["import", "k.jsonl", "--repo=a"]);
  assertFailure(again, 1, /^error\[item-exists\]: k\.jsonl:1: .*"k"/);
  const files: readonly (readonly [string, RegExp])[] = [
    ['{"id":"l"}', /it has no value/],
    ['{"id":"l","data":"AQID"}', /Cannot decode value/],
    ['{"value":1}', /an entry needs a key/],
  ];
  for (const [row, expected] of files) {
    place.file("bad.jsonl", `{"id":"ok","value":1}\n${row}`);
    const ran = await place.run(["import", "bad.jsonl", "--repo=a"]);
    assertFailure(ran, 1, /^error\[bad-row\]: bad\.jsonl:2: /);
    assert.match(ran.err, expected);
  }
  await using db = await openDatabase({ path });
  const kv = openKv(await db.repository("a"));
  assert.deepEqual([kv.keys(), kv.get("k")], [["k"], 2]);
});

Deno.test("sheaf export says what text does not carry, and import refuses a cut file before it writes", async () => {
  await using place = await Promise.resolve(new Place());
  const path = `${place.path}/data`;
  {
    await using db = await openDatabase({ path, schemas: [Task] });
    const tasks = (await db.repository("a")).collection(Task);
    await tasks.create({ title: "x", body: "y", extra: "5" });
  }
  const json = await place.sheaf("export", "--format=jsonl");
  assert.match(
    json.err,
    /^note: jsonl does not carry .*when \(date\), .*msgpack/,
  );
  const csv = await place.sheaf("export", "--format=csv");
  assert.match(csv.err, /in CSV a json text that reads as JSON/);
  const whole = ["export", "--out", "t.msgpack"];
  const { err } = await place.sheaf(...whole);
  assert.match(err, /^1 item to t\.msgpack in /);

  const bytes = Deno.readFileSync(`${place.path}/t.msgpack`);
  const cut = bytes.subarray(0, bytes.length - 1);
  Deno.writeFileSync(`${place.path}/cut.msgpack`, cut);
  const ran = await place.run([
    "import",
    "cut.msgpack",
    "--repo=b",
    "--collection=task",
  ]);
  assertFailure(ran, 1, /^error\[bad-row\]: cut\.msgpack:2: the file ends/);
  await using db = await openDatabase({ path });
  assert.deepEqual(db.repositories(), ["a"]);
});

Deno.test("sheaf import prints a schema that has texts", async () => {
  await using place = await Promise.resolve(new Place());
  const path = `${place.path}/data`;
  {
    await using db = await openDatabase({ path, schemas: [Task] });
    const tasks = (await db.repository("a")).collection(Task);
    await tasks.create({ body: "y" });
  }
  await place.sheaf("export", "--out", "t.msgpack");
  const target = ["--repo=b", "--collection=task"];
  const { out } = await place.sheaf("import", "t.msgpack", ...target);
  place.file("task.ts", out);
  assert.match(out, /from "@sheaf\/sheaf\/text";\n[^]*body: field\.text\(\),/);
  await place.sheaf("import", "t.msgpack", "--repo=c", "--schema=task.ts");
  assert.deepEqual(await tasksOf(path, "c"), await tasksOf(path, "a"));

  // With a schema, what comes before the cut is written before it is seen.
  const bytes = Deno.readFileSync(`${place.path}/t.msgpack`);
  Deno.writeFileSync(`${place.path}/cut.msgpack`, bytes.subarray(0, -1));
  const cut = ["import", "cut.msgpack", "--schema=task.ts", "--batch=1"];
  const ran = await place.run([...cut, "--repo=d"]);
  assertFailure(ran, 1, /^error\[bad-row\]: cut\.msgpack:2: .*cut short$/);
  assert.match(ran.err, /hint: 1 row up to cut\.msgpack:1 was imported; noth/);
});
