import { deepEqual, equal } from "node:assert/strict";
import { defineRules } from "../mod.ts";
import { ByteWriter } from "../src/base/bytes.ts";
import { refuse } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { type DecodedPatch, PatchWriter } from "../src/schema/patch_codec.ts";
import { patchesOf } from "../repo/admission/admit.ts";
import { Graph } from "../repo/graph/graph.ts";
import { type Batch, writeBatch } from "../repo/commit/batch.ts";
import { encodeHeader } from "../repo/commit/commit.ts";
import { Credentials, decodeCredential } from "../repo/commit/credentials.ts";
import { revocationLayout } from "../repo/commit/revocation.ts";
import { createSigner } from "../crypto/mod.ts";
import type { WireRecord } from "../sync/message.ts";
import { givingUp } from "../tests/kit/forge.ts";
import { type Mode, parseRepositoryName } from "../repo/mod.ts";
import { encodeGenesis, genesisId } from "../repo/commit/genesis.ts";
import { boundedPatches } from "../repo/admission/merge_gate.ts";
import { rights } from "../sync/conversation.ts";
import type { PeerSession } from "../sync/proof.ts";
import type { HostPeer } from "../sync/host_hooks.ts";
import { type HookParts, ServerHooks } from "./hooks.ts";
import { defaultQuotas } from "./options.ts";
import { type ReaderParts, Readers } from "./readers.ts";
import { noTracing } from "./tracing.ts";
import { recordKind } from "../repo/mod.ts";

const NOW = 1_800_000_000_000;
const KEY = new Uint8Array(32).fill(0xab);
const session: PeerSession = {
  key: KEY,
  user: "ann",
  claims: '{"team":"a"}',
  mayIssue: false,
  notBefore: 0,
  notAfter: NOW,
  certificates: [],
};
const peer: HostPeer = { id: 1, address: "203.0.113.7", session };
const name = parseRepositoryName;
const all = { rights: rights.read | rights.write };

/** What a hook's case says of the server around it. */
interface Around {
  readonly rules?: ReturnType<typeof defineRules>;
  readonly isRevoked?: boolean;
  readonly hasRecord?: boolean;
  readonly connections?: number;
  readonly logBytes?: number;
  readonly monotonicMs?: () => number;
  readonly commitsPerSecond?: number;
  /** Parts of large fields that rules read of each batch. */
  readonly partsRead?: number;
  /** How many commits of a chain are proved to have been accepted before a loss. */
  readonly proved?: number;
  /** Repositories that there are. */
  readonly known?: readonly string[];
  readonly repositoriesPerMinute?: number;
  readonly isFull?: boolean;
  readonly credentials?: Credentials;
  /** Takes what is shed. */
  readonly shed?: string[];
}

/** Hooks in a server of which only what they ask is there. */
function hooksIn(around: Around): ServerHooks {
  const {
    commitsPerSecond = defaultQuotas.commitsPerSecond,
    repositoriesPerMinute = defaultQuotas.repositoriesPerMinute,
  } = around;
  const world = { now: () => NOW, monotonic: around.monotonicMs ?? (() => 0) };
  const { rules, credentials = new Credentials() } = around;
  const parts = {
    isFull: () => around.isFull ?? false,
    shed: (name: string) => around.shed?.push(name),
    hub: {
      has: (name: string) => around.known?.includes(name) ?? false,
      hasRecord: () => around.hasRecord ?? false,
      logBytes: () => around.logBytes ?? 0,
      replicaOf: () => ({ graph: new Graph(KEY), loaded: { credentials } }),
    },
    judge: {
      judge: () => undefined,
      proved: () => around.proved ?? 0,
      partsRead: around.partsRead ?? 0,
    },
    restores: { accepted: () => undefined },
    readers: rules && new Readers({ rules, world } as unknown as ReaderParts),
    sessions: { learn() {} },
    revocations: {
      has: () => around.isRevoked ?? false,
      ends: () => around.isRevoked ?? false,
      endsAuthor: () => around.isRevoked ?? false,
    },
    quarantine: { keep: () => true },
    quotas: { ...defaultQuotas, commitsPerSecond, repositoriesPerMinute },
    rootKey: new Uint8Array(32).fill(1),
    mode: "default",
    world,
    tracing: noTracing,
    connections: { prove: () => around.connections ?? 1 },
  };
  return new ServerHooks(parts as unknown as HookParts);
}

