import { deepStrictEqual, ok } from "node:assert/strict";
import { sortRuns } from "./sort_texts.ts";
import { stepSize } from "../base/steps.ts";
import { compareText } from "./value.ts";

const count = 30_000;

const shapes: Record<string, (n: number) => string> = {
  "long ones that differ at the end": (n) => `https://example.com/${n}`,
  "few different ones": (n) => `word ${n % 3}`,
  "some that end early": (n) => "ab".repeat(n % 9) + (n % 4 === 0 ? "\0" : ""),
  "characters of all sizes": (n) =>
    `é${String.fromCodePoint(0x1f600 + n % 900)}\uffff${n % 70}`,
  "a chain of beginnings": (n) => "x".repeat(n % 400),
  "empty ones": () => "",
};

for (const [name, textOf] of Object.entries(shapes)) {
  Deno.test(`sortRuns() sorts as a stable sort by comparison does: ${name}`, () => {
    const order = Array.from({ length: count }, (_, n) => n * 7919 % count);
    const run = (place: number) => Math.floor(place * 4 / count);
    const expected = [0, 1, 2, 3].flatMap((part) =>
      order.filter((_, place) => run(place) === part)
        .sort((a, b) => compareText(textOf(a), textOf(b)))
    );
    const ordinals = Uint32Array.from(order);
    let looks = 0;
    const steps = sortRuns(
      ordinals,
      (place) => run(place) === run(place - 1),
      (ordinal) => (looks++, textOf(ordinal)),
    );
    for (const _ of steps) {
      ok(looks <= 24 * stepSize, `${looks} in one step`);
      looks = 0;
    }
    deepStrictEqual([...ordinals], expected);
  });
}
