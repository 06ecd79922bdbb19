import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { openDatabase } from "../db/database.ts";
import type { LoginRequest } from "../db/login.ts";
import { holdLock, tabLock, webLocks } from "./locks.ts";
import type { SyncReport, Wishes } from "./messages.ts";
import { filesOf, restored } from "../../tests/kit/images.ts";
import { MemoryServer } from "../../tests/kit/memory_server.ts";
import { Origin, type Page } from "../../tests/kit/origin.ts";
import { trips, within } from "../../tests/kit/patience.ts";
import { Leaf, RawTab } from "../../tests/kit/raw_tab.ts";

/** What somebody finds who opens the files as they are now. */
async function found(origin: Origin) {
  const storage = restored(filesOf(origin.files));
  await using db = await openDatabase({
    storage,
    user: "ann",
    schemas: [Leaf],
  });
  const tree = await db.repository("tree");
  const titles = tree.collection(Leaf).all()
    .map(({ id, title }) => `${id} ${title}`).sort();
  return { titles, commits: tree.history({ limit: 1_000 }).length };
}

/** A server, and an origin whose owners reach it. */
function withServer() {
  const server = new MemoryServer({ users: { "ann's": "ann" } });
  const origin = new Origin({ connectorOf: server.connectorOf });
  const wishes = { user: "ann", rootKey: server.rootKey };
  return { server, origin, wishes };
}

/** Opens a page with a tab. */
function openTab(
  origin: Origin,
  wishes: Wishes = { user: "ann" },
): Promise<RawTab<Page>> {
  return RawTab.open(origin.name, origin.page(), wishes);
}

/** Waits until all who look after a tab have heard that it is gone: its lock comes to us after them. */
async function gone(origin: Origin, tab: RawTab<Page>): Promise<void> {
  const lock = tabLock(origin.name, tab.id);
  const release = await within(holdLock(webLocks()!, lock), "a tab is gone");
  release();
  await trips();
}

Deno.test("Owner shows a tab the files, and acknowledges a write when it is durable", async () => {
  using origin = new Origin();
  const tab = await openTab(origin);
  const tree = await tab.repository();
  equal(tree.opened.chain, undefined);
  await tree.write("a", "Ash");
  deepEqual((await found(origin)).titles, ["a Ash"]);
});

Deno.test("Owner shows another tab what one wrote, and each writes a chain of its own", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  const tree = await one.repository();
  await tree.write("a", "Ash");
  const two = await openTab(origin);
  const same = await two.repository();
  equal(same.get("a"), "Ash");
  equal(same.opened.chain, undefined);
  ok(same.opened.image!.every(({ bytes }) => bytes instanceof Blob));
  await same.write("b", "Birch");
  await tree.read(); // Its own commit came back first.
  await tree.read();
  equal(tree.get("b"), "Birch");
  notEqual(tree.chain, same.chain);
  deepEqual((await found(origin)).titles, ["a Ash", "b Birch"]);
});

Deno.test("Owner lends the chain of a tab that is gone, and of no other", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  await one.repository();
  const two = await openTab(origin);
  const trees = await two.repository();
  await trees.write("a", "Ash");
  const three = await openTab(origin);
  equal((await three.repository()).opened.chain, undefined);
  two.page.kill();
  await gone(origin, two);
  const four = await openTab(origin);
  const tree = await four.repository();
  equal(tree.opened.chain, trees.chain);
  await tree.write("b", "Birch");
  const five = await openTab(origin);
  equal((await five.repository()).opened.chain, undefined);
  deepEqual((await found(origin)).titles, ["a Ash", "b Birch"]);
});

Deno.test("Owner that was killed is followed by another, which takes what was not acknowledged once", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  const two = await openTab(origin);
  await one.repository();
  const tree = await two.repository();
  await tree.write("a", "Ash");
  await tree.read();
  tree.put("b", "Birch");
  tree.ship();
  one.page.kill(); // Taken or not, nobody can know.
  tree.put("c", "Cedar");
  await two.next("welcome");
  const opened = await tree.again();
  equal(opened.image, undefined);
  equal(opened.chain, tree.chain);
  await tree.write("d", "Dogwood");
  const { titles, commits } = await found(origin);
  deepEqual(titles, ["a Ash", "b Birch", "c Cedar", "d Dogwood"]);
  equal(commits, 4);
});

Deno.test("Owner after another lends no chain that a living tab may hold, until that one came", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  const two = await openTab(origin);
  const slow = await openTab(origin);
  await one.repository();
  await two.next("welcome");
  const tree = await slow.repository();
  await tree.write("a", "Ash");
  slow.isEager = false; // It hears of the new owner later.
  one.page.kill();
  const first = await two.repository();
  equal(first.opened.chain, undefined);
  slow.hello = { ...slow.hello, chains: [["tree", tree.chain]] };
  slow.say(slow.hello);
  await slow.next("welcome");
  const other = await openTab(origin);
  equal((await other.repository()).opened.chain, undefined);
  equal((await tree.again()).chain, tree.chain);
  await tree.write("b", "Birch");
  slow.page.kill();
  await gone(origin, slow);
  const last = await openTab(origin);
  equal((await last.repository()).opened.chain, tree.chain);
});

