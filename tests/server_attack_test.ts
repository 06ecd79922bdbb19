/**
 * What a real server answers who knows the protocol and means ill: a code, one
 * line in the log, a number in the metrics; and everybody else goes on.
 */

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { toHex } from "../src/base/bytes.ts";
import { wallMax } from "../src/base/hlc.ts";
import { limits } from "../src/base/limits.ts";
import { createSigner } from "../crypto/mod.ts";
import { defineRules, memoryStorage } from "../mod.ts";
import type { ServerOptions } from "../server/mod.ts";
import { encodeMessage } from "../sync/message_codec.ts";
import { forge } from "./kit/forge.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";
import { until } from "./kit/patience.ts";
import { type Client, clientOf } from "./server_clients.ts";
import { ANN, type Place, withServer } from "./server_place.ts";
import { recordKind } from "../repo/log/format.ts";

const REPOSITORY = "team/a";

/** A server with an honest client, which still can write in the end. */
function underAttack(
  attack: (place: Place, ann: Client) => Promise<void>,
  options: ServerOptions = {},
): Promise<void> {
  return withServer({ rootSecret: ROOT_SECRET, ...options }, async (place) => {
    await using ann = await clientOf(place.server, { token: ANN });
    await ann.repo.sync.ready;
    await attack(place, ann);
    await ann.notes.create({ text: "still here" }).synced;
    deepEqual(ann.repo.sync.status.refusals, []);
  });
}

/** What a server noted of an attack. */
interface Noted {
  readonly event: string;
  readonly kind: string;
  /** Lines in the log (1). */
  readonly lines?: number;
  /** Name and label of the counter. */
  readonly metric: string;
  readonly count?: number;
}

async function noted(place: Place, expected: Noted): Promise<void> {
  const { event, kind, lines = 1, metric, count = 1 } = expected;
  const told = () =>
    place.records.filter((one) => one.event === event && one["kind"] === kind);
  await until(
    () => told().length >= lines,
    `the log has ${lines} lines of ${event} ${kind}`,
  );
  equal(told().length, lines, `lines of ${event} ${kind}`);
  const text = await (await place.ask("/metrics")).text();
  const line = text.split("\n").find((one) => one.startsWith(metric));
  equal(line, `${metric} ${count}`);
}

function failure(kind: string, lines = 1): Noted {
  const metric = `sheaf_protocol_errors_total{code="${kind}"}`;
  return { event: "connection-failed", kind, lines, metric, count: lines };
}

function refusal(kind: string, count = 1): Noted {
  const metric = `sheaf_batches_refused_total{reason="${kind}"}`;
  return { event: "batch-refused", kind, metric, count };
}

Deno.test("attack: another wire version is named, in the upgrade and in the first frame", () =>
  underAttack(async (place) => {
    const { url } = place.server;
    const socket = new WebSocket(url.replace("http", "ws"), "sheaf.2");
    await new Promise((resolve) => socket.onerror = resolve);
    const declined = failure("wrong-version");
    await noted(place, { ...declined, event: "connection-declined" });
    const peer = await RawPeer.greeted(place.server);
    const proof = encodeMessage(await peer.proof(rawSession())).slice();
    proof[1] = 1;
    peer.send(proof);
    equal((await peer.hear("failed")).code, "wrong-version");
    equal(await peer.ended, "wrong-version");
    await noted(place, { ...declined, count: 2 });
  }));

Deno.test("attack: a proof that is replayed, or signed by another key, is none", () =>
  underAttack(async (place) => {
    const session = rawSession();
    await using first = await RawPeer.greeted(place.server);
    const proof = await first.proof(session);
    first.send(proof);
    await first.hear("welcome");
    const second = await RawPeer.greeted(place.server);
    second.send(proof);
    equal((await second.hear("failed")).code, "bad-proof");
    const third = await RawPeer.greeted(place.server);
    const { secretKey } = rawSession();
    third.send(await third.proof({ ...session, secretKey }));
    equal((await third.hear("failed")).code, "bad-proof");
    await Promise.all([second.ended, third.ended]);
    await noted(place, failure("bad-proof", 2));
  }));

