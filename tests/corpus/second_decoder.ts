/**
 * The second decoder, as a process: `decode.py`, which was written from
 * docs/format.md alone.
 *
 * @module
 */

import { ok } from "node:assert/strict";
import type { Files } from "../kit/images.ts";
import type { Said } from "./corpus.ts";

const DECODER = pathOf("decode.py");
const SIGNATURES = pathOf("ed25519.py");
const NEWER_THAN_3_8 = "import sys; sys.exit(sys.version_info < (3, 9))";

/** Is there a Python to run it? */
export const hasPython: boolean = await run(["-c", NEWER_THAN_3_8])
  .then(() => true, () => false);
if (!hasPython) {
  console.warn("tests of the second decoder are skipped: no python3 runs here");
}

/** A test of what it says. */
export function testDecoder(name: string, run: () => Promise<void>): void {
  Deno.test({ name, ignore: !hasPython, fn: run });
}

function pathOf(name: string): string {
  return new URL(name, import.meta.url).pathname;
}

/** What Python prints, line by line. */
async function run(args: string[], input = ""): Promise<string[]> {
  const child = new Deno.Command("python3", {
    args,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const output = child.output();
  await new Blob([input]).stream().pipeTo(child.stdin);
  const { success, stdout } = await output;
  ok(success, "the decoder ends well");
  return new TextDecoder().decode(stdout).trim().split("\n");
}

/** What it says of a log. */
export interface Told extends Said {
  readonly name: string;
  /** Why it reads nothing; all else is absent then. */
  readonly refused?: string;
  /** The address of what it does not take. */
  readonly place?: number;
  /** How many it found right. */
  readonly signatures: number;
  /** How many there are of each kind. */
  readonly records: Readonly<Record<string, number>>;
}

/** The segments among files, by their own names. */
export function segmentsIn(files: Files): Files {
  return files
    .map(([name, bytes]) => [name.split("/").at(-1)!, bytes] as const)
    .filter(([name]) => name.startsWith("log-"));
}

/** What it says of logs, each given as its segments. */
export async function told(logs: readonly Files[]): Promise<Told[]> {
  const folder = await Deno.makeTempDir();
  try {
    const paths = logs.map((_, i) => `${folder}/${i}`);
    for (const [i, files] of logs.entries()) {
      await Deno.mkdir(paths[i]!);
      for (const [name, bytes] of files) {
        await Deno.writeFile(`${paths[i]}/${name}`, bytes);
      }
    }
    return (await run([DECODER, ...paths])).map((line) => JSON.parse(line));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What it says of payloads in hexadecimal digits: "sound", or why not. */
export function judgePayloads(payloads: readonly string[]): Promise<string[]> {
  return run([DECODER, "-"], payloads.map((hex) => `${hex}\n`).join(""));
}

/** Which of these signatures it finds right; all in hexadecimal digits. */
export async function judgeSignatures(
  all: readonly { key: string; message: string; signature: string }[],
): Promise<boolean[]> {
  const lines = all.map(({ key, message, signature }) =>
    `${key} ${message} ${signature}\n`
  );
  const verdicts = await run([SIGNATURES, "-"], lines.join(""));
  return verdicts.map((verdict) => verdict === "valid");
}