Deno.test("Owner that was frozen is robbed, and says nothing after its thaw", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  const two = await openTab(origin);
  await one.repository();
  const tree = await two.repository();
  await tree.write("a", "Ash");
  await tree.read();
  one.page.life.freeze();
  tree.put("b", "Birch");
  tree.ship();
  await trips();
  equal(two.count("acknowledged"), 0);
  two.tell({ kind: "steal" });
  await two.next("welcome");
  await tree.again();
  await tree.write("c", "Cedar");
  one.page.life.thaw(); // Now it hears what was written to it.
  await trips();
  equal(two.count("acknowledged"), 0);
  const { titles, commits } = await found(origin);
  deepEqual(titles, ["a Ash", "b Birch", "c Cedar"]);
  equal(commits, 3);
  // The thawed page goes on as a tab, and its worker stands in line.
  const again = await one.openWith(await one.next("welcome"));
  equal(again.get("c"), "Cedar");
  two.page.kill();
  await one.next("welcome");
  equal((await one.openWith(await askAgain(one))).get("c"), "Cedar");
});

async function askAgain(tab: RawTab) {
  tab.say(tab.hello);
  return await tab.next("welcome");
}

for (const kind of ["yield", "freeze"] as const) {
  Deno.test(`Owner lets go of the files when it hears "${kind}", and comes back when told`, () =>
    letsGo(kind));
}

async function letsGo(kind: "yield" | "freeze"): Promise<void> {
  using origin = new Origin();
  const one = await openTab(origin);
  const tree = await one.repository();
  await tree.write("a", "Ash");
  const two = await openTab(origin);
  await two.next("welcome");
  one.tell({ kind });
  const same = await two.openWith(await two.next("welcome"));
  equal(same.get("a"), "Ash");
  two.tell({ kind: "yield" });
  await trips();
  const { term } = origin;
  one.tell({ kind: "resume" });
  await one.next("welcome");
  await one.next("welcome");
  equal(origin.term, term + 1);
}

Deno.test("Owner refuses tabs that want another database", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  await one.next("welcome");
  const codeFor = async (wishes: Wishes) => {
    const tab = await openTab(origin, wishes);
    return (await tab.next("rejected")).code;
  };
  equal(await codeFor({ user: "bob" }), "database-locked");
  equal(await codeFor({ user: "ann", mode: "fast" }), "mode-mismatch");
  equal(await codeFor({ user: "ann", salt: true }), "database-locked");
  const rootKey = "00".repeat(32);
  equal(await codeFor({ user: "ann", rootKey }), "root-key-mismatch");
});

Deno.test("Owner keeps small files whole, and answers calls", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  const tree = await one.repository();
  await tree.write("a", "Ash");
  let count = 0;
  const call = async (
    method: "readFile" | "writeFile" | "verify" | "audit",
    args: unknown[],
    repository: string | undefined = "tree",
  ) => {
    const call = ++count;
    one.say({ kind: "call", call, repository, method, args });
    const { value, failure } = await one.next(
      "result",
      (said) => said.call === call,
    );
    return failure === undefined ? value : failure.code;
  };
  equal(await call("readFile", ["undo"]), undefined);
  equal(await call("writeFile", ["undo", new Uint8Array([1, 2])]), undefined);
  deepEqual(await call("readFile", ["undo"]), new Uint8Array([1, 2]));
  equal(await call("writeFile", ["undo", new Uint8Array([3])]), undefined);
  deepEqual(await call("readFile", ["undo"]), new Uint8Array([3]));
  equal(await call("readFile", ["../database"]), "invalid-name");
  const tooLarge = new Uint8Array(2 ** 21);
  equal(await call("writeFile", ["undo", tooLarge]), "value-too-large");
  equal(await call("readFile", ["undo"], "other"), "closed");
  equal(await call("audit", []), "unreachable");
  const report = await call("verify", [{}]) as { ok: boolean; commits: number };
  deepEqual([report.ok, report.commits], [true, 1]);
});

Deno.test("Owner tells each tab what the others of its device show", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  await one.repository();
  const two = await openTab(origin);
  await two.repository();
  const bytes = new TextEncoder().encode('{"at":1}');
  one.say({ kind: "present", repository: "tree", bytes });
  const isShown = ({ others }: { readonly others: readonly unknown[] }) =>
    others.length > 0;
  const { others } = await two.next("sync", isShown);
  deepEqual(others, [{ peer: -1, user: "ann", bytes }]);
  equal(one.heard.some((said) => said.kind === "sync" && isShown(said)), false);
  one.say({ kind: "goodbye" });
  await two.next("sync", ({ others }) => others.length === 0);
});