Deno.test("attack: certificates that are forged, of nobody's right, expired or not good yet show nobody", () =>
  underAttack(async (place) => {
    const now = Date.now();
    const user = rawSession();
    const flipped = user.certificate.slice();
    flipped[60]! ^= 1;
    const bad: [code: string, ReturnType<typeof rawSession>][] = [
      ["bad-certificate", rawSession({ issuer: new Uint8Array(32).fill(12) })],
      ["bad-certificate", rawSession({ issuer: user.secretKey })],
      ["bad-certificate", { ...user, certificate: flipped }],
      ["bad-certificate", { ...user, certificate: new Uint8Array(200) }],
      ["bad-certificate", rawSession({ notBefore: now + 600_000 })],
      ["expired-session", rawSession({ notAfter: now - 1_000 })],
    ];
    for (const [code, session] of bad) {
      const peer = await RawPeer.greeted(place.server);
      peer.send(await peer.proof(session));
      equal((await peer.hear("failed")).code, code);
      await peer.ended;
    }
    await noted(place, failure("bad-certificate", 5));
    await noted(place, failure("expired-session"));
  }));

Deno.test("attack: a certificate that runs out ends the connection that it opened", () =>
  underAttack(async (place) => {
    const session = rawSession({ notAfter: Date.now() + 300 });
    const peer = await RawPeer.opened(place.server, REPOSITORY, session);
    equal((await peer.hear("failed")).code, "expired-session");
    await peer.ended;
    await noted(place, failure("expired-session"));
  }));

Deno.test("attack: a revoked session reads nothing, and begins nothing where it might not read", () => {
  const rules = defineRules({
    [REPOSITORY]: { read: () => true, others: true },
    "team/b": { read: () => false },
  });
  return underAttack(async (place) => {
    const { server } = place;
    const session = rawSession();
    const before = await RawPeer.opened(server, REPOSITORY, session);
    const key = toHex(createSigner(session.secretKey).publicKey);
    await server.revoke({ sessionKey: key }, "stolen");
    equal((await before.hear("failed")).code, "unavailable");
    await before.ended;
    await using after = await RawPeer.proven(server, session);
    after.open(1, REPOSITORY);
    const opened = await after.hear("opened");
    deepEqual([opened.rights, opened.vector?.size, opened.commits], [2, 0, 0]);
    after.open(2, "team/b");
    equal((await after.hear("declined")).code, "forbidden");
    const { genesisId } = { genesisId: genesisOf(server, REPOSITORY) };
    after.records(forge({ session, genesisId, wall: Date.now() }));
    const refused = await after.hear("refuse");
    deepEqual([refused.reason, refused.kept], ["revoked", true]);
    await noted(place, refusal("revoked"));
    equal(server.quarantine().length, 1);
    deepEqual(server.database.repositories(), ["_server", REPOSITORY]);
  }, { rules });
});

Deno.test("attack: commits of another repository, unsigned ones and garbage end their sender", () =>
  underAttack(async (place) => {
    const { server } = place;
    const session = rawSession();
    const wall = Date.now();
    const genesisId = genesisOf(server, "team/other");
    const reasons = ["bad-signature", "unsigned", "malformed"];
    const records = [
      forge({ session, genesisId, wall }),
      {
        kind: recordKind.unsignedBatch,
        bytes: new Uint8Array(60).fill(1),
      } as const,
      {
        kind: recordKind.signedBatch,
        bytes: new Uint8Array(60).fill(1),
      } as const,
    ];
    for (const [i, record] of records.entries()) {
      const peer = await RawPeer.opened(server, REPOSITORY, session);
      peer.records(record);
      equal((await peer.hear("refuse")).reason, reasons[i]);
      equal(await peer.ended, "bad-message");
      await noted(place, refusal(reasons[i]!));
    }
    await noted(place, failure("bad-message", 3));
  }));

