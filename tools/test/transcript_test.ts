/** What `deno test` printed, read while it came. */

import { deepEqual, equal } from "node:assert/strict";
import { Transcript } from "./transcript.ts";

/** As Deno 2.9.6 prints it. */
const PRINTED = `running 3 tests from ./src/a_test.ts
adds ... ok (1ms)
with steps ...
  a step ... ok (0ms)
with steps ... ok (2ms)
left out (in part) ... ignored (0ms)
running 2 tests from ./src/b_test.ts
talks ...
------- output -------
hello ... ok (1ms)
----- output end -----
talks ... ok (1ms)
breaks ... FAILED (12ms)
Uncaught error from ./src/c_test.ts FAILED
late ... cancelled (0ms)

 ERRORS 

breaks => ./limit.ts:8:10
error: Error: why
    at src/b_test.ts:5:34

 FAILURES 

breaks => ./limit.ts:8:10

FAILED | 2 passed | 2 failed | 1 ignored (1s)
`;

Deno.test("a transcript knows what passed, what failed and where, however it comes", () => {
  for (const size of [1, 7, PRINTED.length]) {
    const transcript = new Transcript();
    for (let at = 0; at < PRINTED.length; at += size) {
      transcript.hear(PRINTED.slice(at, at + size));
    }
    equal(transcript.passed, 3);
    equal(transcript.passedWithout(["src/b_test.ts"]), 2);
    deepEqual(transcript.ignored, ["left out (in part)"]);
    deepEqual(transcript.failed, [
      { file: "src/b_test.ts", name: "breaks" },
      { file: "src/c_test.ts", name: "an error that no test caught" },
      { file: "src/b_test.ts", name: "late" },
    ]);
    equal(
      transcript.reasons(),
      "breaks => ./limit.ts:8:10\nerror: Error: why\n    at src/b_test.ts:5:34",
    );
    equal(transcript.running, undefined);
  }
});

Deno.test("a transcript names the test that has begun", () => {
  const transcript = new Transcript();
  transcript.hear("running 2 tests from ./a_test.ts\n");
  equal(transcript.running, undefined);
  transcript.hear("waits ...");
  equal(transcript.running, "waits");
  transcript.hear("\n------- output -------\nhm\n");
  equal(transcript.running, "waits");
  equal(transcript.isComplete("a_test.ts"), false);
  transcript.hear("----- output end -----\nwaits ... ok (1ms)\n");
  equal(transcript.running, undefined);
  transcript.hear("ends ... ok (1ms)\n");
  equal(transcript.isComplete("a_test.ts"), true);
});
