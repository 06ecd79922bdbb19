/** What `deno test` printed, read while it came. */

import { deepEqual, equal } from "node:assert/strict";
import { Transcript } from "./transcript.ts";

const FILES = ["src/a_test.ts", "src/b_test.ts", "src/c_test.ts"];

/** As Deno 2.9.6 prints it. */
const PRINTED = `running 7 tests from ./tools/test/together.ts
src/a_test.ts: adds ... ok (1ms)
src/a_test.ts: with steps ...
  a step ... ok (0ms)
src/a_test.ts: with steps ... ok (2ms)
src/a_test.ts: left out (in part) ... ignored (0ms)
src/b_test.ts: talks ...
------- output -------
src/b_test.ts: hello ... ok (1ms)
----- output end -----
src/b_test.ts: talks ... ok (1ms)
src/b_test.ts: breaks ... FAILED (12ms)
src/b_test.ts: throws late ...
Uncaught error from ./tools/test/together.ts FAILED
src/b_test.ts: throws late ... cancelled (0ms)
src/c_test.ts: is not begun ... cancelled (0ms)

 ERRORS 

src/b_test.ts: breaks => ./preload.ts:8:10
error: Error: why
    at src/b_test.ts:5:34

 FAILURES 

src/b_test.ts: breaks => ./preload.ts:8:10

FAILED | 2 passed | 4 failed | 1 ignored (1s)
`;

Deno.test("a transcript knows what passed, what failed and where, however it comes", () => {
  for (const size of [1, 7, PRINTED.length]) {
    const transcript = new Transcript(FILES);
    for (let at = 0; at < PRINTED.length; at += size) {
      transcript.hear(PRINTED.slice(at, at + size));
    }
    equal(transcript.passed, 3);
    equal(transcript.passedWithout(["src/b_test.ts"]), 2);
    deepEqual(transcript.ignored, ["left out (in part)"]);
    deepEqual(transcript.failed, [
      { file: "src/b_test.ts", name: "breaks" },
      { file: "src/b_test.ts", name: "an error that no test caught" },
      { file: "src/b_test.ts", name: "throws late" },
    ]);
    deepEqual(transcript.left, ["src/c_test.ts"]);
    equal(
      transcript.reasons(),
      "src/b_test.ts: breaks => ./preload.ts:8:10\nerror: Error: why\n    at src/b_test.ts:5:34",
    );
    equal(transcript.running, undefined);
  }
});

Deno.test("a transcript names the test that has begun, and the files that are left", () => {
  const transcript = new Transcript(FILES);
  transcript.hear("running 2 tests from ./tools/test/together.ts\n");
  equal(transcript.running, undefined);
  deepEqual(transcript.left, FILES);
  transcript.hear("src/b_test.ts: waits ...");
  equal(transcript.running, "waits");
  equal(transcript.file, "src/b_test.ts");
  transcript.hear("\n------- output -------\nhm\n");
  equal(transcript.running, "waits");
  transcript.hear("----- output end -----\n");
  transcript.hear("src/b_test.ts: waits ... ok (1ms)\n");
  equal(transcript.running, undefined);
  deepEqual(transcript.left, FILES.slice(1));
  transcript.hear("src/c_test.ts: ends ... ok (1ms)\n");
  deepEqual(transcript.left, []);
});

Deno.test("an error between tests is nobody's until a file is alone", () => {
  const uncaught = "Uncaught error from ./tools/test/together.ts FAILED\n";
  const together = new Transcript(FILES);
  together.hear(`running 2 tests from ./tools/test/together.ts\n${uncaught}`);
  deepEqual(together.failed, []);
  deepEqual(together.left, FILES);
  const alone = new Transcript(["src/a_test.ts"]);
  alone.hear(`running 2 tests from ./tools/test/together.ts\n${uncaught}`);
  deepEqual(alone.failed, [
    { file: "src/a_test.ts", name: "an error that no test caught" },
  ]);
});

Deno.test("a test that took more than a minute has a verdict, too", () => {
  const transcript = new Transcript(FILES);
  const slow = (name: string) =>
    `src/a_test.ts: ${name} ...'src/a_test.ts: ${name}' has been running for over (1m0s)\n`;
  transcript.hear("running 3 tests from ./tools/test/together.ts\n");
  transcript.hear(slow("waits"));
  equal(transcript.running, "waits");
  transcript.hear(` ok (1m1s)\n${slow("fails")} FAILED (2m0s)\n`);
  transcript.hear("src/b_test.ts: is next ... ok (1ms)\n");
  equal(transcript.passed, 2);
  deepEqual(transcript.failed, [{ file: "src/a_test.ts", name: "fails" }]);
  deepEqual(transcript.left, []);
});
