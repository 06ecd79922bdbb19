/**
 * One process of `deno test` over some files, in one isolate.
 *
 * @module
 */

import { Transcript } from "./transcript.ts";

const root = new URL("../../", import.meta.url);
const script = (name: string) => new URL(name, import.meta.url).pathname;

/** A machine that is busy with much else still gets through any test. */
const LIMIT_MS = 60_000;
const WHOLE_LIMIT_MS = 300_000;
/** Silence so long past the limit of a test is not the test's. */
const SILENT_MS = 60_000;
const STDERR_CHARACTERS = 4_000;

/** How files are tested. */
export interface TestOptions {
  /** Are suites that come in two sizes whole? */
  readonly isWhole: boolean;
  /** Only tests whose names have this. */
  readonly filter?: string | undefined;
  /** How long a test may take that sets no limit of its own, in milliseconds. */
  readonly limitMs?: number;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
  /** Hears of every line. */
  readonly heard: (transcript: Transcript) => void;
}

/** How a process of tests ended. */
export interface Ended {
  readonly transcript: Transcript;
  readonly code: number;
  readonly signal: string | null;
  /** Was it ended because it said nothing any more? */
  readonly isSilent: boolean;
  /** The last it wrote to its standard error. */
  readonly stderr: string;
}

/** Runs the tests of some files, by their paths from the root. */
export async function testFiles(
  files: readonly string[],
  { isWhole, filter, limitMs, signal, heard }: TestOptions,
): Promise<Ended> {
  const limit = limitMs ?? (isWhole ? WHOLE_LIMIT_MS : LIMIT_MS);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "--quiet",
      "--allow-all",
      "--no-check",
      "--permit-no-files",
      `--preload=${script("preload.ts")}`,
      script("together.ts"),
    ],
    cwd: root,
    env: {
      NO_COLOR: "1",
      SHEAF_TEST_FILES: files.join("\n"),
      SHEAF_TEST_LIMIT_MS: `${limit}`,
      SHEAF_TEST_FILTER: filter ?? "",
      ...isWhole && { SHEAF_TEST_TIER: "all" },
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    ...signal && { signal },
  }).spawn();
  const transcript = new Transcript(files);
  let isSilent = false;
  const kill = () => {
    isSilent = true;
    child.kill("SIGKILL");
  };
  let timer = setTimeout(kill, limit + SILENT_MS);
  const errors = tailOf(child.stderr);
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    clearTimeout(timer);
    timer = setTimeout(kill, limit + SILENT_MS);
    transcript.hear(text);
    heard(transcript);
  }
  clearTimeout(timer);
  const status = await child.status;
  return {
    transcript,
    code: status.code,
    signal: status.signal,
    isSilent,
    stderr: await errors,
  };
}

/** The last that a stream says. */
async function tailOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let tail = "";
  for await (
    const text of stream.pipeThrough(
      // Proof: a decoder takes what a process gives.
      new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>,
    )
  ) tail = (tail + text).slice(-STDERR_CHARACTERS);
  return tail.trim();
}