Deno.test("attack: forks are refused, told once a connection and counted each; what came first stays", () =>
  underAttack(async (place, ann) => {
    const session = rawSession();
    await using peer = await RawPeer.opened(place.server, REPOSITORY, session);
    const genesisId = genesisOf(place.server, REPOSITORY);
    for (const incarnation of [1, 2]) {
      const one = { session, genesisId, wall: Date.now(), incarnation };
      peer.records(forge(one));
      await peer.hear("ack");
      peer.records(forge({ ...one, text: "y" }));
      equal((await peer.hear("refuse")).reason, "fork");
    }
    await noted(place, refusal("fork", 2));
    await until(() => ann.repo.status().commits === 2, "the two commits come");
  }));

Deno.test("attack: gaps and parents that never come cost their sender its credit, and nobody else anything", () =>
  underAttack(async (place, ann) => {
    const session = rawSession();
    const peer = await RawPeer.opened(place.server, REPOSITORY, session);
    const genesisId = genesisOf(place.server, REPOSITORY);
    const one = { session, genesisId, wall: Date.now() };
    const parents = [{ chain: "\xff".repeat(40), number: 3 }];
    const text = "x".repeat(10_000);
    let sent = 0;
    // No credit comes back for what is parked: who goes on is closed.
    for (let i = 0; sent < limits.windowBytes + 50_000; i++) {
      const record = i % 2 === 0
        ? forge({ ...one, first: 5 + i, text })
        : forge({ ...one, incarnation: 2 + i % 200, parents, text });
      sent += record.bytes.length;
      peer.records(record);
    }
    equal((await peer.hear("failed")).code, "window-exceeded");
    await peer.ended;
    await noted(place, failure("window-exceeded"));
    equal(ann.repo.status().commits, 0);
  }));

Deno.test("attack: a clock that is years ahead is refused, and one that is years behind wins nothing", () =>
  underAttack(async (place, ann) => {
    const session = rawSession({ notAfter: wallMax });
    await using peer = await RawPeer.opened(place.server, REPOSITORY, session);
    const genesisId = genesisOf(place.server, REPOSITORY);
    const years = 5 * 365 * 86_400_000;
    const wall = Date.now() + years;
    peer.records(forge({ session, genesisId, wall }));
    equal((await peer.hear("refuse")).reason, "bad-clock");
    await noted(place, refusal("bad-clock"));
    const late = { session, genesisId, wall: Date.now() - years };
    peer.records(forge({ ...late, incarnation: 2 }));
    await peer.hear("ack");
    await until(() => ann.repo.status().commits === 1, "the commit comes");
  }));

Deno.test("attack: vectors of more chains than there may be end their sender, whole or in a frame that fits", () =>
  underAttack(async (place) => {
    // A million chains are 41 MB: the frame is too large. 45,000 would fit.
    for (const [chains, size] of [[1_000_000, 41_000_100], [45_000, 0]]) {
      const name = new TextEncoder().encode(REPOSITORY);
      const head = [0x10, 1, name.length * 2, ...name];
      const start = [1, ...varint(chains!)];
      const frame = new Uint8Array(
        size || head.length + 32 + start.length + chains! * 41,
      );
      frame.set(head);
      frame.set(genesisOf(place.server, REPOSITORY), head.length);
      let at = head.length + 32;
      frame.set(start, at);
      at += start.length;
      const view = new DataView(frame.buffer);
      for (let i = 0; i < chains! && at + 41 <= frame.length; i++, at += 41) {
        view.setUint32(at, i);
        frame[at + 40] = 1;
      }
      const peer = await RawPeer.proven(place.server);
      peer.send(frame);
      equal(await peer.ended, "too-large");
    }
    await noted(place, failure("too-large", 2));
  }));

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value >= 128; value = Math.floor(value / 128)) {
    bytes.push(value % 128 + 128);
  }
  return [...bytes, value];
}

