import { deepEqual, equal } from "node:assert/strict";
import { createSigner, generateKeyPair } from "../../../crypto/mod.ts";
import { issueCertificate } from "../../../repo/commit/certificate.ts";
import { toHex } from "../../../src/base/bytes.ts";
import { wallMax } from "../../../src/base/hlc.ts";
import type { Operation, Shape, Value } from "../../../src/schema/patch.ts";
import { absentDigest, entrySchema } from "../../../src/kv/entry.ts";
import { encodeMessage } from "../../../sync/message_codec.ts";
import { changing, creating, HostileChain } from "../../kit/forge.ts";
import { seededRandom } from "../../kit/random.ts";
import { rootSigner, RuledDevice } from "../../kit/ruled_device.ts";
import type { CheckFailed } from "../failure.ts";
import { Mark } from "../collections.ts";
import type { Cast } from "../simulation.ts";
import { NaiveJudge } from "./judge.ts";
import { recordKind } from "../../../repo/log/format.ts";

const shape: Shape = {
  collection: "card",
  version: 1,
  fields: [{ name: "owner", kind: "string" }, { name: "rank", kind: "number" }],
};
const it = { shape, id: "x" };
const NOW_MS = 1_000;

/** A judge, what it found so far, and the lives of the server that it follows. */
async function court() {
  const found: string[] = [];
  const revoked = new Set<string>();
  const timeline = { nowMs: 0 };
  const cast = {
    stage: {
      timeline,
      plan: { hasRules: true },
      blames: new Set<string>(),
      fail: ({ checker }: CheckFailed) => void found.push(checker),
    },
    server: {
      world: { now: () => NOW_MS },
      hasRevoked: (key: string) => revoked.has(key),
    },
  } as unknown as Cast;
  const judge = new NaiveJudge(cast);
  const lives = await Promise.all(
    [8, 9].map((seed) => RuledDevice.open({ seed })),
  );
  for (const { replica } of lives) judge.follow(replica, false);
  const [one, two] = lives.map(({ replica }) => replica);
  return { judge, found, revoked, timeline, one: one!, two: two! };
}

type Court = Awaited<ReturnType<typeof court>>;

/** Somebody of the team, with a chain that nothing holds back. */
function author({ one }: Court, seed: number) {
  const next = seededRandom(seed);
  const { publicKey, secretKey } = generateKeyPair((target) => {
    for (let i = 0; i < target.length; i++) target[i] = next() * 256;
  });
  const certificate = issueCertificate({
    sessionKey: publicKey,
    user: `user${seed}`,
    claims: JSON.stringify({ team: "acme" }),
    mayIssue: false,
    notBefore: 0,
    notAfter: wallMax,
  }, rootSigner);
  const begin = () =>
    new HostileChain(one.loaded.genesisId, createSigner(secretKey));
  const session = {
    kind: recordKind.certificate,
    bytes: certificate.bytes,
  } as const;
  return { session, key: toHex(publicKey), begin, chain: begin() };
}

function making(id: string, owner: string): Operation {
  return creating({ shape, id }, { owner, rank: 0 });
}

/** Ann's card, and what Bob did to it; the second is not allowed without the first. */
function writings(court: Court) {
  const [ann, bob] = [author(court, 1), author(court, 2)];
  const made = ann.chain.batch({ wall: 5, operations: [making("x", "user1")] });
  const ranking = (value: number) =>
    changing(it, { rank: { what: "set", value } });
  const ranked = bob.chain.batch({ wall: 6, operations: [ranking(1)] });
  return { ann, bob, made, ranked, ranking };
}

/** Shows what a life had, as a client does. */
async function show({ judge, one }: Court): Promise<void> {
  one.port().settle();
  await one.durable();
  const bytes = new Uint8Array(0);
  const summary = one.port().summary()!;
  const shown = { channel: 1, statement: bytes, certificates: [], summary };
  judge.overhear(encodeMessage({ is: "proof", ...shown }));
}

Deno.test("NaiveJudge lets come back in another order what a witness shows, and that alone", async () => {
  for (const isShown of [true, false]) {
    const all = await court();
    const { ann, bob, made, ranked } = writings(all);
    all.one.receive([ann.session, made, bob.session, ranked]);
    if (isShown) await show(all);
    all.two.receive([bob.session, ranked]);
    deepEqual(all.found, isShown ? [] : ["judge"]);
  }
});

