/**
 * The bytes of what is signed beside commits, of payloads change by change, and of
 * small files, pinned for other languages: whoever changes them changes the format.
 */

import { deepEqual, equal, throws } from "node:assert/strict";
import { createSigner, sha256, verify } from "../../crypto/mod.ts";
import {
  decodeErasure,
  encodeErasure,
  redactionLayout,
} from "../../repo/commit/redaction.ts";
import { issueRevocation } from "../../repo/commit/revocation.ts";
import { statementLayout } from "../../repo/commit/statement.ts";
import { nameOf } from "../../repo/commit/commit.ts";
import { encodeMark, orderAfter, orderStart } from "../../repo/log/order.ts";
import { epochFile } from "../../repo/log/log_stores.ts";
import { rewritingFile } from "../../repo/redaction/rewriting.ts";
import { fromHex, toHex } from "../../src/base/bytes.ts";
import { encodeFile } from "../../src/base/layout.ts";
import { NumberRanges } from "../../src/base/number_ranges.ts";
import { encodeKeys } from "../../src/db/keyring_file.ts";
import { resumeFile } from "../../src/db/repository_link.ts";
import { erase } from "../../src/schema/erasure.ts";
import { lateRich } from "../../src/schema/late_rich.ts";
import type {
  Change,
  FieldKind,
  Operation,
  Shape,
  Value,
} from "../../src/schema/patch.ts";
import { decodePatch, PatchWriter } from "../../src/schema/patch_codec.ts";
import { TextState } from "../../src/schema/text_state.ts";
import "../../mod.ts";
import vectors from "./format.json" with { type: "json" };

const { keys } = vectors;
const root = createSigner(fromHex(keys.rootSecret));
const session = createSigner(fromHex(keys.sessionSecret));
const genesisId = fromHex(vectors.genesis[0]!.id);
const chain = nameIn(`${toHex(session.publicKey)}${keys.incarnation}`);

Deno.test("the order of acceptance, and the marks that say it, are the pinned ones", () => {
  const epoch = fromHex(vectors.order.epoch);
  let order = orderStart(genesisId, epoch);
  equal(toHex(order), vectors.order.start);
  for (const { accepted, batches, ...then } of vectors.order.flushes) {
    const flush = batches.map(({ chain, commits, voids }) => {
      const ranges = new NumberRanges();
      for (const number of voids) ranges.add(number);
      return { chain: nameIn(chain), commits, voids: ranges };
    });
    order = orderAfter(order, { accepted, batches: flush });
    equal(toHex(order), then.order);
    equal(toHex(encodeMark({ epoch, accepted, order })), then.mark);
  }
});

/** Names are texts of one character a byte. */
function nameIn(hex: string): string {
  return nameOf(fromHex(hex), 0, hex.length / 2);
}

Deno.test("verify() gives the pinned verdicts on keys and points that are odd", () => {
  for (const { name, key, message, signature, valid } of vectors.signatures) {
    const [bytes, said] = [fromHex(signature), fromHex(message)];
    equal(verify(bytes, said, fromHex(key)), valid, name);
  }
});

Deno.test("revocation and statement bytes are the pinned ones", () => {
  for (const { cuts, wall, reason, bytes } of vectors.revocations) {
    const named = Object.entries(cuts)
      .map(([name, commits]) => [nameIn(name), commits] as const);
    const sessionKey = session.publicKey;
    const revocation = issueRevocation(
      { genesisId, sessionKey, cuts: new Map(named), wall, reason },
      root,
    );
    equal(toHex(revocation.bytes), bytes);
  }
  for (const { kind, wall, content, bytes } of vectors.statements) {
    const said = { genesisId, wall, content: fromHex(content) };
    equal(toHex(statementLayout(kind).sign(said, root).bytes), bytes);
  }
});

Deno.test("bytes of key, epoch and resume files are the pinned ones", () => {
  const { keys, epoch, resume } = vectors.files;
  const stored = {
    ...keys,
    rootKey: root.publicKey,
    root: { publicKey: root.publicKey, secret: fromHex(keys.root) },
    sessions: keys.sessions.map((
      { user, secret, certificate, others, lost },
    ) => ({
      user,
      key: {
        publicKey: session.publicKey,
        secret: secret === null ? undefined : fromHex(secret),
      },
      certificate: certificate === null ? undefined : fromHex(certificate),
      others: others.map(fromHex),
      lost: lost.map(fromHex),
    })),
  };
  equal(toHex(encodeKeys(stored)), keys.bytes);
  const kept = {
    ...epoch,
    epoch: fromHex(epoch.epoch),
  };
  equal(toHex(encodeFile(epochFile, kept)), epoch.bytes);
  const conversation = fromHex(resume.conversation);
  const known = { ...resume, genesisId, conversation };
  equal(toHex(encodeFile(resumeFile, known)), resume.bytes);
});

Deno.test("payload bytes are the pinned ones, for each kind of field and of change, and are read again", async () => {
  await lateRich.load();
  const whats = new Set<string>();
  for (const { bytes, ...vector } of vectors.payloads) {
    const operation = operationOf(vector as PayloadVector);
    equal(payloadOf(operation), bytes);
    const [read] = decodePatch(fromHex(bytes)).operations;
    equal(JSON.stringify(read), JSON.stringify(operation));
    equal(payloadOf(read!), bytes);
    const { kind, change } = vector;
    whats.add(change === undefined ? kind : `change ${change.what}`);
  }
  equal(whats.size, 13 + 11, "kinds of fields and of changes");
  equal(payloadOf(), "010000");
});

