/**
 * The command line from outside: real commands in a folder of their own.
 *
 * @module
 */

import assert from "node:assert/strict";

const main = new URL("../src/cli/main.ts", import.meta.url).pathname;
const config = new URL("../deno.json", import.meta.url).pathname;
const commands = [
  "import",
  "export",
  "query",
  "stats",
  "history",
  "verify",
  "keys",
];

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder for one test, with commands that run in it. */
class Place implements AsyncDisposable {
  readonly path = Deno.makeTempDirSync({ prefix: "sheaf-cli-" });

  file(name: string, text: string): string {
    const path = `${this.path}/${name}`;
    Deno.writeTextFileSync(path, text);
    return path;
  }

  spawn(args: readonly string[], stdin: "null" | "piped"): Deno.ChildProcess {
    return new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        `--config=${config}`,
        "--allow-read",
        "--allow-write",
        "--allow-env",
        "--allow-sys",
        main,
        ...args,
      ],
      cwd: this.path,
      stdin,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  }

  async run(args: readonly string[], stdin?: string): Promise<Ran> {
    const child = this.spawn(args, stdin === undefined ? "null" : "piped");
    if (stdin !== undefined) {
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(stdin));
      await writer.close();
    }
    const { code, stdout, stderr } = await child.output();
    const decoder = new TextDecoder();
    return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
  }

  /** Runs a command that must succeed. */
  async sheaf(...args: readonly string[]): Promise<Ran> {
    const ran = await this.run(args);
    assert.equal(ran.code, 0, `sheaf ${args.join(" ")}\n${ran.err}`);
    return ran;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

/** A failure is one line with a code, and maybe a hint. */
function assertFailure(ran: Ran, code: number, start: RegExp): void {
  assert.equal(ran.code, code, ran.err);
  const [line, hint = ""] = ran.err.trimEnd().split("\n");
  assert.match(line ?? "", start);
  assert.ok(hint === "" || hint.startsWith("  hint: "), ran.err);
  assert.ok(!ran.err.includes("    at "), "no stack trace");
}

const csv = `id,name,lat,founded,capital,zip,note
rvk,Reykjavík,64.1466,1786-08-18,true,0101,"says ""hæ"",
twice"
osl,Oslo,59.9139,1048-01-01,TRUE,0150,
vik,"",63.4186,,false,870,""
`;

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
  assert.match(ran.err, /hint: 10 rows up to line 10 were imported/);
  const { out } = await place.sheaf("query", "--count");
  assert.equal(out, "10\n");

  rows[17] = '{"title":"t17","state":"ajar"}';
  place.file("tasks.jsonl", rows.join("\n"));
  const judged = await place.run(["import", "tasks.jsonl", ...target]);
  assertFailure(judged, 1, /^error\[invalid-value\]: tasks\.jsonl:18: /);
  assert.equal((await place.sheaf("query", "--count")).out, "20\n");
});

Deno.test("sheaf import reads standard input and writes nothing in a dry run", async () => {
  await using place = await Promise.resolve(new Place());
  const args = ["import", "-", "--format=csv", "--repo=r", "--collection=c"];
  const dry = await place.run([...args, "--dry-run"], "n\n1\n2\n");
  assert.equal(dry.code, 0, dry.err);
  assert.match(dry.out, /n: field\.number\(\),/);
  assert.match(dry.err, /2 items created .*nothing was written \(dry run\)/);
  const nothing = await place.run(["query", "--count"]);
  assertFailure(nothing, 1, /^error\[not-found\]: No database in/);

  assert.equal((await place.run(args, "n\n1\n2\n")).code, 0);
  const again = await place.run([...args, "--dry-run"], "n\n3\n");
  assert.equal(again.code, 0, again.err);
  assert.equal((await place.sheaf("query", "--count")).out, "2\n");
});

