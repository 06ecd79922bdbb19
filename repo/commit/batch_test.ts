import assert from "node:assert/strict";
import fc from "fast-check";
import {
  dayOne,
  prepare,
  Replica,
  signerOf,
  Writer,
} from "../../tests/kit/door.ts";
import { throwsOnlySyntaxError } from "../../tests/kit/garbage.ts";
import { ByteWriter } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { isTried, sized } from "../../tests/kit/tier.ts";
import {
  type Batch,
  batchLength,
  decodeBatch,
  hashBatch,
  payloadOf,
  type PreparedCommit,
  type Run,
  writeBatch,
} from "./batch.ts";
import { bytesOf } from "./batch_parts.ts";
import {
  commitId,
  noneErased,
  writeSealedBatch,
} from "../../tests/kit/chain.ts";
import { chainStart, encodeHeader, joinChain } from "./commit.ts";
import { verifyBatch } from "../admission/signature_check.ts";

const signer = signerOf(1);
const chain = joinChain(signer.publicKey, new Uint8Array(8));
const other = joinChain(signerOf(2).publicKey, new Uint8Array(8));
const { genesisId } = new Replica();
const start = chainStart(genesisId, chain);

function runOf(payloads: readonly string[], first = 0): Run {
  const commits = payloads.map((payload, i) =>
    prepare({
      wall: dayOne + i,
      count: i,
      parents: i === 1 ? [{ chain: other, number: 300 }] : [],
    }, payload)
  );
  return { chain, first, commits };
}

function sealed(run: Run, previousId = start): Uint8Array {
  const writer = new ByteWriter();
  writeSealedBatch(writer, run, previousId, genesisId, signer);
  return writer.copy();
}

function unsealed(run: Run): Uint8Array {
  const writer = new ByteWriter();
  writeBatch(writer, run);
  return writer.copy();
}

function textsOf(batch: Batch): string[] {
  const decoder = new TextDecoder();
  return batch.commits.map((commit) =>
    decoder.decode(payloadOf(batch, commit))
  );
}

Deno.test("decodeBatch() gives back what was written, sealed or not", () => {
  const payloads = fc.array(fc.string(), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(payloads, fc.nat(2 ** 31), (payloads, first) => {
      const run = runOf(payloads, first);
      for (const bytes of [sealed(run), unsealed(run)]) {
        const batch = decodeBatch(bytes, bytes.length > unsealed(run).length);
        assert.deepEqual(
          textsOf(batch),
          textsOf(decodeBatch(unsealed(run), false)),
        );
        assert.equal(batch.chain, chain);
        assert.equal(batch.first, first);
        for (const [i, commit] of batch.commits.entries()) {
          const { header, payload, payloadAt } = run.commits[i]!;
          assert.equal(commit.payloadAt, payloadAt, "where the writer said");
          assert.deepEqual(payloadOf(batch, commit), payload);
          assert.deepEqual(encodeHeader(commit), header);
          assert.deepEqual(
            bytesOf(batch, commit).subarray(0, header.length),
            header,
          );
        }
      }
    }),
    { seed: 1, numRuns: sized(30, 60) },
  );
});

Deno.test("writeBatch() appends after what is there, and copies large payloads once", () => {
  const commits = [largeCommit(1 << 20), largeCommit(20 << 20)];
  const run: Run = { chain, first: 0, commits };
  const writer = new ByteWriter(64);
  writer.u32(7);
  let grown = 0;
  const reserve = writer.reserve.bind(writer);
  writer.reserve = (more) => {
    const before = writer.view().buffer;
    reserve(more);
    if (writer.view().buffer !== before) grown++;
  };
  writeBatch(writer, run);
  assert.equal(grown, 1, "the buffer grows before the payloads come");
  const [commit] = decodeBatch(writer.view(4), false).commits;
  assert.equal(commit!.payloadAt, commits[0]!.payloadAt);
  assert.ok(writer.length - 4 <= batchLength(run));
});

function largeCommit(length: number): PreparedCommit {
  const header = encodeHeader({ wall: dayOne, count: 0, parents: [] });
  return { header, payload: new Uint8Array(length), payloadAt: -1 };
}

Deno.test("writeSealedBatch() gives the id that commitId() gives step by step", () => {
  const run = runOf(["a", "b", "c"]);
  const writer = new ByteWriter();
  const lastId = writeSealedBatch(writer, run, start, genesisId, signer);
  const ids: Uint8Array[] = [];
  let id: Uint8Array = start;
  for (const { header, payload } of run.commits) {
    ids.push(id = commitId(id, header, payload));
  }
  assert.deepEqual(lastId, id);
  const batch = decodeBatch(writer.view(), true);
  assert.deepEqual(hashBatch(batch, ids[0]!, noneErased, 1), id);
  assert.deepEqual(verifyBatch(batch, start, genesisId, noneErased), id);
  assert.deepEqual(verifyBatch(batch, ids[1]!, genesisId, noneErased, 2), id);
});

