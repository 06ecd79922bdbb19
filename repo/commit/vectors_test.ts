/**
 * The bytes of genesis, certificate and batches, pinned: whoever changes them
 * changes the log format, and has to say so there and here.
 */

import assert from "node:assert/strict";
import { createSigner } from "../../crypto/mod.ts";
import {
  ByteReader,
  ByteWriter,
  encodeText,
  fromHex,
  toHex,
} from "../../src/base/bytes.ts";
import vectors from "../../tests/vectors/format.json" with { type: "json" };
import {
  commitId,
  noneErased,
  writeSealedBatch,
} from "../../tests/kit/chain.ts";
import { decodeBatch, type Run, writeBatch } from "./batch.ts";
import {
  Certificates,
  decodeCertificate,
  issueCertificate,
} from "./certificate.ts";
import { chainStart, encodeHeader, idLength, joinChain } from "./commit.ts";
import {
  decodeGenesis,
  encodeGenesis,
  folderOf,
  genesisId,
  type Mode,
  parseRepositoryName,
} from "./genesis.ts";
import { digestOfSummary, Graph } from "../graph/graph.ts";
import { encodeVector, readVector } from "./version_vector.ts";
import { checkCertificate, verifyBatch } from "../admission/signature_check.ts";

const { keys } = vectors;
const root = createSigner(fromHex(keys.rootSecret));
const session = createSigner(fromHex(keys.sessionSecret));
const chain = joinChain(session.publicKey, fromHex(keys.incarnation));
const otherChain = joinChain(root.publicKey, fromHex(keys.incarnation));

function modeOf(text: string): Mode {
  assert.ok(text === "default" || text === "trusted" || text === "fast");
  return text;
}

Deno.test("genesis bytes, ids and folders are the pinned ones", () => {
  assert.equal(vectors.genesis.length, 3);
  for (const { name, mode, bytes, id, folder } of vectors.genesis) {
    const genesis = {
      name: parseRepositoryName(name),
      rootKey: root.publicKey,
      mode: modeOf(mode),
    };
    assert.equal(toHex(encodeGenesis(genesis)), bytes);
    assert.deepEqual(decodeGenesis(fromHex(bytes)), genesis);
    assert.equal(toHex(genesisId(fromHex(bytes))), id);
    assert.equal(folderOf(genesis.name), folder);
  }
});

Deno.test("certificate bytes are the pinned ones, and sound", () => {
  assert.equal(vectors.certificates.length, 3);
  for (const { bytes, ...fields } of vectors.certificates) {
    const certificate = issueCertificate(
      { ...fields, sessionKey: session.publicKey },
      root,
    );
    assert.equal(toHex(certificate.bytes), bytes);
    const decoded = decodeCertificate(fromHex(bytes));
    assert.deepEqual(decoded, certificate);
    const known = new Certificates();
    assert.equal(checkCertificate(decoded, root.publicKey, known), undefined);
  }
});

/** The run that the batch vectors describe. */
function pinnedRun(): Run {
  const commits = vectors.batch.commits.map((commit) => ({
    header: encodeHeader({
      wall: commit.wall,
      count: commit.count,
      parents: commit.parents.map((number) => ({ chain: otherChain, number })),
    }),
    payload: encodeText(commit.payload),
    payloadAt: -1,
  }));
  return { chain, first: vectors.batch.first, commits };
}

Deno.test("batch bytes, ids and seals are the pinned ones, and sound", () => {
  const { batch } = vectors;
  const id = fromHex(vectors.genesis[0]!.id);
  const start = chainStart(id, chain);
  assert.equal(toHex(start), batch.start);
  const run = pinnedRun();
  const writer = new ByteWriter();
  writeBatch(writer, run);
  assert.equal(toHex(writer.view()), batch.unsigned);
  writer.clear();
  writeSealedBatch(writer, run, start, id, session);
  assert.equal(toHex(writer.view()), batch.signed);

  const decoded = decodeBatch(fromHex(batch.signed), true);
  let previous: Uint8Array = start;
  for (const [i, { header, payload }] of run.commits.entries()) {
    previous = commitId(previous, header, payload);
    assert.equal(toHex(previous), batch.commits[i]!.id);
  }
  assert.deepEqual(verifyBatch(decoded, start, id, noneErased), previous);
});

Deno.test("graph, digest and vector bytes are the pinned ones", () => {
  const id = fromHex(vectors.genesis[0]!.id);
  const graph = new Graph(id);
  graph.add(otherChain, { wall: 1, count: 2, parents: [] });
  graph.setHashed(otherChain, 1, new Uint8Array(idLength).fill(3));
  const batch = decodeBatch(fromHex(vectors.batch.signed), true);
  for (let i = 1; i < 301; i++) {
    graph.add(otherChain, { wall: 1, count: 2 + i, parents: [] });
  }
  const lastId = fromHex(vectors.batch.commits.at(-1)!.id);
  graph.addBatch(batch, lastId);
  graph.setHashed(otherChain, 301, new Uint8Array(idLength).fill(4));
  assert.equal(toHex(graph.encode()), vectors.graph.bytes);
  assert.equal(
    toHex(digestOfSummary(id, graph.summary()!)),
    vectors.graph.digest,
  );
  assert.equal(toHex(encodeVector(graph.vector())), vectors.graph.vector);
  assert.deepEqual(
    readVector(new ByteReader(fromHex(vectors.graph.vector))),
    graph.vector(),
  );
  const decoded = Graph.decode(fromHex(vectors.graph.bytes), id);
  assert.deepEqual(decoded.encode(), graph.encode());
});