/** A batch of so many commits, as far as a gate looks. */
function batchOf(count: number, wall = NOW): Batch {
  const chain = String.fromCharCode(...KEY) + "incarnat";
  const commits = Array.from({ length: count }, () => ({ wall }));
  return { chain, first: 0, commits } as unknown as Batch;
}

/** Of a gate that refuses by what is cheaper to ask. */
function unasked(): never {
  throw new Error("patches were decoded in vain");
}

Deno.test("ServerHooks.authorize() closes the server's own repositories to everybody", () => {
  const issuer = { ...session, mayIssue: true };
  for (const who of [session, issuer]) {
    for (const text of ["_server", "_anything/else"]) {
      const access = hooksIn({}).authorize(peer, who, name(text));
      equal("declined" in access && access.declined.code, "forbidden");
    }
  }
  deepEqual(hooksIn({}).authorize(peer, session, name("team/_x")), all);
});

Deno.test("ServerHooks.authorize() asks the rules with user, claims and key", () => {
  const rules = defineRules({
    "team/{team}": {
      read: ({ session, params }) =>
        session.claims["team"] === params.team &&
        session.key === KEY.toHex() && session.user === "ann",
    },
  });
  const hooks = hooksIn({ rules });
  deepEqual(hooks.authorize(peer, session, name("team/a")), all);
  equal("declined" in hooks.authorize(peer, session, name("team/b")), true);
  equal("declined" in hooks.authorize(peer, session, name("other")), true);
});

Deno.test("ServerHooks.authorize() lets a revoked session only hand in", () => {
  const hooks = hooksIn({ isRevoked: true });
  deepEqual(hooks.authorize(peer, session, name("team/a")), {
    rights: rights.write,
  });
});

Deno.test("ServerHooks.authorize() lets a revoked session hand in where it might read, and nowhere else", () => {
  const rules = defineRules({ "team/a": { read: () => true } });
  const hooks = hooksIn({ rules, isRevoked: true });
  const may = hooks.authorize(peer, session, name("team/a"));
  deepEqual(may, { rights: rights.write });
  const other = hooks.authorize(peer, session, name("team/b"));
  equal("declined" in other && other.declined.code, "forbidden");
});

Deno.test("ServerHooks.begins() lets nothing be begun in another mode, nor too much", () => {
  const rootKey = new Uint8Array(32).fill(1);
  const idOf = (text: string, mode: Mode) =>
    genesisId(encodeGenesis({ name: name(text), rootKey, mode }));
  let nowMs = 0;
  const hooks = hooksIn({
    known: ["old"],
    repositoriesPerMinute: 2,
    monotonicMs: () => nowMs,
  });
  const begin = (text: string, mode: Mode = "default") =>
    hooks.begins(peer, session, name(text), idOf(text, mode))?.code;
  equal(begin("a", "fast"), "mode-mismatch");
  equal(hooks.begins(peer, session, name("a"), KEY)?.code, "mode-mismatch");
  deepEqual(["a", "b", "c"].map((text) => begin(text)), [
    undefined,
    undefined,
    "rate-limited",
  ]);
  equal(begin("old", "fast"), undefined, "what there is, is looked at later");
  nowMs += 30_000;
  equal(begin("c"), undefined);
});

Deno.test("ServerHooks.admits() bounds the connections of a session", () => {
  const { connectionsPerSession } = defaultQuotas;
  const last = hooksIn({ connections: connectionsPerSession });
  equal(last.admits(peer, session), undefined);
  const over = hooksIn({ connections: connectionsPerSession + 1 });
  equal(over.admits(peer, session)?.code, "too-many-connections");
});

Deno.test("ServerHooks.gate() refuses what a revoked session wrote, unless the door decides", () => {
  const revoked = hooksIn({ isRevoked: true });
  equal(
    revoked.gate(peer, name("a"), batchOf(1), 0, unasked)?.refused,
    "revoked",
  );
  const recorded = hooksIn({ isRevoked: true, hasRecord: true });
  equal(recorded.gate(peer, name("a"), batchOf(1), 0, () => []), undefined);
});

