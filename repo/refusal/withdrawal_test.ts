import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { ByteReader } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import {
  decodeRefusal,
  decodeResolution,
  decodeWithdrawal,
  encodeRefusal,
  encodeResolution,
  encodeWithdrawal,
  type Refusal,
  type Withdrawal,
  Withdrawals,
} from "./withdrawals.ts";
import { NewParents } from "./withdraw.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);
const C = "c".repeat(40);

const first: Withdrawal = {
  cuts: [
    { chain: A, from: 4, after: { wall: 40, count: 1 } },
    { chain: B, from: 0, after: { wall: 0, count: 0 } },
  ],
  closed: ["e".repeat(40)],
  chain: C,
  count: 3,
};

const denied: Refusal = {
  chain: A,
  refused: [{
    number: 5,
    wall: 50,
    count: 0,
    address: 1234,
    reason: "denied",
    rule: "team/{team} task.update",
    detail: "née",
    kept: true,
  }],
};

Deno.test("decoders read what was written of withdrawals, refusals and resolutions", () => {
  const body = encodeWithdrawal(first);
  deepEqual(decodeWithdrawal(new ByteReader(body)), first);
  deepEqual(decodeRefusal(new ByteReader(encodeRefusal(denied))), denied);
  for (
    const retried of [undefined, { chain: C, number: 7, wall: 60, count: 2 }]
  ) {
    const resolution = { chain: A, number: 5, retried };
    const bytes = encodeResolution(resolution);
    deepEqual(decodeResolution(new ByteReader(bytes)), resolution);
  }
});

const decoders = [decodeWithdrawal, decodeRefusal, decodeResolution];

Deno.test("garbage is no record, and never anything but a SyntaxError", () => {
  const bodies = [
    encodeWithdrawal(first),
    encodeRefusal(denied),
    encodeResolution({ chain: A, number: 1, retried: undefined }),
  ];
  for (const body of bodies) {
    for (let end = 0; end < body.length; end++) {
      for (const decode of decoders) {
        throws(
          () => decode(new ByteReader(body.subarray(0, end))),
          SyntaxError,
        );
      }
    }
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const decode of decoders) {
        try {
          decode(new ByteReader(Uint8Array.of(1, ...bytes)));
        } catch (error) {
          ok(error instanceof SyntaxError);
        }
      }
    }),
    { seed: 7 },
  );
});

Deno.test("what a server says of a refusal is kept up to a limit, in whole characters", () => {
  const detail = "é".repeat(limits.refusalTextBytesMax) + "\ud800";
  const [refused] = denied.refused;
  const long = { ...denied, refused: [{ ...refused!, detail }] };
  const read = decodeRefusal(new ByteReader(encodeRefusal(long)));
  equal(read.refused[0]!.detail, "é".repeat(limits.refusalTextBytesMax / 2));
});

Deno.test("a withdrawal voids what stands before it, and closes its chains", () => {
  const all = new Withdrawals();
  all.add(1000, first);
  deepEqual([all.endOf(A, 999), all.endOf(A, 1001)], [4, Infinity]);
  deepEqual([all.endOf(B, 10), all.endOf(C, 10)], [0, Infinity]);
  const closed = [A, B, "e".repeat(40), C];
  deepEqual(closed.map((chain) => all.isClosed(chain)), [
    true,
    true,
    true,
    false,
  ]);
  // C is withdrawn in its turn.
  all.add(2000, {
    ...first,
    cuts: [{ chain: C, from: 1, after: { wall: 41, count: 0 } }],
    chain: "d".repeat(40),
  });
  const stamp = { wall: 50, count: 0, chain: A };
  deepEqual(all.stampOf(stamp), { ...stamp, chain: "d".repeat(40) });
  const kept = { wall: 40, count: 1, chain: A };
  ok(all.stampOf(kept) === kept);
});

Deno.test("a refusal voids what stands before it, and its chain stays open", () => {
  const all = new Withdrawals();
  all.refuse(1000, denied);
  ok(all.hasRefusal(1000) && !all.hasRefusal(1001));
  deepEqual(
    [[5, 999], [5, 1001], [4, 999], [6, 999]].map(([number, address]) =>
      all.wasRefused(A, number!, address!)
    ),
    [true, false, false, false],
  );
  ok(!all.wasRefused(A, 5, 999, 1000), "not yet, when the log ended there");
  ok(!all.isClosed(A) && all.endOf(A, 0) === Infinity);
  ok(all.isRefused({ wall: 50, count: 0, chain: A }));
  ok(!all.isRefused({ wall: 50, count: 1, chain: A }));
});

Deno.test("refusals survive a checkpoint, and so does what became of them", () => {
  const all = new Withdrawals();
  all.refuse(900, denied);
  all.add(1000, first);
  const copy = () => Withdrawals.decode(new ByteReader(all.encode()));
  deepEqual(copy().refused, all.refused);
  const retried = { chain: C, number: 9, wall: 90, count: 0 };
  ok(all.resolve({ chain: A, number: 5, retried }));
  ok(!all.resolve({ chain: A, number: 5, retried }), "once");
  deepEqual(copy().refused, []);
  // Who named the refused commit means the one that says the same again.
  deepEqual(copy().stampOf({ wall: 50, count: 0, chain: A }), retried);
});

Deno.test("a commit in the new chain keeps its parents and inherits those of refused ones", () => {
  const chains = Array.from(
    { length: 20 },
    (_, i) => String.fromCharCode(100 + i).repeat(40),
  );
  const commit = (
    number: number,
    parents: { chain: string; number: number }[],
  ) => ({
    chain: A,
    number,
    wall: number,
    count: 0,
    parents,
    address: 0,
    isEmpty: false,
    isRefused: false,
  });
  const parents = new NewParents([{
    chain: A,
    from: 4,
    after: { wall: 0, count: 0 },
  }]);
  parents.follow(commit(4, [{ chain: chains[0]!, number: 1 }])); // Refused.
  parents.follow(commit(5, [{ chain: chains[1]!, number: 2 }]));
  deepEqual(parents.take(), [
    { chain: A, number: 3 },
    { chain: chains[0], number: 1 },
    { chain: chains[1], number: 2 },
  ]);
  parents.follow(commit(6, []));
  deepEqual(parents.take(), []);
  // More than a commit may name: its own first, the others with the next one.
  parents.follow(
    commit(7, chains.slice(0, 10).map((chain) => ({ chain, number: 5 }))),
  ); // Refused.
  parents.follow(
    commit(8, chains.slice(4, 20).map((chain) => ({ chain, number: 6 }))),
  );
  deepEqual(
    parents.take(),
    chains.slice(4, 20).map((chain) => ({ chain, number: 6 })),
  );
  parents.follow(commit(9, []));
  deepEqual(
    parents.take(),
    chains.slice(0, 4).map((chain) => ({ chain, number: 5 })),
  );
});
