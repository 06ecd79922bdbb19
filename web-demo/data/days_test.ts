import { equal } from "node:assert/strict";
import { dueWords } from "./days.ts";

const today = "2026-11-22";

Deno.test("dueWords() names days nearby, and dates of other days", () => {
  equal(dueWords("2026-11-22", today), "Today");
  equal(dueWords("2026-11-23", today), "Tomorrow");
  equal(dueWords("2026-11-21", today), "Yesterday");
  equal(dueWords("2026-11-26", today), "Thu");
  equal(dueWords("2026-11-29", today), "29 Nov");
  equal(dueWords("2027-01-02", today), "2 Jan");
});

Deno.test("dueWords() names the year where a date could be of another", () => {
  equal(dueWords("2024-01-02", today), "2 Jan 2024");
  equal(dueWords("2027-11-20", today), "20 Nov 2027");
});
