import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { limits } from "../../src/base/limits.ts";
import { recordKind } from "../log/format.ts";
import {
  BEGINNING,
  type Cut,
  decodeCut,
  decodeRefusal,
  decodeResolution,
  encodeCut,
  encodeRefusal,
  encodeResolution,
  type Refusal,
  REISSUED,
  resolveIn,
  VoidCommits,
} from "./void_commits.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);
const C = "c".repeat(40);

const cuts: Cut[] = [{ chain: A, from: 4 }, { chain: B, from: 0 }];

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

/** The same, to be written again. */
const lost: Refusal = {
  chain: A,
  refused: [{ ...denied.refused[0]!, number: 6, wall: 60, reason: REISSUED }],
};

Deno.test("decoders read what was written of cuts, refusals and resolutions", () => {
  deepEqual(decodeCut(encodeCut(cuts)), cuts);
  deepEqual(decodeRefusal(encodeRefusal(denied)), denied);
  for (
    const retried of [undefined, { chain: C, number: 7, wall: 60, count: 2 }]
  ) {
    const resolution = { chain: A, number: 5, retried };
    deepEqual(decodeResolution(encodeResolution(resolution)), resolution);
  }
});

const decoders = [decodeCut, decodeRefusal, decodeResolution];

Deno.test("garbage is no record, and never anything but a SyntaxError", () => {
  const bodies = [
    encodeCut(cuts),
    encodeRefusal(denied),
    encodeResolution({ chain: A, number: 1, retried: undefined }),
  ];
  for (const body of bodies) {
    for (let end = 0; end < body.length; end++) {
      for (const decode of decoders) {
        throws(() => decode(body.subarray(0, end)), SyntaxError);
      }
    }
  }
  throws(() => decodeCut(encodeCut([])), SyntaxError);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const decode of decoders) {
        try {
          decode(Uint8Array.of(1, ...bytes));
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
  const read = decodeRefusal(encodeRefusal(long));
  equal(read.refused[0]!.detail, "é".repeat(limits.refusalTextBytesMax / 2));
});

Deno.test("a cut voids what stands before it, and its chains do not go on", () => {
  const all = new VoidCommits();
  all.cut(1000, cuts);
  ok(all.hasCut(1000) && !all.hasCut(1001));
  deepEqual(
    [[4, 999], [3, 999], [5, 1001]].map(([number, address]) =>
      all.isCut(A, number!, address!)
    ),
    [true, false, false],
  );
  ok(all.isCut(B, 0, 10) && !all.isCut(C, 0, 10));
  ok(!all.isCut(A, 4, 999, 1000), "not yet, when the log ended there");
  deepEqual([A, B, C].map((chain) => all.isEnded(chain)), [true, true, false]);
});

Deno.test("a refusal voids what stands before it, and its chain stays open", () => {
  const all = new VoidCommits();
  all.refuse(1000, denied);
  ok(all.hasRefusal(1000) && !all.hasRefusal(1001));
  deepEqual(
    [[5, 999], [5, 1001], [4, 999], [6, 999]].map(([number, address]) =>
      all.wasRefused(A, number!, address!)
    ),
    [true, false, false, false],
  );
  ok(!all.wasRefused(A, 5, 999, 1000), "not yet, when the log ended there");
  ok(!all.isEnded(A) && !all.isCut(A, 0, 0));
  ok(all.isRefused({ wall: 50, count: 0, chain: A }));
  ok(!all.isRefused({ wall: 50, count: 1, chain: A }));
  ok(all.placeOf({ chain: A, number: 5 }).isRefused);
  ok(!all.placeOf({ chain: A, number: 4 }).isRefused);
});

Deno.test("refusals and cuts survive a checkpoint, and so does what became of them", () => {
  const all = new VoidCommits();
  all.refuse(900, denied);
  all.cut(1000, cuts);
  const copy = () => VoidCommits.decode(all.encode());
  deepEqual([copy().refused, copy().cuts], [all.refused, all.cuts]);
  const retried = { chain: C, number: 9, wall: 90, count: 0 };
  ok(all.stands({ chain: A, number: 5 }));
  all.resolve({ chain: A, number: 5, retried });
  ok(!all.stands({ chain: A, number: 5 }), "once");
  deepEqual(copy().refused, []);
  // Who named the refused commit means the one that says the same again.
  deepEqual(copy().stampOf({ wall: 50, count: 0, chain: A }), retried);
});

Deno.test("a commit that is written again is kept under its new name, and refused where that one is", () => {
  const all = new VoidCommits();
  all.refuse(900, lost);
  const stamp = { wall: 60, count: 0, chain: A };
  deepEqual(all.unissued, all.refused);
  const written = { chain: A, number: 6 };
  deepEqual(all.placeOf(written), { ...written, isRefused: false });
  ok(!all.isRefused(stamp));
  const retried = { chain: B, number: 0, wall: 55, count: 0 };
  ok(all.stands({ chain: A, number: 6 }));
  all.resolve({ chain: A, number: 6, retried });
  const now = () => VoidCommits.decode(all.encode());
  const place = { chain: B, number: 0 };
  deepEqual(now().placeOf(written), { ...place, isRefused: false });
  ok(!now().isRefused(stamp));
  deepEqual([...now().lost()], []);
  all.refuse(1000, {
    chain: B,
    refused: [{ ...denied.refused[0]!, number: 0, wall: 55 }],
  });
  deepEqual(now().placeOf(written), { ...place, isRefused: true });
  ok(now().isRefused(stamp));
  deepEqual([...now().lost()].map(({ chain }) => chain), [B]);
});

Deno.test("what became of a commit is written down once, and that a chain begins only by who begins it", () => {
  const voided = new VoidCommits();
  voided.refuse(900, denied);
  const written: number[] = [];
  const loaded = {
    voided,
    log: { append: (kind: number) => written.push(kind) },
  };
  const discarded = { chain: A, number: 5, retried: undefined };
  equal(resolveIn(loaded, discarded), true);
  equal(resolveIn(loaded, discarded), false);
  equal(written.join(), `${recordKind.resolution}`);
  const beginning = { chain: A, number: BEGINNING, retried: undefined };
  equal(resolveIn(loaded, beginning), false);
  equal(voided.begun, A);
  equal(written.length, 1);
});

Deno.test("a chain that was noted to begin is the latest until it is cut", () => {
  const all = new VoidCommits();
  all.resolve({ chain: A, number: BEGINNING, retried: undefined });
  deepEqual(all.refused, []);
  equal(VoidCommits.decode(all.encode()).begun, A);
  all.cut(1000, cuts);
  equal(VoidCommits.decode(all.encode()).begun, undefined);
});

Deno.test("stamps that name each other in a circle are followed to an end", () => {
  const all = new VoidCommits();
  all.refuse(900, lost);
  all.refuse(901, denied);
  const of = (number: number, wall: number) => ({
    chain: A,
    number,
    wall,
    count: 0,
  });
  all.resolve({ chain: A, number: 6, retried: of(5, 50) });
  all.resolve({ chain: A, number: 5, retried: of(6, 60) });
  equal(all.stampOf(of(6, 60)).chain, A);
  ok(all.isRefused(of(6, 60)));
});
