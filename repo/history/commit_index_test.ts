import assert from "node:assert/strict";
import { dayOne, Replica, Writer } from "../../tests/kit/door.ts";
import { decodeBatch } from "../commit/batch.ts";
import { CommitIndex } from "./commit_reader.ts";

Deno.test("CommitIndex finds every commit of several chains", () => {
  const replica = new Replica("trusted");
  const writers = [1, 2, 3].map((seed) => new Writer(seed, replica));
  const index = new CommitIndex();
  const batches = Array.from({ length: 100 }, (_, i) => {
    const texts = Array.from({ length: 1 + i % 4 }, () => "x".repeat(i));
    const arrival = writers[i * i % 3]!.write(texts, dayOne + i);
    return decodeBatch(arrival.bytes, false);
  });
  batches.forEach((batch, i) => index.add(batch, i * 2 ** 40));
  for (const [i, { chain, first, commits }] of batches.entries()) {
    for (const [j, { wall, count, at }] of commits.entries()) {
      assert.deepEqual(index.find(chain, first + j), {
        wall,
        count,
        address: i * 2 ** 40,
        offset: at,
      });
    }
  }
  for (const { chain } of writers) {
    const length = replica.graph.lengthOf(chain);
    assert.equal(index.find(chain, length), undefined);
  }
  assert.equal(index.find("?", 0), undefined);
});

Deno.test("CommitIndex keeps the first place of a commit that is in two batches", () => {
  const ada = new Writer(1, new Replica("trusted"));
  const first = decodeBatch(ada.write(["a", "b"]).bytes, false);
  const index = new CommitIndex();
  index.add(first, 10);
  index.add(first, 20);
  assert.equal(index.find(ada.chain, 1)!.address, 10);
  assert.equal(index.find(ada.chain, 2), undefined);
});

Deno.test("CommitIndex stops at a gap", () => {
  const ada = new Writer(1, new Replica("trusted"));
  ada.write(["a"]);
  const second = decodeBatch(ada.write(["b"]).bytes, false);
  assert.throws(() => new CommitIndex().add(second, 0), /without gaps/);
});
