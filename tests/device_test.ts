import { servingDoor } from "../repo/admission/serving_door.ts";
import assert from "node:assert/strict";
import { system } from "../src/base/system.ts";
import type { World } from "../src/base/world.ts";
import { decodePatch } from "../src/schema/patch_codec.ts";
import { payloadOf } from "../repo/commit/batch.ts";
import type { Position } from "../repo/commit/commit.ts";
import { createSigner, generateKeyPair } from "../crypto/mod.ts";
import { Schemas } from "../src/db/schemas.ts";
import { defineSchema, field } from "../src/schema/mod.ts";
import { Editor } from "../src/db/editor.ts";
import { IdSource } from "../src/schema/names.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import type { Storage } from "../src/storage/storage.ts";
import { FaultyStorage } from "./kit/faulty_storage.ts";
import { trips } from "./kit/patience.ts";
import type { LentChain } from "../repo/graph/continuity.ts";
import { type Mode, parseRepositoryName } from "../repo/commit/genesis.ts";
import { lateRefusing } from "../repo/refusal/late_refusing.ts";
import type { LogPoint, Mirror } from "../repo/log/own_log.ts";
import { Replica } from "../repo/replica.ts";
import type { Session } from "../repo/commit/session.ts";
import { refusing } from "../repo/refusal/refusing.ts";
import { lateRich } from "../src/schema/late_rich.ts";
import { forgetRich } from "./kit/forget_rich.ts";
import { recordKind } from "../repo/log/format.ts";

const Card = defineSchema("card", { title: field.string() });
const schemas = new Schemas([Card]);
const keys = generateKeyPair((bytes) => system.random(bytes));
const signer = createSigner(keys.secretKey);

/** A replica of one device: its owner's, or a tab's. */
function open(
  storage: Storage,
  lent: LentChain | "new",
  mode: Mode = "default",
  session: Session = { user: "ann", signer },
  world: World = system,
): Promise<Replica> {
  return Replica.open({
    door: servingDoor,
    storage,
    world,
    name: parseRepositoryName("board"),
    mode,
    isModeRequired: true,
    rootKey: keys.publicKey,
    session,
    isOriginal: true,
    lent,
    viewOf: (collection) => schemas.viewOf(collection),
    repair: false,
    settle: () => Promise.resolve(),
  });
}

/** A copy of all logs. */
function copyOf(files: Storage): Storage {
  const image: [string, Uint8Array][] = [];
  for (const folder of files.folders("repositories")) {
    for (const name of files.list(`repositories/${folder}`)) {
      const path = `repositories/${folder}/${name}`;
      const file = files.open(path)!;
      const bytes = new Uint8Array(file.size());
      file.readAt(bytes, 0);
      image.push([path, bytes]);
    }
  }
  return memoryStorage(image);
}

/** A tab over a copy of what the owner has. */
function tabOf(files: Storage, lent: LentChain): Promise<Replica> {
  return open(copyOf(files), lent);
}

function write(replica: Replica, ...titles: string[]): void {
  const table = replica.state.table("card");
  const editor = new Editor(Card, table, new IdSource(system));
  for (const title of titles) {
    replica.transact((tx) => void editor.create(tx, { title }));
  }
  replica.flush();
}

/** Writes one card and says where it is. */
function placeOf(replica: Replica, title: string): Position {
  const table = replica.state.table("card");
  const editor = new Editor(Card, table, new IdSource(system));
  const done = replica.transact((tx) => void editor.create(tx, { title }));
  replica.flush();
  return done.commit!;
}

function titles(replica: Replica): string[] {
  const table = replica.state.table("card");
  const all: string[] = [];
  for (let i = 0; i < table.size; i++) {
    const title = table.itemAt(i)?.title;
    if (typeof title === "string") all.push(title);
  }
  return all.sort();
}

