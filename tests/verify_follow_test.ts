/** `sheaf verify` on the folders of a server and of a client: rules as commits come, and what a server signed. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { main } from "../src/cli/main.ts";
import { Output } from "../src/cli/output.ts";
import { createServer } from "../server/mod.ts";
import { defineRules, type Receipt, rulesFor } from "../mod.ts";
import { diskStorage } from "../src/storage/disk_storage.ts";
import { toHex } from "../src/base/bytes.ts";
import { assertFailure, Place } from "./cli_place.ts";
import { until } from "./kit/patience.ts";
import { ManualWorld, Place as DevicePlace } from "./kit/replica_place.ts";
import { proverFor, Serving } from "./kit/talk.ts";
import { checkReceipts } from "../src/cli/commands/verify_receipt.ts";
import { receiptLayout, shown } from "../sync/receipt.ts";
import { encodeSummary } from "../sync/summary.ts";
import { clientOf, Note } from "./server_clients.ts";
import { ANN, BOB, serverOptions } from "./server_place.ts";

const rules = defineRules({
  "team/{team}": {
    read: () => true,
    collections: [rulesFor(Note, { create: () => true, update: () => true })],
  },
});

/** Rules that deny notes of one text. */
function moduleOf(bad: string): string {
  const entry = new URL("../mod.ts", import.meta.url).href;
  return `
import { defineRules, defineSchema, field, rulesFor } from "${entry}";
const Note = defineSchema("note", { text: field.string() });
export default defineRules({
  "team/{team}": {
    collections: [rulesFor(Note, {
      create: ({ after }) => after.text !== "${bad}" || "not that word",
      update: () => true,
    })],
  },
});
`;
}

/** A command that goes on until it is stopped. */
function going(args: readonly string[]) {
  const decoder = new TextDecoder();
  const said = { out: "", err: "" };
  const outputOf = (name: keyof typeof said) =>
    new Output(
      (bytes) => {
        said[name] += decoder.decode(bytes);
        return bytes.length;
      },
      false,
      undefined,
    );
  const stop = new AbortController();
  const outputs = { out: outputOf("out"), err: outputOf("err") };
  const code = main(args, { ...outputs, signal: stop.signal, ask: undefined });
  return { said, stop, code };
}

Deno.test("sheaf verify --rules --follow says what comes that these rules would have refused, on the folders of a server and of a client that write on", async () => {
  await using place = new Place();
  place.file("rules.ts", moduleOf("bad"));
  const module = `${place.path}/rules.ts`;
  const folders = { server: `${place.path}/server`, ann: `${place.path}/ann` };
  const options = serverOptions({ data: folders.server, rules }, []);
  await using server = await createServer(options);
  const storage = diskStorage(folders.ann);
  await using ann = await clientOf(server, { token: ANN, storage });
  await ann.notes.create({ id: "one", text: "bad" }).synced;
  const running = Object.values(folders).map((data) =>
    going([
      ...["verify", "--data", data, "--repo", "team/a"],
      ...["--rules", module, "--follow"],
    ])
  );
  const found = (count: number) =>
    running.every(({ said }) => said.out.split("\n").length - 1 === count);
  await until(() => found(1), "both name what was there");
  await ann.notes.create({ id: "two", text: "good" }).synced;
  await ann.notes.create({ id: "three", text: "bad" }).synced;
  await until(() => found(2), "both name what came");
  for (const { said, stop, code } of running) {
    stop.abort();
    equal(await code, 3);
    match(said.err, /rules-differ\]: these rules would have refused 2 commits/);
  }
  await ann.notes.create({ id: "four", text: "good" }).synced;
});

Deno.test("sheaf verify --receipt says what a server signed, to who knows its root key, and where that is not so", async () => {
  await using place = new Place();
  const data = `${place.path}/data`;
  const mine = `${place.path}/ann`;
  let rootKey = new Uint8Array();
  {
    await using server = await createServer(serverOptions({ data }, []));
    const storage = diskStorage(mine);
    await using ann = await clientOf(server, { token: ANN, storage });
    await ann.notes.create({ text: "mine" }).synced;
    rootKey = server.rootKey.slice();
  }
  const kept = await place.sheaf("verify", "--receipts", "--data", mine);
  place.file("receipt.txt", kept.out);
  const verify = ["verify", "--receipt", "receipt.txt"];
  const alone = await place.sheaf(...verify, "--root-key", toHex(rootKey));
  match(alone.out, /of server [0-9a-f]{64}, \d{4}-/);
  match(alone.out, / {2}1 commit of [0-9a-f]{80}\n$/);
  const here = await place.sheaf(...verify, "--data", data, "--repo", "team/a");
  match(here.out, / {2}1 commit of [0-9a-f]{80}\n$/);
  const stranger = await place.run([...verify, "--root-key", "ab".repeat(32)]);
  assertFailure(stranger, 1, /bad-receipt/);
  place.file("changed.txt", kept.out.replace(/.{8}\n$/, "00000000"));
  const changed = [
    "verify",
    "--receipt",
    "changed.txt",
    "--root-key",
    toHex(rootKey),
  ];
  assertFailure(await place.run(changed), 1, /bad-receipt/);
  assertFailure(await place.run([...verify, "--root-key", "5"]), 2, /64 hex/);
  // A folder of the same database that has not what was signed for.
  const other = `${place.path}/other`;
  {
    const storage = diskStorage(other);
    const rootKeyOnly = { url: "http://127.0.0.1:9", rootKey };
    await using bob = await clientOf(rootKeyOnly, { storage, offline: true });
    await bob.notes.create({ text: "his" });
  }
  const lacks = await place.run([
    ...[...verify, "--data", other],
    ...["--repo", "team/a"],
  ]);
  assertFailure(lacks, 3, /receipt-differs/);
  match(lacks.out, /not here/);
});

