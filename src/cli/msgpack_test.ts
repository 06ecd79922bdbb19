import assert from "node:assert/strict";
import fc from "fast-check";
import { Packr } from "msgpackr/pack";
import { Unpackr } from "msgpackr/unpack";
import { concatBytes } from "../base/bytes.ts";
import { Failure } from "./failure.ts";
import { msgpackWriter, readKinds, readMsgpack } from "./msgpack.ts";
import { Output } from "./output.ts";
import type { Field, FieldKind, Item, Value } from "./field.ts";

const field = (name: string, kind: FieldKind): Field => {
  return { name, kind, optional: false };
};

/** The bytes of a whole file. */
function fileOf(items: readonly Item[], fields: readonly Field[] = []) {
  const writer = msgpackWriter(fields);
  const packed = items.map((item) => writer.item(item));
  return concatBytes(writer.head, ...packed, writer.tail);
}

/** A file in pieces of `size` bytes. */
async function* pieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) {
    yield await Promise.resolve(bytes.subarray(at, at + size));
  }
}

async function itemsOf(bytes: Uint8Array, size = 7): Promise<unknown[]> {
  const groups = await Array.fromAsync(readMsgpack("in", pieces(bytes, size)));
  return groups.flat().map(({ values }) => values);
}

async function failureOf(bytes: Uint8Array): Promise<string> {
  try {
    await itemsOf(bytes);
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
  return "no failure";
}

const name = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("__proto__", "constructor", "toJSON", "length"),
);
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Value>(null, true, false, 2 ** 53, -(2 ** 53), 2 ** 63),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.string({ unit: "grapheme" }),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array(),
    fc.array(tie("value")),
    fc.dictionary(name, tie("value")),
  ),
}));
const item = fc.record({ id: fc.string(), a: value, b: value });