/** Gives the owner what the tab wrote, and the tab what the owner has. */
async function exchange(
  owner: Replica,
  tab: Replica,
  from: number,
): Promise<number> {
  const shipment = tab.device.outgoing!.take(tab.loaded.log.sealed, 1e6);
  if (shipment !== undefined) {
    assert.equal(owner.device.follow(shipment.records), undefined);
    await owner.durable();
    tab.device.outgoing!.acknowledged(shipment.to);
  }
  const slice = owner.device.mirror().read(from, 1e6);
  assert.equal(tab.device.follow(slice.records), undefined);
  return slice.next.address;
}

Deno.test("device: a tab goes on with the chain that it is lent, and the next one after it", async () => {
  const files = memoryStorage();
  const owner = await open(files, "new");
  const start = owner.device.mirror().next.address;
  const first = await tabOf(files, {});
  write(first, "one");
  await exchange(owner, first, start);
  assert.deepEqual(titles(owner), ["one"]);
  const [lent, ...others] = owner.device.lendable();
  assert.equal(lent!.chain, first.device.chain);
  assert.deepEqual(others, []);
  const second = await tabOf(files, lent!);
  const next = owner.device.mirror().next.address;
  write(second, "two");
  await exchange(owner, second, next);
  assert.equal(owner.graph.size, 1, "one chain is enough");
  assert.equal(owner.graph.lengthOf(lent!.chain!), 2);
  assert.deepEqual(titles(owner), ["one", "two"]);
  const { verifyReplica } = await import("../repo/seldom.ts");
  const report = await verifyReplica(owner.loaded, {}, () => Promise.resolve());
  assert.equal(report.damage, undefined);
  assert.equal(report.signatures, 2);
});

Deno.test("device: the owner never writes a chain that it lends", async () => {
  const files = memoryStorage();
  const owner = await open(files, "new");
  const tab = await tabOf(files, {});
  write(tab, "tab");
  await exchange(owner, tab, owner.device.mirror().next.address);
  write(owner, "owner");
  assert.notEqual(owner.device.chain, tab.device.chain);
  const lendable = owner.device.lendable().map(({ chain }) => chain);
  assert.deepEqual(lendable, [tab.device.chain]);
});

Deno.test("device: where another commit stands for a number, the tab's own one moves", async () => {
  const files = memoryStorage();
  const owner = await open(files, "new");
  const start = owner.device.mirror().next.address;
  const first = await tabOf(files, {});
  write(first, "zero");
  await exchange(owner, first, start);
  const [lent] = owner.device.lendable();
  const next = owner.device.mirror().next.address;
  // By mistake, or by a folder that was set back, two hold one chain.
  const one = await tabOf(files, lent!);
  const two = await tabOf(files, lent!);
  write(one, "by one");
  write(two, "by two");
  await exchange(owner, one, next);
  await two.loaded.log.sync();
  const outgoing = two.device.outgoing!;
  const sent = outgoing.take(two.loaded.log.sealed, 1e6)!;
  let isDurable = false;
  const durable = outgoing.sync()!.then(() => isDurable = true);
  const slice = owner.device.mirror().read(next, 1e6);
  two.device.follow(slice.records);
  // An answer to what it wrote first says nothing of where that moved.
  outgoing.acknowledged(sent.to);
  await Promise.resolve();
  assert.equal(isDurable, false);
  assert.notEqual(two.device.chain, lent!.chain);
  assert.deepEqual(titles(two), ["by one", "by two", "zero"]);
  await two.loaded.log.sync();
  await exchange(owner, two, slice.next.address);
  await durable;
  assert.deepEqual(titles(owner), ["by one", "by two", "zero"]);
});

Deno.test("device: follow() leaves what builds on something missing, and lackedBy() names that", async () => {
  const files = memoryStorage();
  const owner = await open(files, "new");
  const tab = await tabOf(files, {});
  write(tab, "one");
  write(tab, "two");
  const { records } = tab.device.outgoing!.take(tab.loaded.log.end, 1e6)!;
  const batches = records.filter(({ kind }) => kind === recordKind.signedBatch);
  assert.equal(batches.length, 2);
  const late = owner.device.follow([batches[1]!]);
  assert.match(late!, /earlier/);
  assert.deepEqual(titles(owner), []);
  const lacked = tab.device.lackedBy(owner.graph.vector());
  assert.equal(owner.device.follow(lacked), undefined);
  assert.equal(owner.device.follow(lacked), undefined);
  assert.deepEqual(titles(owner), ["one", "two"]);
});

