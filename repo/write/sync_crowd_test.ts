import { equal } from "node:assert/strict";
import { SyncCrowd } from "./commit_queue.ts";

/** Announced, then here; says whether it met others. */
function meets(crowd: SyncCrowd): boolean {
  crowd.arrive();
  return crowd.isMet;
}

Deno.test("a lone sync meets nobody, however often it comes", () => {
  const crowd = new SyncCrowd();
  for (let turn = 0; turn < 3; turn++) {
    crowd.announce();
    equal(meets(crowd), false);
  }
});

Deno.test("all but the last of a turn meet others", () => {
  const crowd = new SyncCrowd();
  for (let turn = 0; turn < 2; turn++) {
    for (let i = 0; i < 3; i++) crowd.announce();
    equal(meets(crowd), true);
    crowd.launched();
    equal(meets(crowd), true);
    crowd.launched();
    equal(meets(crowd), false);
    crowd.landed();
    crowd.landed();
  }
});

Deno.test("whoever comes while an earlier sync is under way meets it", () => {
  const crowd = new SyncCrowd();
  crowd.announce();
  crowd.announce();
  equal(meets(crowd), true);
  crowd.launched();
  equal(meets(crowd), false); // The last of the turn, which blocks.
  crowd.announce();
  equal(meets(crowd), true, "its acknowledgement must not wait for a loop");
  crowd.launched();
  crowd.landed();
  crowd.announce();
  equal(meets(crowd), true, "one is still under way");
  crowd.landed();
  crowd.announce();
  equal(meets(crowd), false, "all have landed");
});

Deno.test("one that is announced and has nothing to sync holds nobody up", () => {
  const crowd = new SyncCrowd();
  crowd.announce();
  crowd.announce();
  crowd.arrive();
  equal(meets(crowd), false);
});