Deno.test("NaiveJudge judges other bytes at a place that a witness shows", async () => {
  const all = await court();
  const { ann, bob, made, ranked, ranking } = writings(all);
  all.one.receive([ann.session, made, bob.session, ranked]);
  await show(all);
  const other = bob.begin().batch({ wall: 6, operations: [ranking(2)] });
  all.two.receive([bob.session, other]);
  deepEqual(all.found, ["judge"]);
});

Deno.test("NaiveJudge knows which collections were there before a loss", async () => {
  const all = await court();
  const { judge, one, two } = all;
  const { ann, made } = writings(all);
  one.receive([ann.session, made]);
  const had = () =>
    judge.hadCollections(one.name, [shape.collection, Mark.name, "other"]);
  equal(had(), 0);
  judge.lost();
  equal(had(), 1);
  const bob = author(all, 4);
  two.receive([bob.session, marked(bob, "m")]);
  equal(had(), 1, "this one is new");
});

/** A commit of Ann's that leaves a mark. */
function marked({ chain }: ReturnType<typeof author>, mark: string) {
  const shape = { collection: Mark.name, version: 1, fields: [] };
  const operations = [creating({ shape, id: mark }, {})];
  return chain.batch({ wall: 5, operations });
}

Deno.test("NaiveJudge knows whether a mark had been shown when its author was told", async () => {
  const all = await court();
  const { judge, timeline, one } = all;
  const ann = author(all, 1);
  one.receive([ann.session, marked(ann, "m")]);
  deepEqual([judge.isShown("m"), judge.isShownBy("m", Infinity)], [
    false,
    false,
  ]);
  timeline.nowMs = 7;
  await show(all);
  timeline.nowMs = 9;
  await show(all);
  const by = () => [6, 7].map((ms) => judge.isShownBy("m", ms));
  deepEqual([judge.isShown("m"), ...by()], [true, false, true]);
  judge.lost();
  deepEqual([judge.isShown("m"), ...by()], [true, false, false]);
});

Deno.test("NaiveJudge knows whether a mark stands in another commit, once a server lost something", async () => {
  const all = await court();
  const { judge, one } = all;
  const ann = author(all, 1);
  one.receive([ann.session, marked(ann, "m")]);
  const { name: chain } = ann.chain;
  const had = () =>
    [0, 1].map((number) => judge.standsElsewhere("m", { chain, number }));
  deepEqual(had(), [false, false]);
  judge.lost();
  deepEqual(had(), [false, true]);
});

Deno.test("NaiveJudge finds what is new of a session that was revoked, or before its time", async () => {
  const all = await court();
  const { ann, made } = writings(all);
  all.one.receive([ann.session, made]);
  all.revoked.add(ann.key);
  all.two.receive([ann.session, made]);
  deepEqual(all.found, []);
  const more = ann.chain.batch({ wall: 7, operations: [making("y", "user1")] });
  all.two.receive([more]);
  const cat = author(all, 3);
  const ahead = { wall: NOW_MS + 1, operations: [making("z", "user3")] };
  all.two.receive([cat.session, cat.chain.batch(ahead)]);
  deepEqual(all.found, ["revoked", "early"]);
});

Deno.test("NaiveJudge finds a lease of somebody else that is taken while it lasts", async () => {
  const all = await court();
  const [ann, bob] = [author(all, 1), author(all, 2)];
  const lease = { shape: entrySchema(undefined).shape, id: "lease" };
  const set = (value: Value) => ({ what: "set", value }) as const;
  const item = { value: 1, expiresAt: NOW_MS + 1, expected: undefined };
  const held = ann.chain.batch({
    wall: 5,
    operations: [creating(lease, item)],
  });
  all.one.receive([ann.session, held]);
  const taking = changing(lease, { expected: set(absentDigest) });
  const taken = bob.chain.batch({ wall: 6, operations: [taking] });
  all.one.receive([bob.session, taken]);
  deepEqual(all.found, ["judge"]);
});