Deno.test("device: in Fast mode only the latest chain is lent, and none after a crash", async () => {
  const files = memoryStorage();
  const owner = await open(files, "new", "fast");
  const point = owner.device.mirror();
  for (const title of ["one", "two"]) {
    const tab = await open(memoryStorage(), {}, "fast");
    write(tab, title);
    owner.device.follow(
      tab.device.outgoing!.take(tab.loaded.log.end, 1e6)!.records,
    );
  }
  assert.equal(owner.graph.size, 2);
  assert.equal(owner.device.lendable().length, 1);
  assert.ok(point.isPoint(point.next));
  const again = await open(files, "new", "fast"); // The first one never closed.
  assert.deepEqual(again.device.lendable(), []);
});

Deno.test("device: a point of one log is none of another, however alike their commits are", async () => {
  const files = memoryStorage();
  await (await open(files, "new", "fast")).close();
  const title = "the same long title in every one of them";
  const points: { mirror: Mirror; point: LogPoint }[] = [];
  // Two lives of one folder: the second does not know what the first one wrote.
  for (const life of [files, copyOf(files), memoryStorage()]) {
    const owner = await open(life, "new", "fast");
    const tab = await open(memoryStorage(), {}, "fast");
    write(tab, title);
    const { records } = tab.device.outgoing!.take(tab.loaded.log.end, 1e6)!;
    owner.device.follow(records);
    const mirror = owner.device.mirror();
    await owner.durable();
    const point = mirror.next;
    assert.equal(point.address, mirror.end);
    points.push({ mirror, point });
  }
  assert.equal(points[0]!.point.address, points[1]!.point.address);
  for (const { mirror, point } of points) {
    const known = points.filter((one) => mirror.isPoint(one.point));
    assert.deepEqual(known.map((one) => one.point), [point]);
  }
});

for (const mode of ["default", "trusted"] as const) {
  Deno.test(`device: a tab can give all of a batch that stays where its end was refused, in ${mode} mode`, async () => {
    const files = memoryStorage();
    const owner = await open(files, "new", mode);
    const start = owner.device.mirror().next.address;
    const tab = await open(copyOf(files), {}, mode);
    write(tab, "stays", "refused", "goes on");
    const next = await exchange(owner, tab, start);
    const refusal = { reason: "denied", rule: "", detail: "", kept: true };
    owner.refuse(tab.device.chain, [{ number: 1, ...refusal }]);
    await owner.durable();
    const { records } = owner.device.mirror().read(next, 1e6);
    assert.equal(tab.device.follow(records), undefined);
    assert.deepEqual(titles(tab), ["goes on", "stays"]);
    const fresh = await open(memoryStorage(), "new", mode);
    const lacked = tab.device.lackedBy(fresh.graph.vector());
    assert.equal(fresh.device.follow(lacked), undefined);
    assert.deepEqual(titles(fresh), ["goes on", "stays"]);
  });
}

const refusal = { reason: "denied", rule: "", detail: "", kept: true };

/** An owner that has what a tab wrote, and the tab, which has one more commit by then. */
async function taking(...had: string[]) {
  const files = memoryStorage();
  const owner = await open(files, "new");
  const start = owner.device.mirror().next.address;
  const tab = await tabOf(files, {});
  write(tab, ...had);
  const next = await exchange(owner, tab, start);
  write(tab, "only here");
  await tab.loaded.log.sync();
  return { owner, tab, outgoing: tab.device.outgoing!, next };
}

/** A commit of a chain of the owner's device is refused. */
async function refuse(owner: Replica, chain: string, number: number) {
  owner.refuse(chain, [{ number, ...refusal }]);
  await owner.durable();
}

/** It is refused, and its chain cannot go on. */
async function refuseAndCut(owner: Replica, chain: string, number: number) {
  await refuse(owner, chain, number);
  owner.cut([{ chain, from: number }]);
  await owner.durable();
}