Deno.test("sheaf query filters, sorts, limits, counts and explains", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("towns.csv", csv);
  await place.sheaf("import", "towns.csv", "--repo=a", "--collection=town");
  const north = ["--where", '{"lat":{"gt":63}}', "--order-by", "lat:desc"];
  const table = await place.sheaf("query", ...north);
  const lines = table.out.split("\n");
  assert.match(lines[0] ?? "", /^id +name +lat +founded/);
  assert.match(lines[2] ?? "", /^rvk +Reykjavík +64\.1466 .*"hæ",\\ntwice$/);
  assert.match(lines[3] ?? "", /^vik /);
  assert.equal(lines.length, 5);
  const first = await place.sheaf(
    "query",
    ...north,
    "--limit=1",
    "--format=csv",
  );
  assert.equal(first.out.split("\r\n")[1]?.startsWith("rvk,"), true);
  const dated = '{"founded":{"lt":"1100-01-01"}}';
  const count = await place.sheaf("query", "--where", dated, "--count");
  assert.equal(count.out, "1\n");
  const missing = await place.sheaf(
    "query",
    "--where",
    '{"founded":null}',
    "--count",
  );
  assert.equal(missing.out, "1\n");
  const plan = await place.sheaf("query", ...north, "--explain");
  assert.match(plan.out, /^plan +\S/m);
  assert.match(plan.out, /^rowsReturned +2$/m);
  assert.match(plan.out, /^milliseconds +\d+(\.\d\d)?$/m);
});

Deno.test("sheaf stats, history, verify and keys tell about a repository", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("towns.csv", csv);
  const batches = ["--repo=a", "--collection=town", "--batch=2"];
  await place.sheaf("import", "towns.csv", ...batches);
  const stats = JSON.parse((await place.sheaf("stats", "--json")).out);
  assert.equal(stats.repository, "a");
  assert.equal(stats.mode, "default");
  assert.equal(stats.commits, 2);
  assert.equal(stats.collections[0].count, 3);
  assert.ok(stats.logBytes > 100);
  const shown = await place.sheaf("stats");
  assert.match(shown.out, /^commits +2$/m);
  assert.match(shown.out, /^town +3 +name string, lat number/m);

  const history = await place.sheaf("history", "--json");
  const entries = history.out.trim().split("\n").map((line) =>
    JSON.parse(line)
  );
  assert.equal(entries.length, 2);
  assert.ok(entries[0].at <= entries[1].at, "newest last");
  const ofItem = await place.sheaf("history", "vik");
  assert.match(
    ofItem.out,
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC {2}[0-9a-f]{8}:\d+ {2}/,
  );
  const unknown = await place.run(["history", "nowhere"]);
  assertFailure(unknown, 1, /^error\[item-missing\]: /);

  const keys = await place.sheaf("keys");
  assert.deepEqual(keys.out.trim().split("\n").sort(), ["osl", "rvk", "vik"]);
  const identity = await place.sheaf("keys", "--identity");
  assert.match(identity.out, /^root key +[0-9a-f]{64}$/m);
  assert.match(identity.out, /^session key +[0-9a-f]{64} +local$/m);
  const secrets = Deno.readFileSync(`${place.path}/data/database`).toHex();
  const publicKey = /root key +([0-9a-f]{64})/.exec(identity.out)?.[1] ?? "";
  const secret = secrets.slice(2 * (8 + 2 + 32 + 1), 2 * (8 + 2 + 32 + 1 + 32));
  assert.ok(secrets.includes(publicKey));
  assert.ok(!identity.out.includes(secret), "the root secret stays secret");

  const verify = await place.sheaf("verify");
  assert.match(verify.out, /^a is whole, 2 commits, /);
});

/** The log of the only repository. */
function findLog(path: string): string {
  const repositories = `${path}/data/repositories`;
  const [folder] = [...Deno.readDirSync(repositories)];
  return `${repositories}/${folder?.name}/log-00000000`;
}

Deno.test("sheaf verify finds a flipped bit and exits with 1", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("towns.csv", csv);
  const batches = ["--repo=a", "--collection=town", "--batch=1"];
  await place.sheaf("import", "towns.csv", ...batches);
  const log = findLog(place.path);
  const bytes = Deno.readFileSync(log);
  const at = new TextDecoder("latin1").decode(bytes).indexOf("Oslo");
  assert.ok(at > 0);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  Deno.writeFileSync(log, bytes);
  const ran = await place.run(["verify"]);
  assertFailure(ran, 1, /^error\[log-damaged\]: .*\d/);
});

