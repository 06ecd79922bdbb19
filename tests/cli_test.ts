/**
 * The command line from outside: whole commands in a folder of their own.
 *
 * @module
 */

import assert from "node:assert/strict";
import { createServer } from "../server/mod.ts";
import { diskStorage } from "../src/storage/disk_storage.ts";
import { filesWith } from "./kit/found_text.ts";
import { assertFailure, csv, Place } from "./cli_place.ts";

const commands = [
  "import",
  "export",
  "query",
  "stats",
  "history",
  "verify",
  "keys",
  "delete",
  "redact",
  "certify",
];

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
  assert.match(identity.out, /^the public keys of this replica$/m);
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

Deno.test("sheaf history says how many changes of a commit it does not show", async () => {
  await using place = await Promise.resolve(new Place());
  const rows = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `i${from + i},x\n`).join("");
  place.file("eight.csv", `id,text\n${rows(0, 8)}`);
  place.file("nine.csv", `id,text\n${rows(8, 9)}`);
  await place.sheaf("import", "eight.csv", "--repo=a", "--collection=note");
  const eight = (await place.sheaf("history")).out;
  assert.equal(eight.match(/^ {4}\S/gm)?.length, 8, eight);
  assert.doesNotMatch(eight, /more/);
  // The only repository and the only collection need no name.
  await place.sheaf("import", "nine.csv");
  const nine = (await place.sheaf("history", "--limit=1")).out;
  assert.match(nine, /^ {4}and 1 more$/m);
  const backup = await place.sheaf("backup", "--to", "copy");
  assert.match(backup.out, /: 1 repository, 2 commits, /);
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
      [["query", "--limit=0"], /^error\[usage\]: .*whole number of at least 1/],
      [["query"], /^error\[usage\]: "a" has 2 collections/],
      [
        ["query", "--collection=town", "--where={"],
        /^error\[usage\]: --where is not/,
      ],
      [
        ["query", "--collection=town", '--where={"x":1}'],
        /^error\[invalid-query\]: .*"x" is not a field\. The fields are name, lat/,
      ],
      [
        ["query", "--collection=town", '--where={"__proto__":1}'],
        /"__proto__" is not a field/,
      ],
      [["query", "--collection=town", "--where=[]"], /takes an object/],
      [
        ["query", "--collection=town", '--where={"or":{}}'],
        /'or' takes a list/,
      ],
      [
        ["query", "--collection=town", "--order-by=lat:down"],
        /"lat:down" is not a field/,
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

/** Leaves neither the log whole nor a checkpoint that would do without it. */
function damage(log: string): void {
  Deno.writeFileSync(log, Deno.readFileSync(log).fill(255, 150, 200));
  const folder = log.slice(0, log.lastIndexOf("/"));
  for (const { name } of Deno.readDirSync(folder)) {
    if (name.startsWith("checkpoint")) Deno.removeSync(`${folder}/${name}`);
  }
}

Deno.test("sheaf delete says what goes, asks, and deletes one repository for good", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("towns.csv", csv);
  for (const name of ["a", "b"]) {
    const target = [`--repo=${name}`, "--collection=town", "--batch=2"];
    await place.sheaf("import", "towns.csv", ...target);
  }
  assertFailure(
    await place.run(["delete", "c"]),
    1,
    /^error\[not-found\]: No repository "c" in "\.\/data"/,
  );
  const unasked = await place.run(["delete", "a"]);
  assert.equal(unasked.code, 2, unasked.report);
  assert.match(unasked.err, /^"a" holds 2 commits, .*, town \(3 items\)\n/);
  assert.match(unasked.err, /\nnot on any server: 2 commits\n/);
  assert.match(
    unasked.err,
    /standard input is not a terminal\n {2}hint: --yes /,
  );
  const questions: string[] = [];
  const answering = (answer: string) => (question: string) => {
    questions.push(question);
    return Promise.resolve(answer);
  };
  for (const no of ["", "n", "yes!"]) {
    const ran = await place.run(["delete", "a"], answering(no));
    assert.equal(ran.code, 1, ran.report);
    assert.match(ran.err, /error\[not-confirmed\]: Nothing was deleted/);
  }
  assert.equal(questions[0], 'Delete "a" for ever? [y/N] ');
  const yes = await place.run(["delete", "a"], answering("y"));
  assert.equal(yes.out, 'deleted "a"\n', yes.report);
  assert.match((await place.sheaf("stats")).out, /^repository +b$/m);
  damage(findLog(place.path));
  const last = await place.sheaf("delete", "b", "--yes");
  assert.match(last.err, /^"b" cannot be read: /);
  assertFailure(await place.run(["stats"]), 1, /No repository in/);
});

Deno.test("sheaf redact asks, and erases what was ever said of items", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("towns.csv", csv);
  await place.sheaf("import", "towns.csv", "--repo=a", "--collection=town");
  const unasked = await place.run(["redact", "rvk"]);
  assert.equal(unasked.code, 2, unasked.report);
  const no = await place.run(["redact", "rvk"], () => Promise.resolve("n"));
  assert.match(no.err, /error\[not-confirmed\]: Nothing was erased/);
  const missing = await place.run(["redact", "nowhere", "--yes"]);
  assertFailure(missing, 1, /^error\[not-found\]: No commit says anything of/);
  const wrong = ["redact", "rvk", "--yes", "--key=other.key"];
  place.file("other.key", `${"07".repeat(32)}\n`);
  assertFailure(await place.run(wrong), 1, /^error\[refused\]: /);
  const yes = await place.sheaf("redact", "rvk", "--yes", "--reason=asked");
  assert.equal(yes.out, "erased 1 item of town in 1 commit\n");
  assert.match(yes.err, /backups, and devices that never come back, keep it/);
  const left = await place.sheaf("query", "--order-by", "id");
  assert.match(left.out, /^rvk$/m);
  assert.equal(left.out.includes("Reykjavík"), false);
  const storage = diskStorage(`${place.path}/data`);
  assert.deepEqual(filesWith(storage, "Reykjavík"), []);
  assert.match((await place.sheaf("verify")).out, /^a is whole/);
});