Deno.test("device: a tab's chain goes on where one of its commits is refused, whatever only the tab has of it", async () => {
  const had = ["stays", "refused", "goes on"];
  const { owner, tab, outgoing, ...place } = await taking(...had);
  const { chain } = tab.device;
  await refuse(owner, chain, 1);
  let { next } = place;
  const hear = () => {
    const slice = owner.device.mirror().read(next, 1e6);
    assert.equal(tab.device.follow(slice.records), undefined);
    next = slice.next.address;
  };
  hear();
  assert.deepEqual(titles(tab), ["goes on", "only here", "stays"]);
  assert.deepEqual(tab.refusals().map(({ number }) => number), [1]);
  await exchange(owner, tab, next);
  assert.deepEqual(titles(owner), ["goes on", "only here", "stays"]);
  assert.equal(tab.device.chain, chain);
  assert.equal(owner.graph.size, 1);
  assert.equal(owner.graph.lengthOf(chain), 4);
  hear();
  assert.equal(outgoing.firstUnechoed(chain), Infinity);
  // The next owner hears of the refusal from the tab.
  const fresh = await open(memoryStorage(), "new");
  const lacked = tab.device.lackedBy(fresh.graph.vector());
  assert.equal(fresh.device.follow(lacked), undefined);
  assert.deepEqual(titles(fresh), ["goes on", "only here", "stays"]);
  assert.equal(fresh.refusals().length, 1);
});

Deno.test("device: what only a tab has is written again, also where the owner cut twice before it heard of it", async () => {
  for (const slices of [1, 2]) {
    const had = ["stays", "refused", "refused later", "goes on"];
    const { owner, tab, ...place } = await taking(...had);
    let { next } = place;
    await refuseAndCut(owner, tab.device.chain, 1);
    const hear = () => {
      const slice = owner.device.mirror().read(next, 1e6);
      assert.equal(tab.device.follow(slice.records), undefined);
      next = slice.next.address;
    };
    if (slices === 2) hear();
    await refuseAndCut(owner, owner.device.chain, 1);
    hear();
    assert.deepEqual(titles(tab), ["goes on", "only here", "stays"]);
    await tab.loaded.log.sync();
    await exchange(owner, tab, next);
    assert.deepEqual(titles(owner), ["goes on", "only here", "stays"]);
  }
});

Deno.test("device: a tab knows where its commits are when those of others went that they stood on", async () => {
  const files = memoryStorage();
  const owner = await open(files, "new", "trusted");
  const start = owner.device.mirror().next.address;
  const { secretKey } = generateKeyPair((bytes) => system.random(bytes));
  const bob = { user: "bob", signer: createSigner(secretKey) };
  const other = await open(memoryStorage(), "new", "trusted", bob);
  write(other, "theirs", "theirs too");
  await other.durable();
  const { records } = other.port().read(0, 1e6);
  owner.receive(
    records.map(({ bytes }) => ({ kind: recordKind.unsignedBatch, bytes })),
  );
  await owner.durable();
  const tab = await open(copyOf(files), {}, "trusted");
  const commit = placeOf(tab, "own");
  const next = await exchange(owner, tab, start);
  const [theirs] = [...other.graph.vector().keys()];
  owner.cut([{ chain: theirs!, from: 0 }], "foreign");
  await owner.durable();
  const slice = owner.device.mirror().read(next, 1e6);
  assert.equal(tab.device.follow(slice.records), undefined);
  assert.deepEqual([titles(owner), titles(tab)], [["own"], ["own"]]);
  const { chain } = owner.device;
  const place = tab.loaded.voided.placeOf(commit);
  assert.deepEqual(place, { chain, number: 0, isRefused: false });
});

