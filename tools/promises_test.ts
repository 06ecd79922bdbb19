/** `docs/promises.md` is true: every promise has its tests, and they are there. */

import { deepEqual, equal } from "node:assert/strict";
import {
  type Facts,
  objectionsTo,
  promisePages,
  readMap,
  sectionOf,
  testNamesIn,
} from "./promises.ts";
import { tierOf } from "./test/tiers.ts";

const root = new URL("..", import.meta.url);
const read = (path: string) => Deno.readTextFileSync(new URL(path, root));

function readIfThere(path: string): string | undefined {
  try {
    return read(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** What the checkout promises and tests. */
function facts(): Facts {
  const named = new Map<string, readonly string[] | undefined>();
  return {
    promised: new Map(
      promisePages.map(({ page, heading, read: promisesIn }) =>
        [heading, promisesIn(sectionOf(read(page), heading))] as const
      ),
    ),
    partial: new Set(
      promisePages.filter(({ isPartial }) => isPartial).map(({ heading }) =>
        heading
      ),
    ),
    testsIn(file) {
      if (!named.has(file)) {
        const source = readIfThere(file);
        named.set(file, source === undefined ? source : testNamesIn(source));
      }
      return named.get(file);
    },
    tierOf,
  };
}

Deno.test("promises: each has its tests, which are there and in their tier", () => {
  const objections = objectionsTo(readMap(read("docs/promises.md")), facts());
  equal(objections.join("\n"), "");
});

const page = `# Garden

## Promises

- **It grows.** It needs water; \`and\` light.

## Laws

1. **One** gate
   of two.

## After
`;

const map = `# Map

## Promises

| promise | test | tier |
| --- | --- | --- |
| It grows | \`a_test.ts\`: grow() | quick |
| | \`b_test.ts\`: all of it | all |
| It needs | not tested: it rains | |
| and light | \`a_test.ts\`: shine() shows \${what} | quick |
`;

const garden: Facts = {
  promised: new Map([
    ["Promises", promisePages[0]!.read(sectionOf(page, "Promises"))],
  ]),
  partial: new Set(),
  testsIn: (file) =>
    ({
      "a_test.ts": ["grow() goes up", "shine() shows ${what} of it"],
      "b_test.ts": ["all of it"],
    })[file],
  tierOf: (file) => file.startsWith("a") ? "quick" : "all",
};

/** What is wrong with the garden's map after a change. */
function wrong(from: string, to: string, changes: Partial<Facts> = {}) {
  const changed = map.replace(from, to);
  equal(changed === map, from === to);
  return objectionsTo(readMap(changed), { ...garden, ...changes });
}

Deno.test("promisePages read sentences of bullets, items of lists and defences of tables", () => {
  deepEqual(garden.promised.get("Promises"), [
    "It grows",
    "It needs water",
    "and light",
  ]);
  const laws = promisePages.find(({ heading }) => heading === "Laws")!;
  deepEqual(laws.read(sectionOf(page, "Laws")), ["1. One gate of two."]);
  const table = [
    "| who | tries | is stopped by |",
    "| --- | ----- | ------------- |",
    "| bob | lies  | `a_b`; _not_ c |",
    "|     | waits | [d](e.md)     |",
  ].join("\n");
  deepEqual(promisePages[1]!.read(table), [
    "lies: a_b",
    "lies: not c",
    "waits: d",
  ]);
});

Deno.test("testNamesIn() finds the names of tests, and nothing in comments", () => {
  const source = [
    'Deno.test("one", () => {});',
    "  Deno.test(`two of ${mode}`, () => {});",
    'browserTest(\n  "three \\"3\\"",\n);',
    'Deno.test({\n  name: "four",\n});',
    '// Deno.test("five", () => {});',
    'notTest("six");',
  ].join("\n");
  deepEqual(testNamesIn(source), [
    "one",
    "two of ${mode}",
    'three "3"',
    "four",
  ]);
});

Deno.test("objectionsTo() has none to a map that is true", () => {
  deepEqual(wrong("", ""), []);
});

Deno.test("objectionsTo() hears a promise without an entry, and an entry without a promise", () => {
  const more = ["It grows", "It needs water", "and light", "and bees"];
  deepEqual(wrong("", "", { promised: new Map([["Promises", more]]) }), [
    'Promises: "and bees" has no entry',
  ]);
  deepEqual(wrong("| It grows", "| It shrinks"), [
    'Promises: "It grows" has no entry',
    'Promises: "It shrinks" no page says so',
  ]);
  deepEqual(wrong("| It grows", "| It"), [
    'Promises: "It" several promises begin so',
  ]);
  const partial = new Set(["Promises"]);
  deepEqual(
    wrong("| It needs | not tested: it rains | |\n", "", { partial }),
    [],
  );
});

Deno.test("objectionsTo() hears a file, a test and a tier that are not so", () => {
  deepEqual(wrong("b_test.ts", "c_test.ts"), [
    'Promises: "It grows" names "c_test.ts", which is no file',
  ]);
  deepEqual(wrong("grow()", "growing"), [
    'Promises: "It grows" names "growing", and no test of a_test.ts begins so',
  ]);
  deepEqual(wrong("| all |", "| quick |"), [
    'Promises: "It grows" calls b_test.ts "quick", and it is "all"',
  ]);
});

Deno.test("objectionsTo() hears a promise that only the other tier proves", () => {
  deepEqual(
    wrong("| It grows | `a_test.ts`: grow() | quick |\n| ", "| It grows"),
    [
      'Promises: "It grows" has no quick test',
    ],
  );
});

Deno.test("objectionsTo() hears an entry that has neither a test nor a reason", () => {
  deepEqual(wrong("not tested: it rains", ""), [
    'Promises: "It needs" has neither a test nor a reason',
  ]);
  deepEqual(wrong("not tested: it rains", "not tested:"), [
    'Promises: "It needs" names "not tested:", which is no file',
  ]);
});
