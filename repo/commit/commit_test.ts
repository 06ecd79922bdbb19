import assert from "node:assert/strict";
import fc from "fast-check";
import { sha256 } from "../../crypto/mod.ts";
import { throwsOnlySyntaxError } from "../../tests/kit/garbage.ts";
import { ByteReader, concatBytes, encodeText } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { commitId } from "../../tests/kit/chain.ts";
import {
  chainBytes,
  ChainHash,
  chainHex,
  chainName,
  chainStart,
  displayChain,
  encodeHeader,
  type Header,
  joinChain,
  readParents,
  sessionKeyOf,
} from "./commit.ts";

const allBytes = Uint8Array.from({ length: 256 }, (_, i) => i);
const chains = fc.uint8Array({ minLength: 40, maxLength: 40 }).map((bytes) =>
  chainName(bytes)
);
const own = chainName(new Uint8Array(40).fill(7));
const positions = fc.record(
  { chain: chains, number: fc.maxSafeNat() },
  { noNullPrototype: true },
);
const headers: fc.Arbitrary<Header> = fc.record({
  wall: fc.nat(2 ** 31 - 1).map((n) => n * 2 ** 17),
  count: fc.nat(2 ** 16 - 1),
  parents: fc.uniqueArray(positions, {
    maxLength: limits.parentsMax,
    selector: ({ chain }) => chain,
  }).map((parents) => parents.sort((a, b) => a.chain < b.chain ? -1 : 1)),
}, { noNullPrototype: true });

function readHeader(bytes: Uint8Array): Header {
  const reader = new ByteReader(bytes);
  const header = {
    wall: reader.u48(),
    count: reader.u16(),
    parents: readParents(reader, own),
  };
  if (!reader.done) throw new SyntaxError("There is more");
  return header;
}

Deno.test("chainName() and chainBytes() carry every byte through", () => {
  for (let at = 0; at + 40 <= 256; at++) {
    const name = chainName(allBytes, at);
    assert.equal(name.length, 40);
    assert.equal(name.charCodeAt(39), at + 39);
    assert.deepEqual(chainBytes(name), allBytes.slice(at, at + 40));
  }
});

Deno.test("chainHex() is right for more chains than it remembers, also when asked again", () => {
  for (let turn = 0; turn < 2; turn++) {
    for (let at = 0; at + 40 <= 256; at++) {
      const hex = allBytes.slice(at, at + 40).toHex();
      assert.equal(chainHex(chainName(allBytes, at)), hex);
      assert.equal(
        chainHex(chainName(allBytes)),
        allBytes.slice(0, 40).toHex(),
      );
    }
  }
});

Deno.test("chain names compare as their bytes do", () => {
  fc.assert(
    fc.property(chains, chains, (a, b) => {
      const hexA = chainBytes(a).toHex();
      const hexB = chainBytes(b).toHex();
      assert.equal(a < b, hexA < hexB);
    }),
    { seed: 1 },
  );
});

Deno.test("joinChain() names a key and an incarnation", () => {
  const name = joinChain(allBytes.slice(200, 232), allBytes.slice(0, 8));
  assert.deepEqual(sessionKeyOf(name), allBytes.slice(200, 232));
  assert.equal(displayChain(name), "c8c9cacb-0001");
});

Deno.test("a header survives encoding", () => {
  fc.assert(
    fc.property(headers, (header) => {
      assert.deepEqual(readHeader(encodeHeader(header)), header);
    }),
    { seed: 2 },
  );
});

Deno.test("a header's nine bytes are wall u48, counter u16, parents u8", () => {
  const wall = 0x123456789abc;
  const header = encodeHeader({ wall, count: 0xfedc, parents: [] });
  assert.equal(header.toHex(), "bc9a78563412" + "dcfe" + "00");
});

Deno.test("readParents() throws only SyntaxError on damaged bytes, and takes one form only", () => {
  const parents = [
    { chain: chainName(allBytes, 0), number: 5 },
    { chain: chainName(allBytes, 99), number: 2 ** 40 },
  ];
  const bytes = encodeHeader({ wall: 1, count: 2, parents });
  throwsOnlySyntaxError(bytes, (damaged) => {
    assert.deepEqual(encodeHeader(readHeader(damaged)), damaged);
  });
});

Deno.test("readParents() refuses disorder, repetition, the own chain and a seventeenth", () => {
  const at = (chain: string) =>
    concatBytes(chainBytes(chain), Uint8Array.of(0));
  const [low, high] = [chainName(allBytes, 0), chainName(allBytes, 99)];
  const many = Array.from({ length: 17 }, (_, i) => chainName(allBytes, i));
  for (const bad of [[high, low], [low, low], [own], many]) {
    const bytes = concatBytes(
      Uint8Array.of(bad.length),
      ...bad.map(at),
    );
    assert.throws(() => readParents(new ByteReader(bytes), own), SyntaxError);
  }
  const good = concatBytes(Uint8Array.of(16), ...many.slice(0, 16).map(at));
  assert.equal(readParents(new ByteReader(good), own).length, 16);
});

Deno.test("commitId() is SHA-256 of previous id, header and the payload's hash", () => {
  fc.assert(
    fc.property(headers, fc.uint8Array(), (header, payload) => {
      const previous = sha256(payload);
      const bytes = encodeHeader(header);
      assert.deepEqual(
        commitId(previous, bytes, payload),
        sha256(previous, bytes, sha256(payload)),
      );
    }),
    { seed: 3 },
  );
});

Deno.test("ChainHash goes along a chain as commitId() does step by step", () => {
  const hash = new ChainHash().start(allBytes.slice(0, 32));
  let id: Uint8Array = allBytes.slice(0, 32);
  for (let i = 0; i < 20; i++) {
    const parents = i % 2 === 0 ? [] : [{ chain: own, number: i }];
    const header = encodeHeader({ wall: i, count: i, parents });
    const payload = allBytes.slice(0, i);
    id = commitId(id, header, payload);
    hash.next(header, payload);
    assert.deepEqual(hash.id, id);
  }
});

Deno.test("chainStart() depends on the genesis and the chain", () => {
  const [a, b] = [sha256(encodeText("a")), sha256(encodeText("b"))];
  const other = chainName(allBytes);
  const starts = [chainStart(a, own), chainStart(b, own), chainStart(a, other)];
  assert.equal(new Set(starts.map((start) => start.toHex())).size, 3);
});
