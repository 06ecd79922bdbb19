/**
 * What judging costs a commit at the gate: without rules, with rules that look
 * at the item, with one look-up. In one process, without wire, disk or
 * signatures, whose rates are in the other rows.
 *
 * @module
 */

import { createServer, type Server } from "../../server/mod.ts";
import { Judge } from "../../server/judge.ts";
import {
  defineRules,
  memoryStorage,
  openDatabase,
  type Rules,
  rulesFor,
} from "../../mod.ts";
import { replicaOf } from "../../src/db/internals.ts";
import { decodePatch } from "../../src/schema/patch_codec.ts";
import type { Gate } from "../../repo/admission/arrival.ts";
import { type Batch, decodeBatch, payloadOf } from "../../repo/commit/batch.ts";
import type { RepositoryPort } from "../../repo/port.ts";
import type { PeerSession } from "../../sync/proof.ts";
import { itemsBetween } from "../harness/items.ts";
import { ItemSchema } from "./client.ts";
import type { Stage } from "./place.ts";
import { rowOfSamples, type SyncRow } from "./row.ts";
import { recordKind } from "../../repo/log/format.ts";

const NAME = "bench";
const ROUNDS = 100;

/** A commit that is alone in its batch, as one of a connected client is. */
type Asked = readonly [Batch, from: number, decode: Parameters<Gate>[2]];

const no = () => false;
const never = { accepted: () => undefined, isAwaited: no, isUnknown: no };

const plain = defineRules({
  "**": {
    collections: [rulesFor(ItemSchema, {
      update: ({ before, session, changed }) =>
        session.user !== before.author && !changed.includes("author"),
    })],
  },
});

const looking = defineRules({
  "**": {
    collections: [rulesFor(ItemSchema, {
      update: ({ before, session, changed, get }) =>
        session.user !== before.author && !changed.includes("author") &&
        get(ItemSchema, before.id)?.rank === before.rank,
    })],
  },
});

/** Microseconds a commit, for rules of three kinds. */
export async function gate({ isQuick }: Stage): Promise<SyncRow[]> {
  const size = isQuick ? 1_000 : 100_000;
  const storage = memoryStorage();
  const login = { anonymous: true };
  const commits = await written(
    await createServer({ storage, port: 0, login, log: () => {} }),
    size,
  );
  await using db = await openDatabase({ storage });
  const replica = replicaOf(await db.repository(NAME));
  const time = (rules: Rules | undefined): number[] => {
    const judge = new Judge({
      itemsOf: (replica) => replica.state,
      log: { write() {} },
      rules,
      restores: never,
      world: { now: Date.now },
    });
    return Array.from({ length: ROUNDS }, () => {
      const begun = performance.now();
      for (const [session, asked] of commits) {
        const refusal = judge.judge(replica, session, ...asked);
        if (refusal !== undefined) throw new Error(Deno.inspect(refusal));
      }
      return (performance.now() - begun) * 1_000 / commits.length;
    }).slice(ROUNDS / 3); // The first ones are compiled meanwhile.
  };
  const row = (what: string, rules: Rules | undefined, usMax?: number) =>
    rowOfSamples({
      suite: "table 2",
      operation: `a commit at the gate, ${what}`,
      mode: "default",
      unit: "µs",
      size,
      goals: usMax === undefined ? [] : [{ figure: "median", value: usMax }],
    }, time(rules));
  return [
    row("without rules", undefined),
    row("with rules", plain, 5),
    row("with one look-up", looking, 15),
  ];
}

/** What a client writes offline, after its server has all of its items. */
async function written(
  server: Server,
  size: number,
): Promise<(readonly [PeerSession, Asked])[]> {
  const db = await openDatabase({
    storage: memoryStorage(),
    rootKey: server.rootKey,
    schemas: [ItemSchema],
  });
  const repository = await db.repository(NAME);
  const items = repository.collection(ItemSchema);
  const connection = db.connect(server.url, { session: { anonymous: true } });
  for (let from = 0; from < size; from += 1_000) {
    await items.createMany(itemsBetween(from, from + 1_000)).synced;
  }
  await connection.close();
  await server.close();
  const port = replicaOf(repository).port();
  const from = port.shareable;
  const ids = items.query().orderBy("rank").limit(1_000).run();
  for (const [i, { id }] of ids.entries()) {
    await items.update(id, { title: `${i}` });
  }
  const session = { key: db.sessionKey, mayIssue: false } as PeerSession;
  const asked = commitsFrom(port, from);
  await db.close();
  return asked.map((one) => [session, one]);
}

function commitsFrom(
  port: Pick<RepositoryPort, "shareable" | "read">,
  from: number,
): Asked[] {
  const asked: Asked[] = [];
  for (let at = from; at < port.shareable;) {
    const slice = port.read(at, 1 << 20);
    for (const { kind, bytes } of slice.records) {
      if (kind !== recordKind.signedBatch) continue;
      const batch = decodeBatch(bytes.slice(), true);
      for (const [i, commit] of batch.commits.entries()) {
        const first = batch.first + i;
        const patches = [decodePatch(payloadOf(batch, commit))];
        asked.push([{ ...batch, first, commits: [commit] }, 0, () => patches]);
      }
    }
    at = slice.next;
  }
  return asked;
}
