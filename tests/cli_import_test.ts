/**
 * `sheaf import` and `sheaf export` from outside.
 *
 * @module
 */

import assert from "node:assert/strict";
import { assertFailure, csv, Place } from "./cli_place.ts";
import { until } from "./kit/patience.ts";

Deno.test("sheaf import reads CSV, prints the schema, and export gives it back", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("towns.csv", csv);
  const target = ["--repo", "world/north", "--collection", "town"];
  const { out, err } = await place.sheaf("import", "towns.csv", ...target);
  assert.equal(
    out,
    `import { defineSchema, field } from "@sheaf/sheaf";

export default defineSchema("town", {
  name: field.string(),
  lat: field.number(),
  founded: field.date().optional(),
  capital: field.boolean(),
  zip: field.string(),
  note: field.string().optional(),
});
`,
  );
  assert.match(err, /^3 items created in world\/north town: 1 transaction/);
  const rows = await place.sheaf("query", "--format", "jsonl");
  const items = rows.out.trim().split("\n").map((line) => JSON.parse(line));
  const reykjavik = items.find((item) => item.id === "rvk");
  assert.deepEqual(reykjavik, {
    id: "rvk",
    name: "Reykjavík",
    lat: 64.1466,
    founded: "1786-08-18T00:00:00.000Z",
    capital: true,
    zip: "0101",
    note: 'says "hæ",\ntwice',
  });
  const vik = items.find((item) => item.id === "vik");
  assert.deepEqual([vik.name, vik.note, "founded" in vik], ["", "", false]);
});

Deno.test("sheaf export and import are each other's inverse in every format", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("towns.csv", csv);
  await place.sheaf("import", "towns.csv", "--repo=a", "--collection=town");
  const sorted = async (repo: string) => {
    const args = ["--repo", repo, "--order-by", "id", "--format", "jsonl"];
    return (await place.sheaf("query", ...args)).out;
  };
  const expected = await sorted("a");
  for (const format of ["csv", "json", "jsonl"]) {
    const out = `towns-out.${format}`;
    await place.sheaf("export", "--repo=a", "--out", out);
    const target = ["--repo", format, "--collection", "town"];
    await place.sheaf("import", out, ...target);
    assert.equal(await sorted(format), expected, format);
  }
});

const schemaModule = `import { defineSchema, field } from "@sheaf/sheaf";
export default defineSchema("task", {
  title: field.string(),
  rank: field.number().default(0),
  tags: field.set(field.string()),
  labels: field.map(field.number()),
  steps: field.list(field.string()),
  votes: field.counter(),
  state: field.enum(["open", "closed"]).default("open"),
  blob: field.bytes().optional(),
  when: field.date().optional(),
  extra: field.json().optional(),
}, { indexes: [["rank"]] });
`;

const tasks = [
  {
    id: "a",
    title: "Ship it",
    rank: 3,
    tags: ["x", "y"],
    labels: { p: 1, q: -2.5 },
    steps: ["one", "two", "one"],
    votes: 4,
    state: "closed",
    blob: "AQL/",
    when: "2026-11-20T14:05:09.123Z",
    extra: { deep: [1, null, "5"] },
  },
  { id: "b", title: "Rest" },
];

Deno.test("sheaf import takes a schema module with every kind of field", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("task.ts", schemaModule);
  place.file(
    "tasks.jsonl",
    tasks.map((task) => JSON.stringify(task)).join("\n"),
  );
  const target = ["--repo=work", "--schema", "task.ts"];
  await place.sheaf("import", "tasks.jsonl", ...target);
  const { out } = await place.sheaf("export", "--format", "json");
  const items: { id: string }[] = JSON.parse(out);
  items.sort((a, b) => a.id < b.id ? -1 : 1);
  const whole = {
    rank: 0,
    tags: [],
    labels: {},
    steps: [],
    votes: 0,
    state: "open",
  };
  assert.deepEqual(items, tasks.map((task) => ({ ...whole, ...task })));

  await place.sheaf("export", "--out", "tasks.csv");
  const again = ["--repo=again", "--schema", "task.ts"];
  await place.sheaf("import", "tasks.csv", ...again);
  const copy = await place.sheaf("export", "--repo=again", "--format=json");
  const copies: { id: string }[] = JSON.parse(copy.out);
  copies.sort((a, b) => a.id < b.id ? -1 : 1);
  assert.deepEqual(copies, items);
});

