import assert from "node:assert/strict";
import fc from "fast-check";
import { concatBytes, encodeText } from "../base/bytes.ts";
import { readCsv } from "./csv_reader.ts";
import { Failure } from "./failure.ts";
import { type Format, formats, type Input } from "./input.ts";
import { readJson, readJsonLines } from "./json_reader.ts";
import { msgpackWriter } from "./msgpack.ts";
import { readRows } from "./rows.ts";
import { itemWriter, toCell } from "./writers.ts";
import type { RawRow, RowGroups } from "./field.ts";

type Reader = (name: string, text: AsyncIterable<string>) => RowGroups;

/** All rows of a text that arrives in pieces of `size` characters. */
async function rowsOf(
  read: Reader,
  text: string,
  size = 7,
): Promise<RawRow[]> {
  const characters = Array.from(text);
  async function* pieces() {
    for (let at = 0; at < characters.length; at += size) {
      yield await Promise.resolve(characters.slice(at, at + size).join(""));
    }
  }
  return (await Array.fromAsync(read("in", pieces()))).flat();
}

/** Rows as plain entries, because their objects have no prototype. */
function plain(rows: readonly RawRow[]): unknown[] {
  return rows.map(({ line, values }) => [line, { ...values }]);
}

async function failureOf(read: Reader, text: string): Promise<string> {
  try {
    await rowsOf(read, text);
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
  return "no failure";
}

Deno.test("readCsv() reads quotes, line breaks in cells, CRLF and a byte order mark", async () => {
  const text =
    '\ufeffname,note,n\r\nVik,"says ""hi"",\r\ntwice",1\r\n\r\nOslo,,2\r\n"","",3';
  for (const size of [1, 7, 1000]) {
    assert.deepEqual(plain(await rowsOf(readCsv, text, size)), [
      [2, { name: "Vik", note: 'says "hi",\r\ntwice', n: "1" }],
      [5, { name: "Oslo", note: undefined, n: "2" }],
      [6, { name: "", note: "", n: "3" }],
    ]);
  }
});

Deno.test("readRows() reads each format as what it is", async () => {
  const writer = msgpackWriter([]);
  const item = writer.item({ id: "1", b: "2" });
  const contents: Readonly<Record<Format, Uint8Array>> = {
    csv: encodeText("id,b\n1,2\n"),
    json: encodeText('[\n{"id": "1", "b": "2"}\n]'),
    jsonl: encodeText('\n{"id": "1", "b": "2"}\n'),
    msgpack: concatBytes(writer.head, item, writer.tail),
  };
  for (const format of formats) {
    const input: Input = {
      name: "in",
      bytes: contents[format].length,
      async *pieces() {
        yield await Promise.resolve(contents[format]);
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    const groups = await Array.fromAsync(readRows(input, format, () => {}));
    const line = format === "msgpack" ? 1 : 2;
    assert.deepEqual(plain(groups.flat()), [[line, { id: "1", b: "2" }]]);
  }
});

Deno.test("readCsv() keeps a column named __proto__ a column", async () => {
  const [row] = await rowsOf(readCsv, "__proto__,a\nx,y\n");
  assert.deepEqual(Object.entries(row?.values ?? {}), [["__proto__", "x"], [
    "a",
    "y",
  ]]);
});

Deno.test("readCsv() names the line of a row that is wrong", async () => {
  const wide = 'a,b\n1,"2\r\n"\n\n3,4,5\n';
  assert.match(
    await failureOf(readCsv, wide),
    /^in:5: the row has 3 cells, the header 2/,
  );
  assert.match(await failureOf(readCsv, 'a,b\n1,"x" y\n'), /^in:2: .*closing/);
  assert.match(await failureOf(readCsv, 'a,b\n1,"x\n'), /never closed/);
  assert.match(await failureOf(readCsv, "a,a\n1,2\n"), /^in:1: two columns/);
  assert.match(await failureOf(readCsv, "a,\n1,2\n"), /^in:1: column 2 has no/);
});

Deno.test("readCsv() stops at the cell that no item has room for", async () => {
  let taken = 0;
  async function* pieces() {
    for (const piece of ["\n", ...Array<string>(1000).fill("a,".repeat(100))]) {
      taken++;
      yield await Promise.resolve(piece);
    }
  }
  await assert.rejects(
    Array.fromAsync(readCsv("in", pieces())),
    /^Failure: in:2: the row has over 257 cells, a schema 256 fields/,
  );
  assert.ok(taken < 10, `${taken} pieces were read`);
  const header = Array.from({ length: 257 }, (_, i) => `c${i}`).join();
  const cells = (count: number) => `${header}\n${"1,".repeat(count - 1)}1\n`;
  const [row] = await rowsOf(readCsv, cells(257));
  assert.equal(Object.keys(row!.values).length, 257);
  assert.match(
    await failureOf(readCsv, cells(258)),
    /^in:2: the row has over 257 cells/,
  );
});

Deno.test("readJsonLines() skips empty lines and counts them", async () => {
  const text = '{"a":1}\r\n\n  \n{"a":[1,2]}';
  assert.deepEqual(plain(await rowsOf(readJsonLines, text)), [
    [1, { a: 1 }],
    [4, { a: [1, 2] }],
  ]);
});

Deno.test("readJsonLines() names the line of a row that is wrong", async () => {
  assert.match(
    await failureOf(readJsonLines, '{"a":1}\n{"a":\n'),
    /^in:2: not/,
  );
  assert.match(
    await failureOf(readJsonLines, "{}\n\n[1]\n"),
    /^in:3: expected/,
  );
  assert.match(
    await failureOf(readJsonLines, '{}\n\n{"a":1,"a":2}\n'),
    /^in:3: the key "a" stands twice$/,
  );
});

Deno.test("readJson() cuts an array wherever the pieces end", async () => {
  const text =
    '\ufeff[\n {"a":"]},{\\"["},\n\n {"a":{"b":[1]}} ,{"a":null}\n]\n';
  for (const size of [1, 2, 3, 1000]) {
    assert.deepEqual(plain(await rowsOf(readJson, text, size)), [
      [2, { a: ']},{"[' }],
      [4, { a: { b: [1] } }],
      [4, { a: null }],
    ]);
  }
  assert.deepEqual(await rowsOf(readJson, " [ ] "), []);
});

Deno.test("readJson() refuses what JSON.parse refuses, with the line", async () => {
  for (
    const [text, expected] of [
      ["", /found nothing/],
      ['{"a":1}', /^in:1: expected an array/],
      ['[{"a":1}', /never closed/],
      ['[{"a":1},\n', /never closed/],
      ['[{"a":1},\n\n{"a":', /^in:3: .*never closed/],
      ['[{"a":1},]', /expected an object, found "\]"/],
      ['[,{"a":1}]', /expected an object, found ","/],
      ['[{"a":1} {"a":2}]', /not JSON/],
      ['[{"a":1}]\n[', /^in:2: "\[" after the end/],
      ["[\n1]", /^in:2: expected an object, found 1/],
      ["[\n{'a':1}]", /^in:2: not JSON/],
      ['[{},\n{"n":\n9007199254740993}]', /^in:3: .* kept as 9007199254740992/],
      ['[{},\n{"n":\n{"b":1,\n"b":2}}]', /^in:4: the key "b" stands twice/],
    ] as const
  ) assert.match(await failureOf(readJson, text), expected, text);
});

const names = fc.stringMatching(/^[a-z][a-z0-9_]{0,5}$/);
const cells = fc.option(fc.string({ unit: "grapheme" }), { nil: undefined });

Deno.test("readCsv() reads back every cell that the writer wrote", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(names.filter((name) => name !== "id"), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.array(fc.array(cells, { minLength: 4, maxLength: 4 })),
      fc.integer({ min: 1, max: 40 }),
      async (fields, table, size) => {
        const columns = ["id", ...fields];
        const items = table.map((row, i) => ({
          id: `i${i}`,
          ...Object.fromEntries(fields.map((name, j) => [name, row[j]])),
        }));
        const writer = itemWriter("csv", columns, false);
        const text = writer.head + items.map(writer.item).join("");
        const rows = await rowsOf(readCsv, text, size);
        assert.deepEqual(rows.map(({ values }) => ({ ...values })), items);
      },
    ),
    { seed: 7, numRuns: 150 },
  );
});

Deno.test("readJson() and readJsonLines() read back what the writers wrote", async () => {
  const row = fc.dictionary(names, fc.jsonValue(), { maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(row),
      fc.integer({ min: 1, max: 40 }),
      async (rows, size) => {
        const items = rows.map((row) => JSON.parse(JSON.stringify(row)));
        for (const format of ["json", "jsonl"] as const) {
          const writer = itemWriter(format, [], true);
          const text = writer.head + items.map(writer.item).join("") +
            writer.tail;
          const read = format === "json" ? readJson : readJsonLines;
          const found = await rowsOf(read, text, size);
          assert.deepEqual(found.map(({ values }) => ({ ...values })), items);
        }
      },
    ),
    { seed: 7, numRuns: 150 },
  );
});

Deno.test("itemWriter() of CSV escapes for a terminal and stays exact for a file", () => {
  const item = { id: "1", note: "a\x1b[2J\nb" };
  const shown = itemWriter("csv", ["id", "note"], true).item(item);
  assert.equal(shown, "1,a\\u001b[2J\\nb\r\n");
  const stored = itemWriter("csv", ["id", "note"], false).item(item);
  assert.equal(stored, '1,"a\x1b[2J\nb"\r\n');
});

Deno.test("toCell() writes dates, bytes and nested values so that they can be read", () => {
  assert.equal(toCell(new Date(0)), "1970-01-01T00:00:00.000Z");
  assert.equal(toCell(new Uint8Array([1, 2, 255])), "AQL/");
  assert.equal(toCell(["a", "b"]), '["a","b"]');
  assert.equal(toCell({ a: { b: -0 } }), '{"a":{"b":-0}}');
  assert.equal(toCell(-0), "-0");
  assert.equal(toCell(""), "");
  assert.equal(toCell(undefined), undefined);
  assert.equal(toCell(null), "null");
});