Deno.test("device: tabs that wrote at one moment know whose commit is which when both are written again", async () => {
  const files = memoryStorage();
  const world: World = { ...system, now: () => 1e12 };
  const openHere = (storage: Storage, lent: LentChain | "new") =>
    open(storage, lent, "trusted", { user: "ann", signer }, world);
  const owner = await openHere(files, "new");
  write(owner, "refused");
  await owner.durable();
  const start = owner.device.mirror().next.address;
  const tabs = [];
  for (const title of ["one", "two"]) {
    const tab = await openHere(copyOf(files), {});
    tabs.push({ title, tab, commit: placeOf(tab, title) });
  }
  for (const { tab } of tabs) await exchange(owner, tab, start);
  const next = owner.device.mirror().next.address;
  const { records } = owner.device.mirror().read(start, 1e6);
  for (const { tab } of tabs) tab.device.follow(records);
  await refuseAndCut(owner, owner.device.chain, 0);
  const told = owner.device.mirror().read(next, 1e6);
  for (const { tab } of tabs) tab.device.follow(told.records);
  for (const { title, tab, commit } of tabs) {
    const { chain, number } = tab.loaded.voided.placeOf(commit);
    const { address } = owner.commits.find(chain, number)!;
    const batch = owner.commits.batchAt(address);
    const { operations } = decodePatch(
      payloadOf(batch, batch.commits[number - batch.first]!),
    );
    const [operation] = operations;
    assert.equal(operation?.what === "create" && operation.item.title, title);
  }
});

Deno.test("device: what a tab has to write again is not durable by an acknowledgement of what it wrote first", async () => {
  for (const slices of [1, 2]) {
    const had = ["stays", "refused", "refused later"];
    const { owner, tab, outgoing, ...place } = await taking(...had);
    let { next } = place;
    const sent = outgoing.take(tab.loaded.log.sealed, 1e6)!;
    let isDurable = false;
    const durable = outgoing.sync()!.then(() => isDurable = true);
    const hear = async () => {
      const slice = owner.device.mirror().read(next, 1e6);
      assert.equal(tab.device.follow(slice.records), undefined);
      next = slice.next.address;
      await tab.loaded.log.sync();
    };
    await refuseAndCut(owner, tab.device.chain, 1);
    if (slices === 2) await hear();
    await refuseAndCut(owner, owner.device.chain, 1);
    await hear();
    outgoing.acknowledged(sent.to);
    await Promise.resolve();
    assert.equal(isDurable, false);
    assert.equal(outgoing.isSettled, false);
    await exchange(owner, tab, next);
    await durable;
    assert.equal(outgoing.isSettled, true);
    assert.ok(titles(owner).includes("only here"));
  }
});

Deno.test("device: while its owner's new commits are on the way, nothing of a tab that was cut is durable", async () => {
  const had = ["stays", "refused", "goes on"];
  const { owner, tab, outgoing, next } = await taking(...had);
  const sent = outgoing.take(tab.loaded.log.sealed, 1e6)!;
  let isDurable = false;
  const before = outgoing.sync()!.then(() => isDurable = true);
  await refuseAndCut(owner, tab.device.chain, 1);
  const { records } = owner.device.mirror().read(next, 1e6);
  const behind = 1 +
    records.findIndex(({ kind }) => kind === recordKind.cut);
  tab.device.follow(records.slice(0, behind));
  outgoing.acknowledged(sent.to);
  const after = outgoing.sync()?.then(() => isDurable = true);
  assert.notEqual(after, undefined);
  await Promise.resolve();
  assert.equal(isDurable, false);
  tab.device.follow(records.slice(behind));
  await tab.loaded.log.sync();
  assert.equal(isDurable, false);
  const again = outgoing.take(tab.loaded.log.sealed, 1e6)!;
  owner.device.follow(again.records);
  await owner.durable();
  outgoing.acknowledged(again.to);
  await Promise.all([before, after]);
  assert.deepEqual(titles(owner), ["goes on", "only here", "stays"]);
});

Deno.test("device: who waits for what was cut waits no longer where nothing of it is left to be written", async () => {
  const tab = await tabOf(memoryStorage(), {});
  const outgoing = tab.device.outgoing!;
  assert.equal(outgoing.sync(), undefined);
  outgoing.hold();
  assert.equal(outgoing.isSettled, false);
  const durable = outgoing.sync();
  assert.notEqual(durable, undefined);
  outgoing.release();
  await durable;
  assert.equal(outgoing.isSettled, true);
});