Deno.test("sheaf import takes a schema module that refers to other collections", async () => {
  await using place = await Promise.resolve(new Place());
  place.file(
    "post.ts",
    `import { defineSchema, field } from "@sheaf/sheaf";
export default defineSchema("post", {
  author: field.ref("user"),
  board: field.ref("board").exists().optional(),
});
`,
  );
  place.file("posts.jsonl", '{"id":"a","author":"ann"}\n');
  const target = ["--repo=work", "--schema", "post.ts"];
  await place.sheaf("import", "posts.jsonl", ...target);
  const { out } = await place.sheaf("export", "--format", "jsonl");
  assert.deepEqual(JSON.parse(out), { id: "a", author: "ann" });
  place.file("boards.jsonl", '{"id":"b","author":"ann","board":"none"}\n');
  const ran = await place.run(["import", "boards.jsonl", ...target]);
  assertFailure(ran, 1, /^error\[constraint\]: .*there is no "board" item/);
});

Deno.test("sheaf import does with known ids what --on-conflict says", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("task.ts", schemaModule);
  place.file(
    "tasks.jsonl",
    tasks.map((task) => JSON.stringify(task)).join("\n"),
  );
  const newer = '{"id":"b","title":"Work"}\n{"id":"a","title":"Sail"}\n';
  place.file("newer.jsonl", newer);
  const target = ["--repo=work", "--schema", "task.ts"];
  await place.sheaf("import", "tasks.jsonl", ...target);
  const refused = await place.run(["import", "newer.jsonl", ...target]);
  assertFailure(refused, 1, /^error\[item-exists\]: newer\.jsonl:1: .*"b"/);

  const skip = ["--on-conflict", "skip"];
  const skipped = await place.sheaf(
    "import",
    "newer.jsonl",
    ...target,
    ...skip,
  );
  assert.match(skipped.err, /0 items created, 2 rows skipped/);
  const replace = ["--on-conflict", "replace"];
  const done = await place.sheaf(
    "import",
    "newer.jsonl",
    ...target,
    ...replace,
  );
  assert.match(done.err, /0 items created, 2 items replaced/);
  const where = ["--where", '{"id":"a"}', "--format", "jsonl"];
  const { out } = await place.sheaf("query", ...where);
  assert.deepEqual(JSON.parse(out), {
    id: "a",
    title: "Sail",
    rank: 0,
    tags: [],
    labels: {},
    steps: [],
    votes: 0,
    state: "open",
  });
});

Deno.test("sheaf import stops at a bad row, names its line, and keeps batches whole", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("task.ts", schemaModule);
  const rows = Array.from({ length: 25 }, (_, i) => `{"title":"t${i}"}`);
  rows[17] = '{"title":"t17","rank":"high"}';
  place.file("tasks.jsonl", rows.join("\n"));
  const target = ["--repo=work", "--schema", "task.ts", "--batch", "10"];
  const ran = await place.run(["import", "tasks.jsonl", ...target]);
  assertFailure(
    ran,
    1,
    /^error\[bad-row\]: tasks\.jsonl:18: field "rank" is a/,
  );
  assert.match(ran.err, /hint: 10 rows up to tasks\.jsonl:10 were imported/);
  const { out } = await place.sheaf("query", "--count");
  assert.equal(out, "10\n");

  rows[17] = '{"title":"t17","state":"ajar"}';
  place.file("tasks.jsonl", rows.join("\n"));
  const judged = await place.run(["import", "tasks.jsonl", ...target]);
  assertFailure(judged, 1, /^error\[invalid-value\]: tasks\.jsonl:18: /);
  assert.equal((await place.sheaf("query", "--count")).out, "20\n");
});

