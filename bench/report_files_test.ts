import { deepEqual, equal, throws } from "node:assert/strict";
import { someMachine, someRow, someVersions } from "./fixtures.ts";
import { parseRows, toCsv, toJson } from "./report_files.ts";

Deno.test("toJson() holds machine, versions and rows, and parseRows() reads them back", () => {
  const text = toJson({
    machine: someMachine,
    versions: someVersions,
    rows: [someRow(), someRow({ median: null })],
    sync: [],
  });
  deepEqual(Object.keys(JSON.parse(text)), [
    "machine",
    "versions",
    "rows",
    "sync",
  ]);
  const [first, second] = parseRows(text);
  equal(first?.operation, "read by id");
  equal(first?.ratio, 0.1);
  equal(second?.median, null);
});

Deno.test("parseRows() refuses what is not a run with a SyntaxError", () => {
  for (
    const text of [
      "",
      "null",
      "{}",
      '{"rows":[1]}',
      '{"rows":[{"suite":"x"}]}',
      '{"rows":[{"suite":1}]}',
    ]
  ) {
    throws(() => parseRows(text), SyntaxError);
  }
});

Deno.test("toCsv() quotes what needs quoting and leaves unknown figures empty", () => {
  const [head, line, rest] = toCsv([
    someRow({ operation: 'a "b", c', ratio: null }),
  ]).split("\r\n");
  equal(head?.split(",").slice(0, 3).join(), "suite,operation,mode");
  equal(
    line,
    'table 1,"a ""b"", c",default,1000,µs,1,1.05,2,3,100,10,,0.15,true,,',
  );
  equal(rest, "");
});
