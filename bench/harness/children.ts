/**
 * The processes that the bench starts, each the head of a group of its own, so
 * that whatever a process started in its turn (a server, a browser) ends with
 * it: at its time's end, and when the run is broken off.
 *
 * @module
 */

/** A child's complaint is told short, and never held whole: it may be without end. */
const complaintBytesMax = 8_192;
const complaintLines = 3;
const complaintCharsMax = 300;
/**
 * So long its last words may be on their way when a child has ended. A process
 * that it started and that left the group may hold the pipe for ever, and is
 * not waited for.
 */
const lastWordsMsMax = 1_000;

/** Groups exist where signals can be sent to them. */
const hasGroups = Deno.build.os !== "windows";

const running = new Set<Deno.ChildProcess>();

/** What to start: a module of ours with one argument, given as JSON. */
export interface ChildOrder {
  readonly module: URL;
  readonly argument: unknown;
  readonly msMax: number;
}

/** How a child ended; `complaint` is empty when it ended well. */
export interface Ending {
  readonly complaint: string;
}

/** Runs a module in a fresh process until it ends or is ended. Its output goes nowhere; what it found it leaves in a file. */
export async function runChild(order: ChildOrder): Promise<Ending> {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      "--quiet",
      "--allow-all",
      "--unstable-kv",
      "--v8-flags=--expose-gc",
      order.module.href,
      JSON.stringify(order.argument),
    ],
    // A pipe that ends when this process does, however that comes about.
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
    env: { NO_COLOR: "1" },
    detached: hasGroups,
  }).spawn();
  running.add(process);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killGroup(process);
  }, order.msMax);
  const tail = new Tail(process.stderr);
  try {
    const status = await process.status;
    clearTimeout(timer);
    // What the child itself started and did not end.
    killGroup(process);
    const said = await tail.end(lastWordsMsMax);
    if (isLate) {
      return { complaint: `killed after ${order.msMax / 1_000} s` };
    }
    if (status.success) return { complaint: "" };
    const line = complaintOf(said);
    return {
      complaint: line === "" ? `ended with code ${status.code}` : line,
    };
  } finally {
    clearTimeout(timer);
    running.delete(process);
    await process.stdin.abort().catch(() => {});
  }
}

/** Ends every process at once, when the run is broken off. */
export function killChildren(): void {
  for (const process of running) killGroup(process);
}

function killGroup(process: Deno.ChildProcess): void {
  try {
    if (hasGroups) Deno.kill(-process.pid, "SIGKILL");
    else process.kill("SIGKILL");
  } catch {
    // It has ended already, which is what was wanted.
  }
}

/** The end of a stream as text, of a bounded length, read as it comes. */
class Tail {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #whole: Promise<void>;
  #text = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
    // A pipe that breaks says no more.
    this.#whole = this.#read().catch(() => {});
  }

  /** What has come when the stream ends, or `msMax` from now. */
  async end(msMax: number): Promise<string> {
    const timer = setTimeout(() => void this.#reader.cancel(), msMax);
    await this.#whole;
    clearTimeout(timer);
    return this.#text;
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for (;;) {
      const { value, done } = await this.#reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      this.#text = (this.#text + text).slice(-complaintBytesMax);
    }
  }
}

/** The lines that say most: from the last error on, without the stack. */
export function complaintOf(said: string): string {
  const lines = said.split("\n").map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("at "));
  const from = lines.findLastIndex((line) =>
    /^(error|uncaught|thread .* panicked)/i.test(line)
  );
  const chosen = from < 0
    ? lines.slice(-complaintLines)
    : lines.slice(from, from + complaintLines);
  return chosen.join(" ").slice(0, complaintCharsMax);
}