Deno.test("ids do not depend on where batches begin and end", () => {
  const texts = ["a", "b", "c", "d"];
  const whole = decodeBatch(sealed(runOf(texts)), true);
  for (let cut = 1; cut < texts.length; cut++) {
    const { commits } = runOf(texts);
    const head = { chain, first: 0, commits: commits.slice(0, cut) };
    const tail = { chain, first: cut, commits: commits.slice(cut) };
    const middle = hashBatch(
      decodeBatch(sealed(head), true),
      start,
      noneErased,
    );
    const batch = decodeBatch(sealed(tail, middle), true);
    const last = verifyBatch(batch, middle, genesisId, noneErased);
    assert.deepEqual(last, hashBatch(whole, start, noneErased));
  }
});

Deno.test("verifyBatch() refuses another predecessor, genesis or signer", () => {
  const batch = decodeBatch(sealed(runOf(["a"])), true);
  const wrong = new Uint8Array(32);
  const refusal = { refused: "bad-signature" };
  assert.deepEqual(verifyBatch(batch, wrong, genesisId, noneErased), refusal);
  assert.deepEqual(verifyBatch(batch, start, wrong, noneErased), refusal);
  const writer = new ByteWriter();
  writeSealedBatch(writer, runOf(["a"]), start, genesisId, signerOf(2));
  const forged = decodeBatch(writer.view(), true);
  assert.deepEqual(verifyBatch(forged, start, genesisId, noneErased), refusal);
  const plain = decodeBatch(unsealed(runOf(["a"])), false);
  assert.equal(
    Reflect.get(verifyBatch(plain, start, genesisId, noneErased), "refused"),
    "unsigned",
  );
});

Deno.test("every flipped bit of a sealed batch is a SyntaxError or a bad signature", () => {
  const bytes = sealed(runOf(["first payload", "second payload"]));
  let tried = 0;
  let outcomes = 0;
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    if (!isTried(bit, 13)) continue;
    tried++;
    const flipped = bytes.slice();
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    let batch: Batch;
    try {
      batch = decodeBatch(flipped, true);
    } catch (error) {
      assert.ok(error instanceof SyntaxError);
      outcomes++;
      continue;
    }
    // A replica takes the start from the chain and number that the batch names.
    const previousId = batch.chain === chain && batch.first === 0
      ? start
      : chainStart(genesisId, batch.chain);
    if (batch.chain === chain && batch.first !== 0) continue; // A gap: see the door.
    const verdict = verifyBatch(batch, previousId, genesisId, noneErased);
    assert.equal(
      Reflect.get(verdict, "refused"),
      "bad-signature",
      `bit ${bit}`,
    );
    outcomes++;
  }
  assert.ok(outcomes >= tried - 8);
});

Deno.test("decodeBatch() throws only SyntaxError on damaged bytes", () => {
  const run = runOf(["first", "second", ""]);
  throwsOnlySyntaxError(sealed(run), (bytes) => {
    checkForm(decodeBatch(bytes, true), 64);
  });
  throwsOnlySyntaxError(unsealed(run), (bytes) => {
    checkForm(decodeBatch(bytes, false), 0);
  });
});

/** What decodes has one form: written again it is the same bytes. */
function checkForm(batch: Batch, sealLength: number): void {
  const commits = batch.commits.map((commit) => ({
    header: encodeHeader(commit),
    payload: payloadOf(batch, commit),
    payloadAt: -1,
  }));
  const { bytes, chain, first } = batch;
  const again = unsealed({ chain, first, commits });
  assert.deepEqual(again, bytes.slice(0, bytes.length - sealLength));
}

Deno.test("decodeBatch() refuses counts and sizes over their limits", () => {
  const writer = new ByteWriter();
  const begin = (first: number, count: number) => {
    writer.clear();
    writer.u8(1);
    writer.bytes(new Uint8Array(40));
    writer.varint(first);
    writer.varint(count);
  };
  begin(0, 0);
  assert.throws(() => decodeBatch(writer.view(), false), SyntaxError);
  begin(0, limits.batchCommitsMax + 1);
  for (let i = 0; i <= limits.batchCommitsMax; i++) {
    writer.bytes(new Uint8Array(10));
  }
  assert.throws(() => decodeBatch(writer.view(), false), /count/);
  begin(0, limits.batchCommitsMax);
  for (let i = 0; i < limits.batchCommitsMax; i++) {
    writer.bytes(new Uint8Array(10));
  }
  assert.equal(decodeBatch(writer.view(), false).commits.length, 65_536);
  begin(Number.MAX_SAFE_INTEGER, 1);
  writer.bytes(new Uint8Array(10));
  assert.throws(() => decodeBatch(writer.view(), false), /count/);
  begin(0, 1);
  writer.bytes(new Uint8Array(9));
  writer.varint(limits.payloadBytesMax + 1);
  assert.throws(() => decodeBatch(writer.view(), false), /too large/);
});

Deno.test("a writer's batches decode to what it wrote, with its parents", () => {
  const replica = new Replica();
  const [ada, bob] = [new Writer(1, replica), new Writer(2, replica)];
  ada.write(["a"]);
  const { bytes } = bob.write(["b", "c"]);
  const batch = decodeBatch(bytes, true);
  assert.deepEqual(batch.commits[0]!.parents, [{
    chain: ada.chain,
    number: 0,
  }]);
  assert.deepEqual(batch.commits[1]!.parents, []);
  const { payload } = prepare({ wall: 0, count: 0, parents: [] }, "c");
  assert.deepEqual(payloadOf(batch, batch.commits[1]!), payload);
});
