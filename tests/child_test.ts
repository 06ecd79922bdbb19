/** What the kit says of programs that end otherwise than they should, and of what is waited for in vain. */

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { Child } from "./kit/child.ts";
import { until, within } from "./kit/patience.ts";

const program = (text: string) => ["eval", "--no-check", text];
const WAITS = "await Deno.stdin.readable.getReader().read();";

Deno.test("Child.endsWell() fails with the command, the exit code and what the program said last", async () => {
  await using child = new Child(program(
    `console.log("so far"); console.error("no disk"); Deno.exit(3);`,
  ));
  await rejects(child.endsWell(/so far/), (error: Error) => {
    match(error.message, /`deno eval .*` ended with 3\./);
    match(error.message, /standard error:\nno disk\n/);
    match(error.message, /standard output:\nso far$/);
    return true;
  });
});

Deno.test(
  "Child.endsWell() takes a crash at exit only of one that said its last word",
  {
    ignore: Deno.build.os === "windows",
  },
  async () => {
    const crash =
      `console.log("over"); Deno.kill(Deno.pid, "SIGABRT"); ${WAITS}`;
    await using done = new Child(program(crash));
    equal((await done.endsWell(/over/)).signal, "SIGABRT");
    await using other = new Child(program(crash));
    await rejects(other.endsWell(/settled/), /was ended by SIGABRT\./);
  },
);

Deno.test("Child.said() fails at once where the program has ended, with its standard error", async () => {
  await using child = new Child(program(`throw new Error("no such port");`));
  await rejects(
    child.said(/listens/),
    /never said \/listens\/[^]*no such port/,
  );
});

Deno.test("Child.lines() gives whole lines until the end, and input comes through", async () => {
  await using child = new Child(
    program(`for await (const text of Deno.stdin.readable
      .pipeThrough(new TextDecoderStream())) console.log("heard " + text);`),
    { hasInput: true },
  );
  await child.write("one");
  const lines = child.lines();
  deepEqual(await lines.next(), { done: false, value: "heard one" });
  await child.closeInput();
  deepEqual(await lines.next(), { done: true, value: undefined });
  equal((await child.endsWell()).code, 0);
});

Deno.test("Child that still runs at its end is shown and killed", async () => {
  const shown: unknown[] = [];
  const { error } = console;
  console.error = (text) => shown.push(text);
  try {
    await using child = new Child(
      program(`console.error("still here"); ${WAITS}`),
      { hasInput: true },
    );
    await child.said(/still here/, "err");
  } finally {
    console.error = error;
  }
  equal(shown.length, 1);
  match(String(shown[0]), /` runs\.\n[^]*still here/);
});

Deno.test("until() and within() name what they waited for in vain, and pass on what came", async () => {
  await until(() => true, "at once");
  await rejects(until(() => false, "the note", 5), /In vain: the note/);
  equal(await within(Promise.resolve(7), "seven"), 7);
  await rejects(within(Promise.reject(new Error("its own")), "it"), /its own/);
});