Deno.test("ServerHooks.keeps() keeps of a revoked session what can be decided on, and fails on nothing", () => {
  const hooks = hooksIn({ isRevoked: true });
  const header = encodeHeader({ wall: NOW, count: 0, parents: [] });
  const { chain } = batchOf(0);
  const keeps = (...payloads: Uint8Array[]) => {
    const writer = new ByteWriter();
    const commits = payloads.map((payload) => ({
      header,
      payload,
      payloadAt: -1,
    }));
    writeBatch(writer, { chain, first: 0, commits });
    const arrival = {
      kind: recordKind.unsignedBatch,
      bytes: writer.copy(),
    } as const;
    return hooks.keeps(peer, name("a"), arrival, refuse("revoked"));
  };
  const field = { name: "text", kind: "string" } as const;
  const shape = { collection: "note", version: 1, fields: [field] };
  const patch = new PatchWriter();
  patch.begin();
  const empty = patch.finish().payload;
  patch.begin();
  patch.add({ what: "delete", shape, id: "x", generation: 0 });
  const { payload } = patch.finish();
  equal(keeps(payload), true);
  equal(keeps(empty, payload), true);
  equal(keeps(empty), false);
  for (const none of [[], [9, 9, 9], [1, 0], [1, 0, 200]]) {
    const bad = new Uint8Array(none);
    equal(keeps(bad), false);
    equal(keeps(payload, bad), false);
  }
});

Deno.test("ServerHooks hold back credit first, and refuse who ignores that", () => {
  let nowMs = 0;
  const hooks = hooksIn({ monotonicMs: () => nowMs, commitsPerSecond: 10 });
  equal(hooks.gate(peer, name("a"), batchOf(100), 0, () => []), undefined);
  equal(hooks.creditDelay(peer, 1), 0);
  equal(hooks.gate(peer, name("a"), batchOf(50), 0, () => []), undefined);
  equal(hooks.creditDelay(peer, 1), 5_000);
  equal(hooks.gate(peer, name("a"), batchOf(1_000), 0, () => []), undefined);
  equal(hooks.gate(peer, name("a"), batchOf(1), 0, unasked)?.refused, "quota");
  nowMs = 50_000; // what was refused was not counted
  equal(hooks.gate(peer, name("a"), batchOf(1), 0, () => []), undefined);
  nowMs = 1_000_000;
  equal(hooks.creditDelay(peer, 1), 0);
  equal(hooks.gate(peer, name("a"), batchOf(1), 0, () => []), undefined);
});

Deno.test("ServerHooks.gate() counts what takes much folding as more commits", () => {
  const hooks = hooksIn({ commitsPerSecond: 10 });
  const field = { name: "tags", kind: "set" } as const;
  const shape = { collection: "card", version: 1, fields: [field] };
  const patchOf = (count: number): DecodedPatch => {
    const values = new Array(count).fill("v");
    const change = { what: "add", values } as const;
    const changes = [{ field, change }];
    const operation = {
      what: "update",
      shape,
      id: "x",
      generation: 0,
    } as const;
    return {
      operations: [{ ...operation, changes }],
      operationsOffset: 0,
      createOffsets: [-1],
    };
  };
  const add = (count: number) =>
    hooks.gate(peer, name("a"), batchOf(1), 0, () => [patchOf(count)]);
  equal(add(8), undefined);
  equal(hooks.creditDelay(peer, 1), 0, "one commit of 100");
  add(limits.foldPartsPerCommit * 120);
  equal(hooks.creditDelay(peer, 1), 2_200, "122 of 100 more");
});

Deno.test("ServerHooks.gate() counts what rules read of large fields as more commits", () => {
  const partsRead = limits.ruleReadPartsPerCommit * 60;
  const hooks = hooksIn({ commitsPerSecond: 10, partsRead });
  const write = () => hooks.gate(peer, name("a"), batchOf(1), 0, () => []);
  equal(write(), undefined);
  equal(hooks.creditDelay(peer, 1), 0, "61 of 100");
  equal(write(), undefined);
  equal(hooks.creditDelay(peer, 1), 2_200, "122 of 100");
});

Deno.test("ServerHooks.gate() counts a batch that holds too much as one that holds all that it may", () => {
  const hooks = hooksIn({});
  const tooLarge = () => refuse("too-large");
  const refusal = hooks.gate(peer, name("a"), batchOf(1), 0, tooLarge);
  equal(refusal?.refused, "too-large");
  const { commitsPerSecond } = defaultQuotas;
  const commits = 1 + limits.nodesMax / limits.foldPartsPerCommit;
  const owed = commits - 10 * commitsPerSecond;
  equal(hooks.creditDelay(peer, 1), Math.ceil(owed / commitsPerSecond * 1_000));
});

