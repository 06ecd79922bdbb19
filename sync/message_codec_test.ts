import { NumberRanges } from "../src/base/number_ranges.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { chainName } from "../repo/commit/commit.ts";
import { recordKind } from "../repo/log/format.ts";
import { ByteWriter, concatBytes } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import { throwsOnlySyntaxError } from "../tests/kit/garbage.ts";
import { anyCharacter } from "../tests/kit/any_text.ts";
import { sized } from "../tests/kit/tier.ts";
import { type AuditQuery, type Message, wireVersion } from "./message.ts";
import { decodeMessage, encodeMessage } from "./message_codec.ts";

const SEED = 20_260_401;

const bytesOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length });
const bytes = fc.uint8Array({ maxLength: 40 });
const count = fc.maxSafeNat();
const u48 = fc.nat({ max: 2 ** 31 - 1 }).map((n) => n * 2 ** 17);
const text = fc.string({ unit: anyCharacter, maxLength: 60 });
const chain = bytesOf(40).map((bytes) => chainName(bytes));
const flag = fc.boolean();
const certificates = fc.array(bytes, { maxLength: limits.certificatesMax });
const channel = count;
const kind = fc.integer({ min: recordKind.certificate, max: 47 });
const u32 = fc.nat({ max: 2 ** 32 - 1 });
const place = { position: count, order: bytesOf(32) };
const cursor = fc.record({ epoch: bytesOf(16), ...place });
const voids = fc.array(fc.nat({ max: 99 }), { maxLength: 5 }).map((numbers) => {
  const ranges = new NumberRanges();
  for (const number of numbers) ranges.add(number);
  return ranges;
});
const named = { commits: fc.integer({ min: 100, max: 2 ** 40 }), voids };
const batch = fc.oneof(
  fc.record({ as: fc.constant(0), chain, ...named }),
  fc.record({ as: fc.integer({ min: 1, max: 300 }), ...named }),
);
const flush = fc.record({
  accepted: u48,
  batches: fc.array(batch, { maxLength: 4 }),
});
const progress = fc.option(
  fc.record({
    flushes: fc.array(flush, { maxLength: 4 }),
    place: fc.record(place),
  }),
  { nil: undefined },
);
const receipt = fc.option(
  fc.record({
    place: fc.option(fc.record(place), { nil: undefined }),
    wall: u48,
    path: fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), {
      maxLength: limits.receiptPathMax,
    }),
    summary: fc.uint8Array({ maxLength: 99 }),
    signature: fc.uint8Array({ minLength: 64, maxLength: 64 }),
  }),
  { nil: undefined },
);
const vector = fc.uniqueArray(
  fc.tuple(chain, fc.integer({ min: 1, max: 2 ** 50 })),
  { selector: ([name]) => name, maxLength: 5 },
).map((pairs) =>
  new Map(pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
);
const prefix = fc.array(fc.nat({ max: 15 }), { maxLength: 64 });
const query = fc.oneof(
  fc.constant<AuditQuery>({ ask: "summary" }),
  fc.record({
    ask: fc.constant("ids" as const),
    chain,
    numbers: fc.array(count, { maxLength: 20 }),
  }),
  fc.record({
    ask: fc.constantFrom("state" as const, "items" as const),
    prefix,
  }),
);
const part = fc.tuple(
  fc.uint8Array({ minLength: 1, maxLength: 40 }),
  fc.nat(1_000),
  fc.nat(1_000),
).map(([bytes, offset, more]) => ({
  bytes,
  offset,
  total: offset + bytes.length + more,
}));

type Arbitraries = {
  [Is in Message["is"]]: fc.Arbitrary<Omit<Extract<Message, { is: Is }>, "is">>;
};

const arbitraries: Arbitraries = {
  hello: fc.record({
    knows: u32,
    needs: u32,
    nonce: bytesOf(32),
    rootKey: bytesOf(32),
    name: text,
  }),
  prove: fc.record({
    knows: u32,
    needs: u32,
    nonce: bytesOf(32),
    window: count,
    certificates,
    signature: bytesOf(64),
  }),
  welcome: fc.record({
    features: u32,
    window: count,
    heartbeatMs: count,
    clock: u48,
    certificates,
    signature: bytesOf(64),
  }),
  open: fc.record({
    channel,
    name: text,
    genesisId: bytesOf(32),
    start: fc.oneof(
      fc.record({ from: fc.constant("cursor" as const), cursor }),
      fc.record({ from: fc.constant("vector" as const), vector }),
    ),
  }),
  opened: fc.record({
    channel,
    rights: fc.nat(255),
    epoch: bytesOf(16),
    commits: count,
    vector: fc.option(vector, { nil: undefined }),
    enforced: fc.array(text, { maxLength: 5 }),
  }),
  vector: fc.record({ channel, vector }),
  declined: fc.record({ channel, code: text, detail: text }),
  close: fc.record({ channel }),
  records: fc.record({
    channel,
    records: fc.array(fc.record({ kind, bytes }), { maxLength: 5 }),
    progress,
  }),
  part: fc.tuple(channel, kind, part).map(([channel, kind, part]) => ({
    channel,
    kind,
    ...part,
  })),
  ack: fc.record({ channel, sequence: count, receipt }),
  refuse: fc.record({
    channel,
    sequence: count,
    chain,
    from: count,
    number: count,
    count,
    reason: text,
    rule: text,
    detail: text,
    kept: flag,
  }),
  credit: fc.record({ bytes: count }),
  live: fc.record({ channel, commits: count, progress, receipt }),
  witness: fc.record({ channel, witness: bytes }),
  proof: fc.record({
    channel,
    statement: bytes,
    certificates,
    summary: bytes,
  }),
  present: fc.record({ channel, bytes }),
  presence: fc.record({ channel, peer: count, user: text, bytes }),
  ping: fc.record({ token: fc.nat(2 ** 32 - 1) }),
  pong: fc.record({ token: fc.nat(2 ** 32 - 1) }),
  audit: fc.record({ channel, question: count, query }),
  audited: fc.record({ channel, question: count, answer: bytes }),
  failed: fc.record({ code: text, detail: text }),
  goodbye: fc.record({ waitMs: count }),
};

const kinds = Object.keys(arbitraries) as Message["is"][];

function anyMessage(is: Message["is"]): fc.Arbitrary<Message> {
  return (arbitraries[is] as fc.Arbitrary<object>).map((body) =>
    ({ is, ...body }) as Message
  );
}

/** Views and copies of the same bytes are the same. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, part) => {
    if (part instanceof Uint8Array) return part.toHex();
    return part instanceof Map ? [...part] : part;
  }));
}

for (const is of kinds) {
  Deno.test(`decodeMessage() gives back every "${is}" that was encoded, from one form only`, () => {
    fc.assert(
      fc.property(anyMessage(is), (message) => {
        const frame = encodeMessage(message);
        const decoded = decodeMessage(frame) as Message;
        assert.deepEqual(plain(decoded), plain(message));
        assert.deepEqual(encodeMessage(decoded), frame);
      }),
      { seed: SEED, numRuns: sized(40, 100) },
    );
  });

  Deno.test(`decodeMessage() throws nothing but SyntaxError on damaged "${is}" frames, and takes one form only`, () => {
    const [message] = fc.sample(anyMessage(is), { seed: SEED, numRuns: 1 });
    const frame = encodeMessage(message!).slice();
    const read = (bytes: Uint8Array) => {
      const decoded = decodeMessage(bytes);
      if (decoded.is === "other-version" || decoded.is === "skipped") return;
      const again = encodeMessage(decoded);
      assert.deepEqual(again, new Uint8Array(bytes).slice(0, again.length));
    };
    throwsOnlySyntaxError(frame, read);
  });

  Deno.test(`decodeMessage() reads a "${is}" frame whose end a later version has lengthened`, () => {
    const [message] = fc.sample(anyMessage(is), { seed: SEED, numRuns: 1 });
    const longer = concatBytes(
      encodeMessage(message!),
      new Uint8Array(9).fill(7),
    );
    assert.deepEqual(plain(decodeMessage(longer) as Message), plain(message!));
  });
}

function onlySyntaxError(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
}

Deno.test("what is ignored of a frame is bounded: no quota would count it", () => {
  const { frameGrowthBytesMax: most } = limits;
  const frames = [
    encodeMessage({ is: "ping", token: 1 }),
    encodeMessage({ is: "credit", bytes: 5 }),
    Uint8Array.of(0x80),
  ];
  for (const frame of frames) {
    decodeMessage(concatBytes(frame, new Uint8Array(most)));
    const longer = concatBytes(frame, new Uint8Array(most + 1));
    assert.throws(() => decodeMessage(longer), SyntaxError);
  }
});

Deno.test("decodeMessage() throws nothing but SyntaxError on garbage of every kind", () => {
  const garbage = fc.tuple(fc.nat(255), fc.uint8Array({ maxLength: 200 }));
  fc.assert(
    fc.property(garbage, ([kind, body]) => {
      onlySyntaxError(() => decodeMessage(new Uint8Array([kind, ...body])));
    }),
    { seed: SEED, numRuns: sized(2_000, 20_000) },
  );
});

Deno.test("a count in a frame takes no memory that its bytes do not", () => {
  const million = [0xc0, 0x84, 0x3d];
  for (
    const head of [
      [0x20, 1, ...million],
      [0x12, 1, ...million],
      [0x50, 1, 1, 1, ...new Array(40).fill(0), ...million],
      [0x02, wireVersion, ...new Array(40).fill(0), 1, 255],
    ]
  ) {
    assert.throws(() => decodeMessage(new Uint8Array(head)), SyntaxError);
  }
});

Deno.test("a greeting of another version says its version, whatever stands behind it", () => {
  for (const kind of [1, 2]) {
    assert.deepEqual(decodeMessage(new Uint8Array([kind, 9, 1, 2, 3])), {
      is: "other-version",
      version: 9,
    });
  }
});

Deno.test("texts that are too long for the wire are cut, never refused by the other side", () => {
  const long = "ä😀".repeat(5_000);
  const frame = encodeMessage({ is: "failed", code: "x", detail: long });
  const decoded = decodeMessage(frame) as Extract<Message, { is: "failed" }>;
  assert.ok(long.startsWith(decoded.detail.slice(0, -1)));
  assert.ok(decoded.detail.length > 100);
});

Deno.test("decodeMessage() takes questions of an audit about so many commits", () => {
  const asking = (count: number) =>
    encodeMessage({
      is: "audit",
      channel: 1,
      question: 1,
      query: {
        ask: "ids",
        chain: "\0".repeat(40),
        numbers: Array.from({ length: count }, (_, i) => i),
      },
    });
  const { auditNumbersMax: most } = limits;
  assert.equal(decodeMessage(asking(most)).is, "audit");
  assert.throws(() => decodeMessage(asking(most + 1)), SyntaxError);
});

Deno.test("a text that is too long for the wire is refused from who sends it all the same", () => {
  const most = limits.wireTextBytesMax;
  const message = { is: "declined", channel: 1, code: "unavailable" } as const;
  // The text is the last field, behind its length.
  const withDetail = (detail: string) => {
    const writer = new ByteWriter();
    writer.bytes(encodeMessage({ ...message, detail: "" }).slice(0, -1));
    writer.text(detail);
    return writer.copy();
  };
  const detail = "x".repeat(most);
  assert.deepEqual(decodeMessage(withDetail(detail)), { ...message, detail });
  assert.throws(() => decodeMessage(withDetail(`${detail}x`)), SyntaxError);
});