Deno.test("decodePatch() refuses each other spelling of a payload, and takes the one that a writer makes", async () => {
  await lateRich.load();
  for (const { why, bytes, instead } of vectors.refusedPayloads) {
    throws(() => decodePatch(fromHex(bytes)), SyntaxError, why);
    const { operations } = decodePatch(fromHex(instead));
    equal(payloadOf(...operations), instead, why);
  }
});

Deno.test("redaction, erasure and rewriting bytes are the pinned ones, and so is what is left of payloads, salted ones too", async () => {
  await lateRich.load();
  const chainsOf = (said: typeof vectors.redactions[0]["chains"]) =>
    said.map(({ chain, commits }) => ({
      chain: nameIn(chain),
      commits: commits.map(({ number, was, is }) => ({
        ...{ number, was: fromHex(was), is: fromHex(is) },
      })),
    }));
  for (const { bytes, chains, ...said } of vectors.redactions) {
    const fields = { genesisId, ...said, chains: chainsOf(chains) };
    const signed = redactionLayout.sign(fields, root);
    equal(toHex(signed.bytes), bytes);
    deepEqual(redactionLayout.decode(fromHex(bytes)), signed);
  }
  for (const { bytes, isDone, chains } of vectors.erasures) {
    const said = { isDone, chains: chainsOf(chains) };
    equal(toHex(encodeErasure(said)), bytes);
    deepEqual(decodeErasure(fromHex(bytes)), {
      ...said,
      bytes: fromHex(bytes),
    });
  }
  const { edits, bytes } = vectors.files.rewriting;
  const rewriting = encodeFile(rewritingFile, {
    edits: edits.map(({ address, bytes }) => ({
      ...{ address, bytes: fromHex(bytes) },
    })),
  });
  equal(toHex(rewriting), bytes);
  for (const { payload, items, left, said, hash } of vectors.erased) {
    const bytes = fromHex(payload);
    equal(toHex(sha256(bytes)), hash);
    equal(toHex(erase(bytes, ({ id }) => items.includes(id))!), left);
    const writer = new PatchWriter();
    writer.begin();
    for (const one of decodePatch(bytes).operations) writer.add(one);
    const salt = said.salt === null ? undefined : fromHex(said.salt);
    equal(toHex(writer.finish(salt).payload), payload);
    decodePatch(fromHex(left));
  }
  // The records mean these payloads.
  const meant = vectors.redactions.flatMap(({ chains }) =>
    chains.flatMap(({ commits }) => commits.map(({ was, is }) => [was, is]))
  );
  const made = vectors.erased.map(({ hash, left }) => [
    hash,
    toHex(sha256(fromHex(left))),
  ]);
  deepEqual(meant, made);
});

function payloadOf(...operations: Operation[]): string {
  const writer = new PatchWriter();
  writer.begin();
  for (const operation of operations) writer.add(operation);
  return toHex(writer.finish().payload);
}

/** One operation on item "i" of collection "c", version 2, whose one field is "f". */
interface PayloadVector {
  readonly kind: FieldKind;
  readonly generation: number;
  readonly create?: unknown;
  /** As the payload's type says it, but for values. */
  readonly change?: { readonly what: string; readonly [part: string]: unknown };
}

function operationOf({ kind, generation, create, change }: PayloadVector) {
  const field = { name: "f", kind };
  const shape: Shape = { collection: "c", version: 2, fields: [field] };
  const head = { shape, id: "i", generation };
  const operation: Operation = change !== undefined
    ? {
      what: "update",
      ...head,
      changes: [{ field, change: changeOf(change) }],
    }
    : create !== undefined
    ? { what: "create", ...head, item: { id: "i", f: valueOf(create) } }
    : { what: "delete", ...head };
  return operation;
}

/** Values of JSON, but dates, bytes and what is absent are objects of one property. */
function valueOf(said: unknown): Value {
  const { date, bytes, absent, json } = Object(said);
  if (date !== undefined) return new Date(date);
  if (bytes !== undefined) return fromHex(bytes);
  if (absent !== undefined) return undefined;
  return json === undefined ? said as Value : json;
}

function changeOf({ what, ...parts }: NonNullable<PayloadVector["change"]>) {
  const all = Object.entries(parts).map(([name, part]) => {
    if (name === "value") return [name, valueOf(part)];
    if (name === "text") return [name, textOf(part as SaidText)];
    return what === "remove"
      ? [name, taggedOf(part as unknown[])]
      : [name, part];
  });
  return { what, ...Object.fromEntries(all) } as Change;
}

/** Each value with the number of adds that end: their stamps are the chain's commits. */
function taggedOf(values: unknown[]) {
  return values.map((value, wall) => ({
    value,
    tags: [{ wall: wall + 1, count: 2, chain }],
  }));
}

type SaidText = readonly {
  readonly client: number;
  readonly runs: readonly (readonly [
    clock: number,
    text: string | number,
    left: readonly [client: number, clock: number] | null,
    right: readonly [client: number, clock: number] | null,
  ])[];
  readonly gone: readonly (readonly [clock: number, length: number])[];
}[];

/** A number in the place of a run's text: so many deleted units. */
function textOf(clients: SaidText): TextState {
  const idOf = (id: readonly [number, number] | null) =>
    id === null ? undefined : { client: id[0], clock: id[1] };
  return new TextState(
    new Map(clients.map(({ client, runs, gone }) => [client, {
      runs: runs.map(([clock, text, left, right]) => ({
        clock,
        length: typeof text === "number" ? text : text.length,
        text: typeof text === "number" ? undefined : text,
        left: idOf(left),
        right: idOf(right),
      })),
      gone: gone.map(([clock, length]) => ({ clock, length })),
    }])),
  );
}