Deno.test("Owner declines what cannot be taken, and takes it when the tab came again", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  const tree = await one.repository();
  await tree.write("a", "Ash");
  tree.put("b", "Birch");
  const lost = tree.replica.device.outgoing!
    .take(tree.replica.loaded.log.end, Infinity); // It never arrives.
  ok(lost!.records.length > 0);
  tree.put("c", "Cedar");
  tree.ship();
  equal((await one.next("declined")).code, "gap");
  tree.put("d", "Dogwood");
  tree.ship(); // Not even looked at.
  tree.ship(); // Nothing in it: to acknowledge it would be to acknowledge what came before.
  await trips();
  equal(one.count("acknowledged"), 0);
  equal(one.count("declined"), 0);
  await tree.again();
  await tree.write("e", "Elm");
  const { titles, commits } = await found(origin);
  equal(titles.length, 5);
  equal(commits, 5);
});

Deno.test("Owner whose files were removed fills fresh ones from its tabs, under the same keys", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  const first = await one.next("welcome");
  const tree = await one.openWith(first);
  const two = await openTab(origin);
  const same = await two.repository();
  await same.write("b", "Birch");
  await tree.read();
  await tree.write("a", "Ash");
  two.page.kill();
  await gone(origin, two);
  origin.evict();
  const { rootKey, session, report } = await one.next("welcome");
  deepEqual([rootKey, session.key], [first.rootKey, first.session.key]);
  const { incidents } = report.storage;
  deepEqual(incidents.map(({ code }) => code), ["storage-evicted"]);
  const opened = await tree.again();
  deepEqual([opened.at.address, opened.known], [0, []]);
  await tree.resend(opened.known);
  await tree.write("c", "Cedar");
  const { titles, commits } = await found(origin);
  deepEqual(titles, ["a Ash", "b Birch", "c Cedar"]);
  equal(commits, 3);
});

Deno.test("Owner opens a repository anew whose log failed", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  const tree = await one.repository();
  await tree.write("a", "Ash");
  origin.isFull = true;
  tree.put("b", "Birch");
  tree.ship();
  equal((await one.next("declined")).code, "storage-full");
  origin.isFull = false;
  await tree.again();
  await tree.write("c", "Cedar");
  deepEqual((await found(origin)).titles, ["a Ash", "b Birch", "c Cedar"]);
});

Deno.test("Owner connects once for all tabs, asks one of them for credentials, and says what arrived", async () => {
  const { server, origin, wishes } = withServer();
  await using _server = server;
  using _origin = origin;
  const one = await openTab(origin, wishes);
  const two = await openTab(origin, wishes);
  const tree = await one.repository();
  const same = await two.repository();
  const address = "ws://server.test/";
  const connect = { address, session: "ask", login: "ask" };
  one.say({ kind: "call", call: 1, method: "connect", args: [connect] });
  equal((await one.next("result")).failure, undefined);
  const { ask, what } = await one.next("ask");
  equal(what, "credentials");
  one.page.kill(); // Whoever was asked is gone: another one is.
  await two.next("welcome");
  two.say({ kind: "call", call: 2, method: "connect", args: [connect] });
  await two.next("result");
  two.say({ kind: "reply", ask, value: { token: "nobody's" } }); // The other owner's question.
  const asked = await two.next("ask", ({ what }) => what === "credentials");
  two.say({ kind: "reply", ask: asked.ask, value: { token: "ann's" } });
  const login = await two.next("ask", ({ what }) => what === "login");
  const [request] = login.args as [LoginRequest];
  equal(request.sign, undefined);
  const value = await server.login({
    ...request,
    sign: () => new Uint8Array(),
  });
  two.say({ kind: "reply", ask: login.ask, value });
  await same.again();
  await same.write("a", "Ash");
  const arrived = await two.next(
    "sync",
    ({ acknowledged }) => acknowledged.some(([chain]) => chain === same.chain),
  );
  deepEqual(arrived.acknowledged, [[same.chain, 1]]);
  equal((arrived.status as { state: string }).state, "live");
  equal(tree.chain, "");
  const report = await two.next(
    "database",
    ({ session }) => session?.certificate !== undefined,
  );
  equal(report.connection?.address, address);
  const other = { address: "ws://other.test/", session: undefined };
  two.say({ kind: "call", call: 3, method: "connect", args: [other] });
  equal((await two.next("result")).failure?.code, "already-connected");
  two.say({ kind: "call", call: 4, method: "disconnect", args: [] });
  await two.next("database", ({ connection }) => connection === undefined);
  equal(server.logins, 1);
});