Deno.test("attack: what may not be opened gets one answer, and leaves nothing on the disk", () => {
  const storage = memoryStorage();
  const rules = defineRules({
    [REPOSITORY]: { read: () => true, others: true },
    secret: { read: ({ session }) => session.user === "ann", others: true },
  });
  return underAttack(async (place) => {
    const { server } = place;
    await using ann = await clientOf(server, {
      token: ANN,
      repository: "secret",
    });
    await ann.notes.create({ text: "plan" }).synced;
    const folders = storage.folders("").length;
    await using peer = await RawPeer.proven(server);
    const names = ["secret", "not-there", "_server", "_server/x", "no/rule"];
    const answers = new Set<string>();
    let channel = 0;
    for (const name of names) {
      peer.open(++channel, name);
      const { code, detail } = await peer.hear("declined");
      answers.add(`${code}: ${detail}`);
    }
    deepEqual([...answers], [
      "forbidden: This session may not read it, or there is none",
    ]);
    const none = [
      "../x",
      "..",
      "team/../a",
      "",
      "a//b",
      "a\u0000b",
      "/etc",
      "%2e%2e/x",
    ];
    for (const name of none) {
      peer.open(++channel, name);
      equal((await peer.hear("declined")).code, "invalid-name", name);
    }
    equal(storage.folders("").length, folders);
    deepEqual(server.database.repositories(), [
      "_server",
      "secret",
      REPOSITORY,
    ]);
    await noted(place, {
      event: "channel-declined",
      kind: "forbidden",
      metric: 'sheaf_protocol_errors_total{code="forbidden"}',
      count: names.length,
    });
    await noted(place, {
      event: "channel-declined",
      kind: "invalid-name",
      metric: 'sheaf_protocol_errors_total{code="invalid-name"}',
      count: none.length,
    });
  }, { storage, rules });
});

Deno.test("attack: nobody begins repositories in another mode, nor more than so many a minute", () =>
  underAttack(async (place) => {
    const { server } = place;
    await using peer = await RawPeer.proven(server);
    for (const [i, mode] of (["trusted", "fast"] as const).entries()) {
      peer.open(i + 1, `other/${mode}`, mode);
      equal((await peer.hear("declined")).code, "mode-mismatch");
    }
    for (let i = 0; i < 3; i++) peer.open(3 + i, `new/${i}`);
    equal((await peer.hear("declined")).code, "rate-limited");
    const names = ["_server", "new/0", "new/1", REPOSITORY];
    deepEqual(server.database.repositories(), names);
    await noted(place, {
      event: "channel-declined",
      kind: "rate-limited",
      metric: 'sheaf_protocol_errors_total{code="rate-limited"}',
    });
  }, { quotas: { repositoriesPerMinute: 2 } }));

Deno.test("attack: a page of a foreign origin gets no connection", () =>
  underAttack(async (place) => {
    const { hostname, port } = new URL(place.server.url);
    const wire = await Deno.connect({ hostname, port: Number(port) });
    const request = [
      "GET / HTTP/1.1",
      `Host: ${hostname}:${port}`,
      "Origin: https://evil.example",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol: sheaf.1",
    ];
    const text = `${request.join("\r\n")}\r\n\r\n`;
    await wire.write(new TextEncoder().encode(text));
    const answer = new Uint8Array(4_096);
    const length = await wire.read(answer);
    wire.close();
    const said = new TextDecoder().decode(answer.subarray(0, length ?? 0));
    ok(said.startsWith("HTTP/1.1 403"), said);
    ok(said.includes('"foreign-origin"'), said);
    await noted(place, {
      event: "foreign-origin",
      kind: "foreign-origin",
      metric: 'sheaf_protocol_errors_total{code="foreign-origin"}',
    });
  }));

Deno.test("attack: an address has so many connections that have proved nothing, and the others come in", () =>
  underAttack(async (place) => {
    await using _first = await RawPeer.greeted(place.server);
    await using _second = await RawPeer.greeted(place.server);
    await rejects(RawPeer.greeted(place.server));
    await noted(place, {
      event: "connection-declined",
      kind: "too-many-connections",
      metric: 'sheaf_protocol_errors_total{code="too-many-connections"}',
    });
  }, { quotas: { unprovedPerAddress: 2 } }));