Deno.test("ServerHooks.gate() bounds what it decodes, but for what is proved to have been accepted before a loss", () => {
  const decodersOf = (proved: number) => {
    const decoders: unknown[] = [];
    hooksIn({ proved }).gate(peer, name("a"), batchOf(2), 0, (decoder) => {
      decoders.push(decoder);
      return [];
    });
    return decoders;
  };
  deepEqual(decodersOf(1), [boundedPatches]);
  deepEqual(decodersOf(2), [patchesOf]);
});

Deno.test("ServerHooks.workDelay() lets a session cost a part of each second, and an address twice that", () => {
  let nowMs = 0;
  const hooks = hooksIn({ monotonicMs: () => nowMs });
  const of = (id: number, address: string): HostPeer => ({
    id,
    address,
    session: { ...session, key: new Uint8Array(32).fill(id) },
  });
  const [one, two, three] = [of(1, "a"), of(2, "a"), of(3, "a")];
  equal(hooks.workDelay(one, 400), 0);
  equal(hooks.workDelay(one, 20), 100);
  equal(hooks.workDelay(two, 380), 0);
  equal(hooks.workDelay(three, 40), 100, "the address owes it");
  equal(hooks.workDelay(of(4, "b"), 40), 0);
  nowMs += 10_000;
  equal(hooks.workDelay(one, 1), 0);
});

Deno.test("ServerHooks.wants() counts a void as a commit, and what is known of it, or no void, not at all", () => {
  let nowMs = 0;
  const credentials = new Credentials();
  const monotonicMs = () => nowMs;
  const hooks = hooksIn({ credentials, monotonicMs, commitsPerSecond: 1 });
  const { chain } = batchOf(1);
  const signer = createSigner(KEY);
  const voids = Array.from(
    { length: 200 },
    (_, i) => givingUp(signer, KEY, chain, i),
  );
  const ask = (one: WireRecord) => hooks.wants(peer, name("a"), one)?.refused;
  const taken = voids.findIndex((one) => {
    if (ask(one) !== undefined) return true;
    credentials.add(decodeCredential(one.kind, one.bytes));
    return false;
  });
  equal(taken > 60 && taken < 100, true, `${taken}`);
  for (let i = 0; i < 100; i++) equal(ask(voids[i % taken]!), undefined);
  const spoilt = { kind: recordKind.void, bytes: new Uint8Array(9) };
  equal(ask(spoilt), "quota");
  equal(ask({ ...spoilt, kind: recordKind.certificate }), undefined);
  nowMs += 2_000;
  equal(ask(voids[taken]!), undefined, "what was known took none of it");
});

Deno.test("ServerHooks.wants() takes of a revoked session what is to come of what stands, where its record is here", () => {
  const credentials = new Credentials();
  const { chain } = batchOf(1);
  const signer = createSigner(KEY);
  const cuts = new Map([[chain.slice(32), 5]]);
  const said = { genesisId: KEY, sessionKey: KEY, cuts, wall: NOW, reason: "" };
  const { bytes } = revocationLayout.sign(said, signer);
  credentials.add(decodeCredential(recordKind.revocation, bytes));
  const ask = (hasRecord: boolean, ...numbers: number[]) =>
    hooksIn({ credentials, isRevoked: true, hasRecord })
      .wants(peer, name("a"), givingUp(signer, KEY, chain, ...numbers))
      ?.refused;
  equal(ask(true, 4), undefined);
  equal(ask(true, 4, 9), undefined);
  equal(ask(true, 5), "revoked");
  equal(ask(false, 4), "revoked", "its commits are refused, too");
});

Deno.test("ServerHooks.gate() refuses commits to a repository that is full", () => {
  const hooks = hooksIn({ logBytes: defaultQuotas.repositoryBytes + 1 });
  equal(hooks.gate(peer, name("a"), batchOf(1), 0, unasked)?.refused, "quota");
});

Deno.test("ServerHooks refuses commits and audits where there is no memory for them, and sheds what they are for", () => {
  const shed: string[] = [];
  const hooks = hooksIn({ isFull: true, shed });
  equal(hooks.gate(peer, name("a"), batchOf(1), 0, unasked)?.refused, "quota");
  equal(hooks.hasRoom(name("b")), false);
  deepEqual(shed, ["a", "b"]);
  equal(hooksIn({ shed }).hasRoom(name("c")), true);
  deepEqual(shed, ["a", "b"]);
});
