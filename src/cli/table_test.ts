import assert from "node:assert/strict";
import { cut, displayWidth, formatTable, pad } from "./table.ts";

Deno.test("displayWidth() counts wide characters as two and marks as none", () => {
  assert.equal(displayWidth("abc"), 3);
  assert.equal(displayWidth("Lòria"), 5);
  assert.equal(displayWidth("e\u0301"), 1);
  assert.equal(displayWidth("東京"), 4);
  assert.equal(displayWidth("👩‍🚀"), 2);
});

Deno.test("cut() ends with an ellipsis only when it must", () => {
  assert.equal(cut("Springfield", 11), "Springfield");
  assert.equal(cut("Springfield", 6), "Sprin…");
  assert.equal(cut("東京都", 4), "東…");
});

Deno.test("pad() fills on the side away from the text", () => {
  assert.equal(pad("7", 3, "right"), "  7");
  assert.equal(pad("東", 3), "東 ");
});

Deno.test("formatTable() aligns columns, numbers to the right", () => {
  const columns = [{ title: "name" }, { title: "n", align: "right" as const }];
  assert.equal(
    formatTable(columns, [["Vík", "1"], ["Reykjavík", "12"]]),
    "name        n\n─────────  ──\nVík         1\nReykjavík  12\n",
  );
});

Deno.test("formatTable() escapes what would steer a terminal", () => {
  const text = formatTable([{ title: "a" }], [["x\x1b[31m\ny"]]);
  assert.equal(text.split("\n")[2], "x\\u001b[31m\\ny");
});

Deno.test("formatTable() fits the width it is given, however long a cell", () => {
  const long = "x".repeat(4_000_000);
  const rows = [["short", long], [long, "b"]];
  const text = formatTable([{ title: "one" }, { title: "two" }], rows, 40);
  for (const line of text.split("\n")) assert.ok(displayWidth(line) <= 40);
});