/** Without prototypes, and with the bytes of any class as the same bytes. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(plain);
  const entries = Object.entries(value).map(([key, one]) => [key, plain(one)]);
  return new Map(entries as [string, unknown][]);
}

Deno.test("readMsgpack() reads back every value that the writer wrote, wherever pieces end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(item),
      fc.integer({ min: 1, max: 100 }),
      async (items, size) => {
        const read = await itemsOf(fileOf(items), size);
        assert.deepEqual(read.map(plain), items.map(plain));
      },
    ),
    { seed: 7, numRuns: 300 },
  );
});

Deno.test("readKinds() reads the kinds of fields from no more than the header", async () => {
  const fields = [field("when", "date"), field("n", "counter")];
  const bytes = fileOf([{ id: "a" }], fields);
  const kinds = fields.map(({ name, kind }) => ({ name, kind }));
  assert.deepEqual(await readKinds("in", pieces(bytes, 3)), kinds);
  async function* begun() {
    yield await Promise.resolve(msgpackWriter(fields).head);
    assert.fail("the header was there");
  }
  assert.deepEqual(await readKinds("in", begun()), kinds);
});

Deno.test("readMsgpack() refuses a file that was cut anywhere", async () => {
  const bytes = fileOf([{ id: "a", n: 1 }, { id: "b", d: new Date(5) }]);
  for (let length = 0; length < bytes.length; length++) {
    const message = await failureOf(bytes.subarray(0, length));
    assert.match(message, /^in:[123]: the file ends before its last item/);
  }
});

Deno.test("readMsgpack() refuses what no export holds, by the number of the item", async () => {
  const packr = new Packr({ useRecords: false, moreTypes: true });
  const { head } = msgpackWriter([]);
  const map = (value: unknown) =>
    packr.pack(new Map([["id", "a"], ["v", value]] as [string, unknown][]));
  const file = (...parts: Uint8Array[]) => concatBytes(head, map(1), ...parts);
  let deep: unknown = 1;
  for (let i = 0; i < 100; i++) deep = [deep];
  for (
    const [bytes, expected] of [
      [packr.pack({ a: 1 }), /^in:1: no export of sheaf begins so/],
      [packr.pack("a"), /^in:1: no export of sheaf/],
      [packr.pack({ sheaf: 1 }), /^in:1: its kinds are missing/],
      [
        packr.pack({ sheaf: 1, kinds: { a: "b" } }),
        /"a" is of an unknown kind/,
      ],
      [file(packr.pack(2)), /^in:1: 2 items were written, 1 are here/],
      [file(packr.pack(1), map(1)), /^in:2: bytes stand behind/],
      [file(packr.pack(["a"])), /^in:2: it is no item/],
      [file(map(new Set([1]))), /^in:2: it holds a Set/],
      [file(map(/a/)), /^in:2: it holds a RegExp/],
      [file(map(deep)), /^in:2: it is nested too deep/],
      [file(map(2n ** 53n + 1n)), /^in:2: the number 9007199254740993 would/],
      [file(packr.pack(new Map([[1, 2]]))), /^in:2: a key is no string/],
      [file(Uint8Array.of(0xd4, 16, 0)), /^in:2: not MessagePack/],
    ] as const
  ) assert.match(await failureOf(bytes), expected);
  const [read] = (await itemsOf(file(map(5n), packr.pack(2)))).slice(-1);
  assert.deepEqual({ ...read as object }, { id: "a", v: 5 });
});

Deno.test("readMsgpack() throws nothing but a failure, whatever it is given", async () => {
  const bytes = fileOf([{ id: "a", n: [1, { b: "c" }], d: new Date(5) }]);
  const { length } = msgpackWriter([]).head;
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bytes.length - 1),
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      async (at, changed) => {
        const changedBytes = Uint8Array.from(bytes);
        const end = bytes.length - changed.length;
        changedBytes.set(changed, Math.max(0, Math.min(at, end)));
        await failureOf(changedBytes);
        await failureOf(concatBytes(bytes.subarray(0, length), changed));
      },
    ),
    { seed: 7, numRuns: 1_000 },
  );
});

Deno.test("readMsgpack() tries a large item again only with twice its bytes", async () => {
  const real = Unpackr.prototype.unpackMultiple;
  let bytesTried = 0;
  Reflect.set(
    Unpackr.prototype,
    "unpackMultiple",
    function (this: Unpackr, ...given: Parameters<typeof real>) {
      bytesTried += given[0].length;
      return real.apply(this, given);
    },
  );
  try {
    const bytes = fileOf([{ id: "a", text: "x".repeat(4 << 20) }]);
    assert.equal((await itemsOf(bytes, 1 << 14)).length, 1);
    assert.ok(bytesTried < 4 * bytes.length, `${bytesTried}`);
  } finally {
    Unpackr.prototype.unpackMultiple = real;
  }
});

Deno.test("readMsgpack() gives up on an item that no export holds for its size", async () => {
  const text = Uint8Array.of(0xdb, 0xff, 0xff, 0xff, 0xff);
  let given = 0;
  async function* file() {
    yield await Promise.resolve(msgpackWriter([]).head);
    yield text;
    for (; given < 1_000; given++) yield new Uint8Array(1 << 20);
  }
  await assert.rejects(
    () => Array.fromAsync(readMsgpack("in", file())),
    /in:1: it is over 33554432 bytes/,
  );
  assert.ok(given < 100, `${given}`);
});

Deno.test("readMsgpack() hands out a million items while it holds a piece of them", async () => {
  const [PIECES, ITEMS] = [1_000, 1_000];
  const writer = msgpackWriter([]);
  const packed = Array.from({ length: ITEMS }, () => writer.item({ id: "a" }));
  const piece = concatBytes(...packed);
  let [given, taken, mostHeld] = [0, 0, 0];
  async function* file() {
    yield await Promise.resolve(writer.head);
    for (let i = 0; i < PIECES; i++) {
      // The end of an item always comes with the next piece.
      const first = i === 0 ? 0 : 1;
      yield concatBytes(piece.subarray(first), piece.subarray(0, 1));
      given += ITEMS;
      mostHeld = Math.max(mostHeld, given - taken);
    }
  }
  await assert.rejects(async () => {
    for await (const rows of readMsgpack("in", file())) taken += rows.length;
  }, /in:1000001: the file ends before its last item/);
  assert.equal(taken, PIECES * ITEMS);
  assert.equal(mostHeld, 0);
});

Deno.test("Output holds a piece of the bytes that were printed, in order with the text", () => {
  let [written, mostHeld] = ["", 0];
  const decoder = new TextDecoder();
  const output = new Output(
    (bytes) => {
      const part = bytes.subarray(0, 40_000);
      written += decoder.decode(part);
      return part.length;
    },
    false,
    undefined,
  );
  let expected = "";
  for (let i = 0; i < 100_000; i++) {
    const text = `${i},`;
    output.print(i % 3 === 0 ? text : new TextEncoder().encode(text));
    expected += text;
    mostHeld = Math.max(mostHeld, expected.length - written.length);
  }
  assert.ok(mostHeld < 70_000, `${mostHeld}`);
  output.flush();
  assert.equal(written, expected);
});