Deno.test("sheaf refuses wrong usage with exit code 2 and one line", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("towns.csv", csv);
  place.file("towns.txt", csv);
  place.file("empty.csv", "a,b\n");
  await place.sheaf("import", "towns.csv", "--repo=a", "--collection=town");
  await place.sheaf("import", "towns.csv", "--repo=a", "--collection=more");
  for (
    const [args, start] of [
      [[], /^error\[usage\]: No command/],
      [["fly"], /^error\[usage\]: unknown command 'fly'/],
      [["query", "--fast"], /^error\[usage\]: unknown option '--fast'/],
      [["query", "--limit=0"], /^error\[usage\]: .*whole number from 1/],
      [["query"], /^error\[usage\]: "a" has 2 collections/],
      [
        ["query", "--collection=town", "--where={"],
        /^error\[usage\]: --where is not/,
      ],
      [
        ["query", "--collection=town", '--where={"x":1}'],
        /no field is named "x"/,
      ],
      [["query", "--format=xml"], /^error\[usage\]: .*'--format/],
      [
        ["import", "towns.txt", "--repo=a"],
        /^error\[usage\]: Cannot tell the format/,
      ],
      [["import", "empty.csv", "--repo=a", "--collection=e"], /has no rows/],
    ] as const
  ) {
    const ran = await place.run(args);
    assertFailure(ran, 2, start);
    assert.equal(ran.out, "");
  }
  const lost = await place.run([
    "import",
    "no.csv",
    "--repo=a",
    "--collection=b",
  ]);
  assertFailure(lost, 1, /^error\[not-found\]: No file "no\.csv"/);
  const file = await place.run(["stats", "--data=towns.csv"]);
  assertFailure(file, 1, /^error\[not-found\]: No database in "towns\.csv"/);
  const onFile = ["--data=towns.csv", "--repo=a", "--collection=b"];
  const blocked = await place.run(["import", "towns.csv", ...onFile]);
  assertFailure(blocked, 1, /^error\[invalid-path\]: /);
  const odd = await place.run(["query", "--repo=b"]);
  assertFailure(odd, 1, /^error\[not-found\]: No repository "b"/);
});

Deno.test("sheaf --help of each command has an example", async () => {
  await using place = await Promise.resolve(new Place());
  const all = await place.sheaf("--help");
  for (const command of commands) {
    assert.match(all.out, new RegExp(`^  ${command} `, "m"));
    const { out } = await place.sheaf(command, "--help");
    assert.match(out, new RegExp(`Example:\\n  deno task sheaf ${command} `));
    assert.ok(out.includes("--data <dir>"));
  }
});

Deno.test("sheaf import closes the database on Ctrl-C and keeps whole batches", async () => {
  await using place = await Promise.resolve(new Place());
  place.file(
    "n.ts",
    `import { defineSchema, field } from "@sheaf/sheaf";
export default defineSchema("n", { n: field.number() });\n`,
  );
  const args = ["import", "-", "--format=jsonl", "--repo=r", "--schema=n.ts"];
  const rows = Array.from({ length: 400_000 }, (_, i) => `{"n":${i}}\n`);
  place.file("rows.jsonl", rows.join(""));
  args[1] = "rows.jsonl";
  const child = place.spawn([...args, "--batch=100"], "null");
  const repositories = `${place.path}/data/repositories`;
  while (!isThere(repositories)) await pause(20);
  await pause(100);
  child.kill("SIGINT");
  const { code, stderr } = await child.output();
  assert.equal(code, 130, new TextDecoder().decode(stderr));
  const { out } = await place.sheaf("query", "--count");
  assert.ok(Number(out) < 400_000, out);
  assert.equal(Number(out) % 100, 0);
  await place.sheaf("verify");
});

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

Deno.test("sheaf export ends quietly when its reader goes away", async () => {
  await using place = await Promise.resolve(new Place());
  const rows = Array.from({ length: 50_000 }, (_, i) => `{"n":${i}}\n`);
  place.file("rows.jsonl", rows.join(""));
  await place.sheaf("import", "rows.jsonl", "--repo=r", "--collection=n");
  const child = place.spawn(["export"], "null");
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  const errors = await new Response(child.stderr).text();
  assert.equal((await child.status).code, 0, errors);
  assert.equal(errors, "");
});