Deno.test("device: a refusal that a tab tries again stands until the commit that does so is here", async () => {
  const files = memoryStorage();
  const owner = await open(files, "new");
  const start = owner.device.mirror().next.address;
  const tab = await tabOf(files, {});
  write(tab, "stays", "again");
  const next = await exchange(owner, tab, start);
  await refuse(owner, tab.device.chain, 1);
  await exchange(owner, tab, next);
  write(tab, "before");
  tab.retry(tab.refusals()[0]!);
  tab.flush();
  await tab.loaded.log.sync();
  const { records } = tab.device.outgoing!.take(tab.loaded.log.sealed, 1e6)!;
  const kinds = records.map(({ kind }) => kind);
  const at = kinds.indexOf(recordKind.resolution);
  assert.ok(
    at > 0 && kinds.lastIndexOf(recordKind.signedBatch) > at,
    kinds.join(),
  );
  const late = owner.device.follow(records.slice(at));
  assert.notEqual(late, undefined);
  assert.equal(owner.refusals().length, 1);
  assert.equal(owner.device.follow(records), undefined);
  assert.equal(owner.refusals().length, 0);
  assert.deepEqual(titles(owner), ["again", "before", "stays"]);
});

/** An owner of a refused commit, and a tab that tries it again. */
async function tryingAgain() {
  const files = memoryStorage();
  const owner = await open(files, "new");
  const start = owner.device.mirror().next.address;
  const tab = await tabOf(files, {});
  write(tab, "again");
  const next = await exchange(owner, tab, start);
  await refuse(owner, tab.device.chain, 0);
  await exchange(owner, tab, next);
  tab.retry(tab.refusals()[0]!);
  tab.flush();
  await tab.loaded.log.sync();
  return { files, owner, tab, outgoing: tab.device.outgoing! };
}

Deno.test("device: where what a tab tried again never comes, its refusal stands, and what others wrote since is there after the next opening", async () => {
  const { files, owner, tab, outgoing } = await tryingAgain();
  const { records } = outgoing.take(tab.loaded.log.sealed, 1e6)!;
  const alone = records.filter(({ kind }) => kind === recordKind.resolution);
  assert.equal(alone.length, 1);
  assert.equal(owner.device.follow(alone), undefined);
  assert.equal(owner.refusals().length, 1);
  write(owner, "of others");
  await owner.durable();
  const next = await open(copyOf(files), {});
  assert.deepEqual(titles(next), ["of others"]);
  assert.equal(next.refusals().length, 1);
  assert.equal(owner.device.follow(records), undefined);
  assert.deepEqual(titles(owner), ["again", "of others"]);
  assert.equal(owner.refusals().length, 0);
});

Deno.test("device: a log in which it stands that something was tried again is read to its end, also where that never came", async () => {
  const { files, owner, tab, outgoing } = await tryingAgain();
  const { records } = outgoing.take(tab.loaded.log.sealed, 1e6)!;
  const { bytes } = records.find(({ kind }) => kind === recordKind.resolution)!;
  owner.loaded.log.append(recordKind.resolution, [bytes]);
  await owner.durable();
  const torn = await open(copyOf(files), {});
  assert.equal(torn.refusals().length, 1, "a crash came between the two");
  write(owner, "of others");
  await owner.durable();
  assert.deepEqual(titles(await open(copyOf(files), {})), ["of others"]);
});

Deno.test("device: what a tab tries again goes out with the commit that does so, however little goes out at once", async () => {
  const { owner, tab, outgoing } = await tryingAgain();
  const { sealed } = tab.loaded.log;
  for (
    let next = outgoing.take(sealed, 1);
    next;
    next = outgoing.take(sealed, 1)
  ) {
    const kinds = next.records.map(({ kind }) => kind);
    const isTried = kinds.includes(recordKind.resolution);
    assert.equal(isTried, kinds.includes(recordKind.signedBatch), kinds.join());
    assert.equal(owner.device.follow(next.records), undefined);
  }
  assert.equal(owner.refusals().length, 0);
  assert.deepEqual(titles(owner), ["again"]);
});

