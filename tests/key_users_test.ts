/** One key, one user: hostile sessions against servers that lost their books. */

import { deepEqual, equal } from "node:assert/strict";
import { memoryStorage, type Storage } from "../mod.ts";
import { folderOf, parseRepositoryName } from "../repo/commit/genesis.ts";
import { REPOSITORIES } from "../repo/replica_open.ts";
import { SERVER_REPOSITORY } from "../server/books.ts";
import { createServer, type LogRecord, type Server } from "../server/mod.ts";
import type { Message, MessageOf } from "../sync/message.ts";
import { forge } from "./kit/forge.ts";
import { until } from "./kit/patience.ts";
import { genesisOf, RawPeer, rawSession, ROOT_SECRET } from "./raw_peer.ts";
import {
  ANN,
  BOB,
  knowKey,
  loginBody,
  post,
  serverOptions,
} from "./server_place.ts";
import { recordKind } from "../repo/log/format.ts";

const [SHARED, OTHER] = ["team/a", "team/b"] as const;
const WRITE = 2;
const READ_AND_WRITE = 3;

type Device = ReturnType<typeof rawSession>;

function serve(
  storage: Storage,
  records: LogRecord[] = [],
): Promise<Server> {
  const options = { rootSecret: ROOT_SECRET, storage };
  return createServer(serverOptions(options, records));
}

function loseBooks(storage: Storage): void {
  const name = parseRepositoryName(SERVER_REPOSITORY);
  const folder = `${REPOSITORIES}/${folderOf(name)}`;
  for (const file of storage.list(folder)) storage.remove(`${folder}/${file}`);
}

function keyOf({ signer }: Device): string {
  return signer.publicKey.toHex();
}

/** What a login by hand, without any certificate, is answered. */
async function loginOf(
  server: Server,
  device: Device,
  token: string,
): Promise<string> {
  const sessionKey = keyOf(device);
  knowKey(sessionKey, device.secretKey);
  const asked = { sessionKey, credentials: { token } };
  const answer = await fetch(
    `${server.url}/login`,
    post(loginBody(server.rootKey, asked)),
  );
  const { code = "", user = "" } = await answer.json();
  return `${answer.status} ${code || user}`;
}

async function rightsOf(server: Server, device: Device): Promise<number> {
  await using peer = await RawPeer.proven(server, device);
  peer.open(1, OTHER);
  return (await peer.hear("opened")).rights;
}

/** Brings a certificate of a device, and a commit that it wrote, if that is asked for; says what was refused, and why. */
async function bring(
  server: Server,
  device: Device,
  by: Device = device,
  name: string = SHARED,
  incarnation = 0,
): Promise<string[]> {
  await using peer = await RawPeer.opened(server, name, by);
  peer.records({ kind: recordKind.certificate, bytes: device.certificate });
  if (incarnation > 0) {
    const genesisId = genesisOf(server, name);
    const wall = Date.now();
    peer.records(forge({ session: device, genesisId, wall, incarnation }));
  }
  peer.send({ is: "ping", token: 1 });
  const isRefuse = (one: Message): one is MessageOf<"refuse"> =>
    one.is === "refuse";
  return (await peer.hearTo("pong")).filter(isRefuse).map(({ reason }) =>
    reason
  );
}

/** A server where a key of Ann's wrote, and its books are gone since. */
async function withoutBooks() {
  const storage = memoryStorage();
  const ann = rawSession({ user: "ann" });
  {
    await using server = await serve(storage);
    deepEqual(await bring(server, ann, ann, SHARED, 1), []);
  }
  loseBooks(storage);
  const bob = rawSession({ user: "bob", secretKey: ann.secretKey });
  const records: LogRecord[] = [];
  return { ann, bob, records, server: await serve(storage, records) };
}

Deno.test("a server that lost its books knows by a repository which is open whose a key is", async () => {
  const { ann, server: started } = await withoutBooks();
  await using server = started;
  await using _other = await RawPeer.opened(server, SHARED);
  equal(await loginOf(server, ann, BOB), "409 key-taken");
  equal(await loginOf(server, ann, ANN), "200 ann");
});

Deno.test("a key that became another user's while the books were gone is over when a repository shows whose it was", async () => {
  const { ann, bob, records, server: started } = await withoutBooks();
  await using server = started;
  equal(await loginOf(server, bob, BOB), "200 bob", "nothing is open yet");
  await using both = await RawPeer.opened(server, OTHER, bob);
  await using _other = await RawPeer.opened(server, SHARED);
  equal((await both.hear("failed")).code, "unavailable");
  for (const device of [ann, bob]) {
    equal(await rightsOf(server, device), WRITE);
    equal(await loginOf(server, device, ANN), "403 revoked");
    equal((await bring(server, device, device, OTHER, 2)).at(-1), "revoked");
  }
  equal(server.quarantine().length, 2);
  const ended = records.filter(({ event }) => event === "session-revoked");
  deepEqual(ended.map(({ reason }) => reason), [
    "Its key stands for two users, or for two sets of claims",
  ]);
});

Deno.test("a key comes as another user, and a repository that is open has known whose it was", async () => {
  const { bob, server: started } = await withoutBooks();
  await using server = started;
  await using _other = await RawPeer.opened(server, SHARED);
  await using both = await RawPeer.proven(server, bob);
  equal(await both.ended, "unavailable");
  equal(await rightsOf(server, bob), WRITE);
});

Deno.test("who comes first to a server that lost everything, as another user, is over when somebody brings his key's certificate", async () => {
  await using server = await serve(memoryStorage());
  const ann = rawSession({ user: "ann" });
  const bob = rawSession({ user: "bob", secretKey: ann.secretKey });
  deepEqual(await bring(server, bob, bob, SHARED, 1), []);
  deepEqual(await bring(server, ann, rawSession()), ["bad-certificate"]);
  await until(
    async () => await rightsOf(server, bob) === WRITE,
    "it may read no more",
  );
});

Deno.test("nobody ends another's session by a certificate that a revoked server signed, or nobody who may", async () => {
  await using server = await serve(memoryStorage());
  const notAfter = Date.now() + 1_000_000;
  const ann = rawSession({ user: "ann" });
  const edge = rawSession({ user: "edge", mayIssue: true, notAfter });
  const inner = rawSession({
    ...{ user: "inner", mayIssue: true, notAfter: notAfter - 1 },
    issuer: edge.secretKey,
  });
  const thief = rawSession();
  deepEqual(await bring(server, ann, ann, SHARED, 1), []);
  for (const name of [SHARED, OTHER]) {
    for (const one of [edge, inner]) {
      deepEqual(await bring(server, one, thief, name), []);
    }
  }
  await server.revoke({ sessionKey: keyOf(edge) });
  for (const { secretKey: issuer } of [edge, inner, thief]) {
    const { secretKey } = ann;
    const fields = { secretKey, issuer, notAfter: notAfter - 2 };
    const eve = rawSession({ user: "eve", ...fields });
    for (const name of [SHARED, OTHER]) await bring(server, eve, thief, name);
  }
  equal(await rightsOf(server, ann), READ_AND_WRITE);
});