Deno.test("Owner ends the chain of a page whose seals are wrong, loses nothing of it, and stays connected", async () => {
  const { server, origin, wishes } = withServer();
  await using _server = server;
  using _origin = origin;
  const good = await openTab(origin, wishes);
  const tree = await good.repository();
  const bad = await openTab(origin, wishes);
  const forged = await bad.repository();
  await tree.write("a", "Ash");
  await forged.write("b", "Birch");
  forged.put("c", "Cedar");
  await forged.replica.loaded.log.sync();
  forged.ship((seal) => seal[0]! ^= 1);
  const connect = { address: "ws://server.test/", session: { token: "ann's" } };
  good.say({
    kind: "call",
    call: 1,
    method: "connect",
    args: [{ ...connect, login: "ask" }],
  });
  const { ask, args: [request] } = await good.next("ask");
  const value = await server.login({
    ...request as LoginRequest,
    sign: () => new Uint8Array(),
  });
  good.say({ kind: "reply", ask, value });
  await good.next(
    "sync",
    ({ status, acknowledged }) =>
      (status as SyncReport["status"])?.unsent.commits === 0 &&
      acknowledged.reduce((sum, [, count]) => sum + count, 0) === 3,
  );
  const served = await server.replica("tree");
  equal(served.graph.commits, 3);
  equal(served.graph.lengthOf(forged.chain), 1);
  const states = good.heard.map((said) =>
    said.kind === "database" && said.connection?.status.state
  );
  ok(!states.includes("offline"));
  deepEqual((await found(origin)).titles, ["a Ash", "b Birch", "c Cedar"]);
  forged.put("d", "Dogwood");
  await forged.replica.loaded.log.sync();
  const seq = forged.ship();
  const declined = await bad.next("declined", (said) => said.seq === seq);
  equal(declined.code, "chain");
});

Deno.test("Owner that was fenced off says nothing final: what it was asked, the next one answers", async () => {
  using origin = new Origin();
  const tab = await openTab(origin);
  const tree = await tab.repository();
  await tree.write("a", "Ash");
  origin.open(tab.page.life); // Somebody took the files without a word.
  tab.say({ kind: "open", call: 99, repository: "other" });
  await tab.next("welcome");
  equal(tab.count("opened"), 0);
  await tree.again();
  await tree.write("b", "Birch");
  deepEqual((await found(origin)).titles, ["a Ash", "b Birch"]);
});

Deno.test("Owner lends nobody a chain that tabs had to fill in", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  const tree = await one.repository();
  await tree.write("a", "Ash");
  const two = await openTab(origin);
  const same = await two.repository();
  await same.write("b", "Birch");
  await tree.read();
  await tree.read();
  two.page.kill(); // Its chain is known to the other tab alone, as far as it goes.
  await gone(origin, two);
  origin.evict();
  await one.next("welcome");
  const { known } = await tree.again();
  await tree.resend(known);
  const three = await openTab(origin);
  const { opened } = await three.repository();
  equal(opened.chain, undefined);
  equal(opened.known.length, 2);
});

Deno.test("Owner lends no chain of a living tab that came late, nor one of the dead, when who filled them in is gone", async () => {
  using origin = new Origin();
  const keeper = await openTab(origin); // The owner, which outlives the others.
  const one = await openTab(origin);
  const two = await openTab(origin);
  const dead = await openTab(origin);
  const trees = [];
  for (const tab of [one, two, dead]) trees.push(await tab.repository());
  const [tree, slow, lost] = trees;
  for (const [i, id] of ["a", "b", "c"].entries()) {
    await trees[i]!.write(id, id);
    await trips();
    await tree!.read();
  }
  two.isEager = false;
  two.hello = { ...two.hello, chains: [["tree", slow!.chain]] };
  dead.page.kill();
  await gone(origin, dead);
  await keeper.next("welcome");
  origin.evict();
  await one.next("welcome");
  await tree!.resend((await tree!.again()).known);
  two.say(two.hello);
  await two.next("welcome");
  one.page.kill();
  await gone(origin, one);
  const four = await openTab(origin);
  const { opened } = await four.repository();
  notEqual(opened.chain, slow!.chain);
  notEqual(opened.chain, lost!.chain);
});

Deno.test("Owner tells the tabs that stay who has gone", async () => {
  using origin = new Origin();
  const one = await openTab(origin);
  await one.repository();
  const two = await openTab(origin);
  await two.repository();
  const are = (...tabs: RawTab<Page>[]) => {
    const ids = String(tabs.map(({ id }) => id));
    return one.next("database", ({ tabs }) => String(tabs) === ids);
  };
  await are(one, two);
  one.heard.length = 0;
  two.page.kill();
  await are(one);
});
