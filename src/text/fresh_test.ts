import { deepEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import { textChange } from "../schema/text_kit_test.ts";
import { emptyText, joinTexts, normalText } from "../schema/text_state.ts";
import { freshIn, isSurelySame } from "./fresh.ts";

Deno.test("freshIn() gives what makes the earlier text the later one, and isSurelySame() knows when that is nothing", () => {
  const texts = fc.array(textChange, { maxLength: 4 });
  let given = 0;
  fc.assert(
    fc.property(texts, texts, texts, (first, second, others) => {
      const before = first.reduce(joinTexts, emptyText);
      const after = second.reduce(joinTexts, before);
      const fresh = freshIn(after, before);
      if (fresh !== undefined) {
        given++;
        const rejoined = joinTexts(before, normalText(fresh));
        deepEqual(rejoined.clients, after.clients);
      }
      const again = [...first, ...second].reduce(joinTexts, emptyText);
      ok(isSurelySame(again, after) && isSurelySame(after, again));
      for (const one of [before, others.reduce(joinTexts, emptyText)]) {
        if (isSurelySame(one, after)) deepEqual(one.clients, after.clients);
      }
    }),
    { seed: 5, numRuns: 500 },
  );
  ok(given > 100, `${given} given`);
});