Deno.test("sheaf certify makes a key that redacts, and nothing else, until its date", async () => {
  await using place = await Promise.resolve(new Place());
  place.file("towns.csv", csv);
  await place.sheaf("import", "towns.csv", "--repo=a", "--collection=town");
  const nobody = await place.run(["certify", "her.key"]);
  assertFailure(nobody, 2, /required option '--user <user>'/);
  const said = await place.sheaf("certify", "her.key", "--user=her");
  const lines =
    /^her\.key may erase until 2\d{3}-.*\nsession key [0-9a-f]{64}\n$/;
  assert.match(said.out, lines);
  const again = ["certify", "her.key", "--user=her"];
  assertFailure(await place.run(again), 1, /^error\[invalid-option\]: /);
  const more = ["certify", "his.key", "--user=his", "--root-key=her.key"];
  const refused = await place.run(more);
  assertFailure(refused, 1, /it is not one line of 64 hexadecimal digits/);
  const lost = await place.run(["redact", "rvk", "--yes", "--key=lost.key"]);
  assertFailure(lost, 1, /^error\[not-found\]: There is no key file/);

  // Somebody else's root certified it.
  await place.sheaf(
    "import",
    "towns.csv",
    "--data=b",
    "--repo=a",
    "--collection=town",
  );
  await place.sheaf("certify", "b.key", "--user=her", "--data=b");
  const other = await place.run(["redact", "rvk", "--yes", "--key=b.key"]);
  assertFailure(other, 1, /^error\[refused\]: Nothing was erased/);
  assert.match((await place.sheaf("query", "--count")).out, /^3/);

  const yes = await place.sheaf("redact", "rvk", "--yes", "--key=her.key");
  assert.equal(yes.out, "erased 1 item of town in 1 commit\n");
  const storage = diskStorage(`${place.path}/data`);
  assert.deepEqual(filesWith(storage, "Reykjavík"), []);
  assert.match((await place.sheaf("verify")).out, /^a is whole/);
});

Deno.test("sheaf delete leaves a server's records, and a folder that is being served", async () => {
  await using place = await Promise.resolve(new Place());
  {
    await using server = await createServer({
      data: `${place.path}/data`,
      port: 0,
      log: () => {},
    });
    await server.database.repository("team");
    const served = await place.run(["delete", "team", "--yes"]);
    assertFailure(served, 1, /^error\[database-locked\]: /);
  }
  const own = await place.run(["delete", "_server", "--yes"]);
  assertFailure(own, 1, /^error\[denied\]: "_server" holds a server's /);
  const team = await place.sheaf("delete", "team", "--yes");
  assert.match(team.err, /server's folder: devices that have .* bring it back/);
});

Deno.test("sheaf as a process exits with its code and tells why on standard error", async () => {
  await using place = await Promise.resolve(new Place());
  const wrong = await place.pipe(["fly"], "");
  assertFailure(wrong, 2, /^error\[usage\]: unknown command 'fly'/);
  assert.equal(wrong.out, "");
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