Deno.test("sheaf import refuses JSON that would lose digits or keys before it writes any", async () => {
  await using place = await Promise.resolve(new Place());
  const files: readonly (readonly [string, string, RegExp])[] = [
    ["n.json", '[\n{"n":1},\n{"n":9007199254740993}]', /:3: the number 90/],
    ["k.jsonl", '{"n":1}\n{"n":1,"n":2}\n', /:2: the key "n" stands twice$/],
  ];
  for (const [name, text, expected] of files) {
    place.file(name, text);
    const target = ["--repo=r", "--collection=c"];
    const ran = await place.run(["import", name, ...target]);
    assertFailure(ran, 1, /^error\[bad-row\]: /);
    assert.match(ran.err.trimEnd().split("\n")[0] ?? "", expected);
  }
  const nothing = await place.run(["query", "--count"]);
  assertFailure(nothing, 1, /^error\[not-found\]: No database in/);
  place.file("n.csv", 'id,n,j\na,9007199254740993,"{""a"":1,""a"":2}"\n');
  await place.sheaf("import", "n.csv", "--repo=r", "--collection=c");
  const { out } = await place.sheaf("export");
  assert.deepEqual(JSON.parse(out), {
    id: "a",
    n: "9007199254740993",
    j: '{"a":1,"a":2}',
  });
});

Deno.test("sheaf import reads standard input and writes nothing in a dry run", async () => {
  await using place = await Promise.resolve(new Place());
  const args = ["import", "-", "--format=csv", "--repo=r", "--collection=c"];
  const dry = await place.pipe([...args, "--dry-run"], "n\n1\n2\n");
  assert.equal(dry.code, 0, dry.report);
  assert.match(dry.out, /n: field\.number\(\),/);
  assert.match(dry.err, /2 items created .*nothing was written \(dry run\)/);
  const nothing = await place.run(["query", "--count"]);
  assertFailure(nothing, 1, /^error\[not-found\]: No database in/);

  const once = await place.pipe(args, "n\n1\n2\n");
  assert.equal(once.code, 0, once.report);
  place.file("more.csv", "n\n3\n");
  await place.sheaf("import", "more.csv", "--dry-run");
  assert.equal((await place.sheaf("query", "--count")).out, "2\n");
});

Deno.test("sheaf import closes the database on Ctrl-C and keeps whole batches", async () => {
  await using place = await Promise.resolve(new Place());
  place.file(
    "n.ts",
    `import { defineSchema, field } from "@sheaf/sheaf";
export default defineSchema("n", { n: field.number() });\n`,
  );
  const rows = Array.from({ length: 400_000 }, (_, i) => `{"n":${i}}\n`);
  place.file("rows.jsonl", rows.join(""));
  const args = ["import", "rows.jsonl", "--repo=r", "--schema=n.ts"];
  await using child = place.spawn([...args, "--batch=100"]);
  const repositories = `${place.path}/data/repositories`;
  await until(
    () => child.hasEnded || bytesIn(repositories) > 100_000,
    () => `some of it is written: ${child.report()}`,
  );
  child.kill("SIGINT");
  const { code, report } = await child.ended;
  assert.equal(code, 130, report);
  assert.match(report, /hint: [\d,]+00 rows up to rows\.jsonl:\d+00 were/);
  const { out } = await place.sheaf("query", "--count");
  assert.ok(Number(out) > 0 && Number(out) < 400_000, out);
  assert.equal(Number(out) % 100, 0);
  await place.sheaf("verify");
});

/** Bytes of all files in a folder; 0 where there is none yet. */
function bytesIn(folder: string): number {
  let bytes = 0;
  try {
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      const path = `${folder}/${name}`;
      bytes += isDirectory ? bytesIn(path) : Deno.statSync(path).size;
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return bytes;
}

Deno.test("sheaf export ends quietly when its reader goes away", async () => {
  await using place = await Promise.resolve(new Place());
  // More than pipes and readers hold.
  const text = "x".repeat(1_000);
  const rows = Array.from({ length: 2_000 }, () => `{"text":"${text}"}\n`);
  place.file("rows.jsonl", rows.join(""));
  await place.sheaf("import", "rows.jsonl", "--repo=r", "--collection=n");
  await using child = place.spawn(["export"]);
  await child.said(/./);
  await child.leave();
  const { err } = await child.endsWell();
  assert.equal(err, "");
});
