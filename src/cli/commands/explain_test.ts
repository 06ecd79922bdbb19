/** What `sheaf explain` makes of messages of the browser's production build. */

import { equal, throws } from "node:assert/strict";
import { explainMessage } from "./explain.ts";

const table = {
  version: "1.2.0-rc.1",
  messages: ["Cannot write {}.{}: {}.", "it is too large", "it has {} bytes"],
};

function explained(message: string): string {
  return explainMessage(message, table);
}

Deno.test("explainMessage() puts texts in the place of numbers, and values in them", () => {
  const values = JSON.stringify(["a]b", 'c"', "#1.2.0-rc.1-1"]);
  equal(
    explained(
      `invalid-value: #1.2.0-rc.1-0${values} (npx explain 1.2.0-rc.1-0)`,
    ),
    'invalid-value: Cannot write a]b.c": it is too large.',
  );
  const nested = JSON.stringify(["a", "b", '#1.2.0-rc.1-2["{}"]']);
  equal(
    explained(`#1.2.0-rc.1-0${nested}`),
    "Cannot write a.b: it has {} bytes.",
  );
});

Deno.test("explainMessage() shows the places of values that it was not given", () => {
  equal(explained("#1.2.0-rc.1-2"), "it has {} bytes");
  equal(explained("#1.2.0-rc.1-2[broken"), "it has {} bytes[broken");
});

Deno.test("explainMessage() explains nothing of another version", () => {
  throws(() => explained("#1.2.0-1"), { code: "other-version" });
  throws(() => explained("no number"), { code: "usage" });
});
