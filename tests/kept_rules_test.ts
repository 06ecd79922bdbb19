/** Rules that have judged a server's data: they are not left away by mistake, and can be asked again. */

import { equal, match, rejects } from "node:assert/strict";
import { defineRules, memoryStorage, openDatabase, rulesFor } from "../mod.ts";
import { createServer } from "../server/mod.ts";
import { assertFailure, Place } from "./cli_place.ts";
import { clientOf, Note } from "./server_clients.ts";
import { ANN, serverOptions } from "./server_place.ts";

const rules = defineRules({
  "team/{team}": {
    read: () => true,
    collections: [rulesFor(Note, { create: () => true, update: () => true })],
  },
});

Deno.test("a server that has judged by rules starts without them only where that is said", async () => {
  const storage = memoryStorage();
  const start = (more: object) =>
    createServer(serverOptions({ storage, ...more }, []));
  await (await start({})).close(); // Nothing was judged yet.
  await (await start({ rules })).close();
  const code = "rules-missing";
  await rejects(start({}), { code, message: /since \d{4}-.*--no-rules/ });
  await rejects(start({ noRules: false }), { code });
  await rejects(start({ rules, noRules: true }), { code: "invalid-option" });
  await (await start({ noRules: true })).close();
  await rejects(start({}), { code }, "it is asked each time");
  await (await start({ rules })).close();
  // Whoever only looks into it needs no rules.
  await using db = await openDatabase({ storage });
  equal(db.repositories().includes("_server"), true);
});

/** A module with rules that deny notes of one text, and those that nobody looks up. */
function moduleOf(bad: string): string {
  const entry = new URL("../mod.ts", import.meta.url).href;
  return `
import { defineRules, defineSchema, field, rulesFor } from "${entry}";
const Note = defineSchema("note", { text: field.string() });
export default defineRules({
  "team/{team}": {
    collections: [rulesFor(Note, {
      create: ({ after, get }) =>
        after.text !== "${bad}" || get(Note, "first") === undefined ||
        "not \\u001b[31mthat word",
      update: () => true,
    })],
  },
});
`;
}

Deno.test("sheaf verify --rules says where rules would have decided otherwise, and changes nothing", async () => {
  await using place = new Place();
  const data = `${place.path}/data`;
  {
    await using server = await createServer(serverOptions({ data, rules }, []));
    await using ann = await clientOf(server, { token: ANN });
    const { notes } = ann;
    await notes.create({ id: "zero", text: "bad" }).synced; // There is no first one yet.
    await notes.create({ id: "first", text: "x" }).synced;
    await notes.create({ id: "second", text: "bad" }).synced;
    await notes.update("second", { text: "good" }).synced;
    await notes.create({ id: "third", text: "bad" }).synced;
  }
  place.file("same.ts", moduleOf("nobody says this"));
  place.file("other.ts", moduleOf("bad"));
  place.file("none.ts", "export default 5;\n");
  const verify = ["verify", "--repo", "team/a", "--rules"];
  const fits = await place.sheaf(...verify, "same.ts");
  match(fits.out, /^team\/a: these rules allow all of 5 commits, 0 not judged/);
  const differs = await place.run([...verify, "other.ts"]);
  assertFailure(
    differs,
    3,
    /^error\[rules-differ\]: these rules would have refused 2 commits .* of 5/,
  );
  const lines = differs.out.trimEnd().split("\n");
  equal(lines.length, 2, differs.out);
  for (const line of lines) {
    match(
      line,
      /^[0-9a-f]{80}:\d+ {2}\d{4}-\S+Z {2}ann {2}team\/\{team\} note.create: not /,
    );
    equal(line.includes("\u001b"), false);
  }
  place.file(
    "unique.ts",
    moduleOf("nothing").replace(
      "string() })",
      'string() }, { unique: [["text"]] })',
    ),
  );
  const twice = await place.run([...verify, "unique.ts"]);
  assertFailure(twice, 3, /would have refused 2 commits /);
  match(
    twice.out,
    /note\.unique\(text\): "note" item "\w+": "\w+" has the same text/,
  );
  assertFailure(await place.run([...verify, "none.ts"]), 1, /"rules" can use/);
  await place.sheaf("verify", "--repo", "team/a");
});