Deno.test("repository.sync.receipt() is a file that sheaf verify --receipt takes, of the last write that was synced, also offline", async () => {
  await using place = new Place();
  const storage = diskStorage(`${place.path}/ann`);
  const written: Receipt[] = [];
  let rootKey = new Uint8Array();
  {
    await using server = await createServer(serverOptions({}, []));
    await using ann = await clientOf(server, { token: ANN, storage });
    await using bob = await clientOf(server, { token: BOB });
    rootKey = server.rootKey.slice();
    for (const text of ["one", "two"]) {
      await ann.notes.create({ text }).synced;
      written.push((await ann.repo.sync.receipt())!);
    }
    await bob.repo.sync.ready;
    equal(await bob.repo.sync.receipt(), undefined, "he wrote nothing");
    const history = await ann.repo.history();
    deepEqual(
      written.map(({ commits: [commit] }) => commit),
      history.map(({ commit }) => commit),
    );
  }
  {
    const nobody = { url: "http://127.0.0.1:9", rootKey };
    await using ann = await clientOf(nobody, { storage, offline: true });
    written.push((await ann.repo.sync.receipt())!);
    await ann.notes.create({ text: "three" });
    written.push((await ann.repo.sync.receipt())!);
  }
  deepEqual(written[2], written[1]);
  deepEqual(written[3], written[1], "the server has not heard of that");
  for (const [i, receipt] of written.entries()) {
    const { bytes, server, epoch, position, order, at, commits } = receipt;
    await Deno.writeFile(`${place.path}/${i}.receipt`, bytes);
    const key = ["--root-key", toHex(rootKey)];
    const shown = await place.sheaf(
      ...["verify", "--receipt", `${i}.receipt`, ...key],
    );
    const [chain, number] = commits[0].split(":");
    const count = Number(number) + 1;
    equal(count, Math.min(2, i + 1));
    ok(shown.out.includes(`receipt of server ${server}, ${at.toISOString()}`));
    ok(
      shown.out.includes(
        `epoch ${epoch}, place ${position}, order ${order}\n` +
          `  ${count} commit${count > 1 ? "s" : ""} of ${chain}\n`,
      ),
      shown.out,
    );
    // One bit of it shows nothing.
    bytes[bytes.length >> 1]! ^= 1;
    await Deno.writeFile(`${place.path}/forged`, bytes);
    const forged = ["verify", "--receipt", "forged", ...key];
    assertFailure(await place.run(forged), 1, /bad-receipt/);
  }
});

Deno.test("sheaf verify --rules --follow goes on with a server that starts anew, and judges nothing twice", async () => {
  await using place = new Place();
  place.file("rules.ts", moduleOf("bad"));
  const data = `${place.path}/server`;
  const write = async (token: string, id: string) => {
    await using server = await createServer(serverOptions({ data, rules }, []));
    const storage = diskStorage(`${place.path}/${id}`);
    await using client = await clientOf(server, { token, storage });
    await client.notes.create({ id, text: "bad" }).synced;
  };
  await write(ANN, "one");
  const { said, stop, code } = going([
    ...["verify", "--data", data, "--repo", "team/a"],
    ...["--rules", `${place.path}/rules.ts`, "--follow"],
  ]);
  const lines = () => said.out.split("\n").length - 1;
  await until(() => lines() === 1, "it names what was there");
  await write(BOB, "two");
  await until(() => lines() === 2, "it names what came");
  stop.abort();
  equal(await code, 3);
  match(said.err, /rules-differ\]: these rules would have refused 2 commits/);
});

Deno.test("sheaf verify --receipt names two statements of one place that tell two orders", async () => {
  await using place = new Place();
  const world = new ManualWorld();
  const { session, order: { epoch } } = await Serving.open(world);
  const device = await DevicePlace.open({ world, seed: 1 });
  await device.write("a", "1");
  const port = device.replica.port();
  const { rootKey, genesisId } = port;
  const prover = proverFor(session);
  const { certificates } = prover;
  const ends = [...port.vector()].map(([chain, count]) =>
    [chain, port.endOf(chain, count)!] as const
  );
  const summary = encodeSummary(new Map(ends));
  const digest = port.digestOf(summary);
  const file = (name: string, position: number, order: number): string => {
    const { bytes: statement } = receiptLayout.sign({
      ...{ genesisId, epoch, position, commits: 0, digest },
      ...{ order: new Uint8Array(32).fill(order), wall: world.now() },
    }, prover);
    place.file(name, shown({ statement, certificates, summary, path: [] }));
    return `${place.path}/${name}`;
  };
  const one = file("one", 64, 1);
  const check = (...files: string[]) =>
    checkReceipts(files, { rootKey, port, nowMs: world.now(), line: () => {} });
  await check(one, one);
  await check(one, file("later", 128, 2));
  await rejects(check(one, file("other", 64, 2)), /two orders of one place/);
});
