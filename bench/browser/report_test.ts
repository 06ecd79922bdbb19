/**
 * Rows, verdicts and the section of the page, of figures that were made up.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { expectedPage } from "./page.ts";
import { contestants, loadText } from "./contestants.ts";
import { type BrowserRun, textLines, withSection } from "./report.ts";
import { Collected, ratioTo, rowsOf, verdictsOf } from "./results.ts";

function made(): BrowserRun {
  const collected = new Collected();
  collected.add("floor", "OPFS", 0.1, 0.3, 0.2);
  collected.add("durable", "Sheaf", 0.5);
  collected.add("durable", "Dexie", 1);
  collected.add("get", "Sheaf", 0.02, 0.04);
  collected.add("get", "Dexie", 0.01);
  return {
    about: ["a machine"],
    command: "deno task bench:browser --size 2k",
    size: "2k",
    contestants: ["Sheaf", "Dexie"],
    rows: rowsOf(collected, ["Sheaf", "Dexie"], "2k"),
    failures: [{ contestant: "Yjs", message: "it broke" }],
  };
}

function row(id: string) {
  const found = made().rows.find((row) => row.id === id);
  if (found === undefined) throw new Error(id);
  return found;
}

Deno.test("rowsOf() gives medians, and targets that hang on the floor", () => {
  equal(row("durable").target, 0.4);
  equal(row("get").figures[0]?.median, 0.03);
  deepEqual(row("live").figures, []);
});

Deno.test("verdictsOf() says what is missed and who is ahead", () => {
  deepEqual(verdictsOf(row("durable")), ["MISSED"]);
  deepEqual(verdictsOf(row("get")), ["Dexie is ahead"]);
  deepEqual(verdictsOf(row("live")), []);
  equal(ratioTo(row("durable"), "Dexie"), 0.5);
  equal(ratioTo(row("live"), "Dexie"), undefined);
});

Deno.test("textLines() shows figures, ratios and failures", () => {
  const text = textLines(made()).join("\n");
  match(
    text,
    /write until durable, ms +0\.500 +1\.00 \(0\.500\) +≤ 0\.400 +MISSED/,
  );
  match(text, /flush takes 0\.200 ms/);
  match(text, /Yjs FAILED: it broke/);
});

Deno.test("withSection() puts its section before the summary, and later in its own place", () => {
  const page = "# Benchmarks\n\n## In short\n\nwords\n";
  const once = withSection(page, made());
  match(
    once,
    /^# Benchmarks\n\n<!-- browser[^]*\| ---: \|[^]*<!-- end of browser -->\n\n## In short/,
  );
  equal(withSection(once, made()), once);
});

Deno.test("expectedPage() is what a naive question gives", () => {
  const page = expectedPage(9_000);
  equal(page.length, 50);
  equal(page.every(({ author, done }) => author === "user-00" && !done), true);
  const ranks = page.map(({ rank }) => rank);
  deepEqual(ranks, [...ranks].sort((left, right) => left - right));
});

Deno.test("loadText() exports what a contestant imports", () => {
  const texts = contestants.map(loadText);
  match(texts[2] ?? "", /export \{ Dexie, liveQuery \};/);
  match(texts[5] ?? "", /export \{ Doc, YMap, IndexeddbPersistence \};/);
});
