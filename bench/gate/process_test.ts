import { deepEqual, equal, rejects } from "node:assert/strict";
import { someFigure } from "../report/fixtures.ts";
import type { Course } from "./choice.ts";
import { GateFailure, measureIn } from "./process.ts";

const course: Course = { suite: "kv", size: 1_000, filter: "", rows: [] };
/** A program in place of the one that measures. */
const program = (text: string): URL =>
  new URL(`data:application/javascript,${encodeURIComponent(text)}`);
const answering = (text: string): URL =>
  program(
    `Deno.writeTextFileSync(JSON.parse(Deno.args[0]).answer, ${
      JSON.stringify(text)
    })`,
  );

async function measured(module: URL, msMax = 60_000) {
  const parent = Deno.makeTempDirSync();
  try {
    const options = { parent, courseMsMax: 60_000, msLeft: () => msMax };
    const figures = await measureIn({ ...options, module })(course);
    return { figures, left: [...Deno.readDirSync(parent)] };
  } finally {
    Deno.removeSync(parent, { recursive: true });
  }
}

Deno.test("measureIn() reads what the process left, and leaves nothing itself", async () => {
  const figure = someFigure({ median: 3 });
  const { figures, left } = await measured(
    answering(JSON.stringify([figure])),
  );
  deepEqual(figures, [figure]);
  deepEqual(left, []);
});

Deno.test("measureIn() ends what runs too long, and calls it late", async () => {
  const { figures, left } = await measured(
    program("for await (const _ of Deno.stdin.readable);"),
    300,
  );
  equal(figures, "late");
  deepEqual(left, []);
});

Deno.test("measureIn() kills what does not hear that its time is up", async () => {
  const { figures } = await measured(
    program("setInterval(() => {}, 1_000)"),
    300,
  );
  equal(figures, "late");
});

Deno.test("measureIn() fails where a process ended without figures, and says its last words", async () => {
  await rejects(
    measured(program("throw new Error('no disk')")),
    (error) => error instanceof GateFailure && /no disk/.test(error.message),
  );
  await rejects(measured(answering("[")), GateFailure);
});