Deno.test("device: a tab that lacks what makes commits void follows a refusal when it has it", async () => {
  const files = memoryStorage();
  const owner = await open(files, "new");
  const start = owner.device.mirror().next.address;
  const tab = await tabOf(files, {});
  write(tab, "stays", "refused");
  const next = await exchange(owner, tab, start);
  await refuse(owner, tab.device.chain, 1);
  write(tab, "unsent");
  const { records } = owner.device.mirror().read(next, 1e6);
  lateRefusing.provide({
    ...refusing,
    get refuse(): never {
      throw lateRefusing.unloaded;
    },
  });
  try {
    assert.throws(() => tab.device.follow(records), lateRefusing.unloaded);
    assert.deepEqual(titles(tab), ["refused", "stays", "unsent"]);
  } finally {
    lateRefusing.provide(refusing);
  }
  assert.equal(tab.device.follow(records), undefined);
  assert.deepEqual(titles(tab), ["stays", "unsent"]);
  assert.equal(tab.refusals().length, 1);
});

Deno.test("device: a tab takes what another page's rich schema brings when it has what folds it", async () => {
  const files = memoryStorage();
  const owner = await open(files, "new");
  const start = owner.device.mirror().next.address;
  const tab = await tabOf(files, {});
  const Tagged = defineSchema("card", { tags: field.set(field.string()) });
  const editor = new Editor(
    Tagged,
    owner.state.table("card"),
    new IdSource(system),
  );
  owner.transact((tx) => void editor.create(tx, { tags: ["a"] }));
  await owner.durable();
  const { records } = owner.device.mirror().read(start, 1e6);
  forgetRich();
  assert.throws(() => tab.device.follow(records), lateRich.unloaded);
  assert.equal(tab.graph.commits, 0, "nothing has changed");
  await lateRich.load();
  assert.equal(tab.device.follow(records), undefined);
  const tagsIn = ({ state }: Replica) => state.table("card").itemAt(0)?.tags;
  assert.deepEqual(tagsIn(tab), ["a"]);
  forgetRich();
  assert.deepEqual(tagsIn(await tabOf(files, {})), ["a"], "from a log");
  await owner.checkpoint();
  forgetRich();
  assert.deepEqual(tagsIn(await tabOf(files, {})), ["a"], "from a checkpoint");
});

Deno.test("device: a checkpoint tells of rich kinds also where a create said otherwise of the field", async () => {
  const files = memoryStorage();
  const owner = await open(files, "new");
  write(owner, "one");
  const Tagged = defineSchema("card", { title: field.set(field.string()) });
  const table = owner.state.table("card");
  const editor = new Editor(Tagged, table, new IdSource(system));
  const { id } = table.itemAt(0)!;
  owner.transact((tx) => void editor.update(tx, id, { title: ["a"] }));
  await owner.checkpoint();
  forgetRich();
  const { state } = await tabOf(files, {});
  const cell = state.table("card").cellAt(0);
  assert.equal(cell.rich?.get("title")?.merge, "set");
  assert.equal(state.table("card").kinds.get("title"), "string");
});

Deno.test("device: a tab hears of all commits that are written again at once, however its owner syncs", async () => {
  const held: (() => void)[] = [];
  let isHeld = false;
  const slow = (done: () => void) => isHeld ? void held.push(done) : done();
  const files = new FaultyStorage({ slow });
  const owner = await open(files, "new");
  const start = owner.device.mirror().next.address;
  const tab = await tabOf(files, {});
  const places = ["one", "two"].map((title) => placeOf(tab, title));
  const { device: { chain }, loaded: { voided } } = tab;
  let next = await exchange(owner, tab, start);
  isHeld = true;
  const port = owner.port();
  port.cut(port.aheadOf(0, () => 0));
  await trips();
  for (let done = held.shift(); done !== undefined; done = held.shift()) {
    done();
    await trips();
    const slice = owner.device.mirror().read(next, 1e6);
    assert.equal(tab.device.follow(slice.records), undefined);
    next = slice.next.address;
    assert.ok(places.every((place) => !voided.placeOf(place).isRefused));
  }
  assert.ok(places.every((place) => voided.placeOf(place).chain !== chain));
  assert.deepEqual(titles(tab), ["one", "two"]);
});
