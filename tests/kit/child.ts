/**
 * Programs that tests start, all by this one class: where one ends otherwise
 * than it should, or says not what it should, the failure tells its command,
 * its exit code or signal, and what it said last.
 *
 * @module
 */

import { equal } from "node:assert/strict";
import { PATIENCE_MS } from "./patience.ts";

/** How a program is started. */
export interface ChildOptions {
  /** Deno where it is not said. */
  readonly program?: string;
  readonly cwd?: string | URL;
  readonly env?: Readonly<Record<string, string>>;
  /** Keeps its input open, for {@linkcode Child.write}. */
  readonly hasInput?: boolean;
}

/** How a program ended, and all that it said. */
export interface Ran {
  readonly code: number;
  readonly signal: Deno.Signal | null;
  readonly out: string;
  readonly err: string;
  /** All of this for people. */
  readonly report: string;
}

type Stream = "out" | "err";

/** Of what a program said only the end is shown. */
const SHOWN_CHARACTERS = 4_000;

/** A running program. */
export class Child implements AsyncDisposable {
  /** Resolves when it has ended and all that it said was read. */
  readonly ended: Promise<Ran>;
  readonly #command: string;
  readonly #process: Deno.ChildProcess;
  readonly #said: Record<Stream, string> = { out: "", err: "" };
  readonly #readers = new Map<
    Stream,
    ReadableStreamDefaultReader<Uint8Array>
  >();
  #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #status: Deno.CommandStatus | undefined;
  #news = Promise.withResolvers<void>();
  #isOver = false;

  /** Starts Deno, or another program, with arguments. */
  constructor(
    args: readonly string[],
    { program, cwd, env, hasInput = false }: ChildOptions = {},
  ) {
    this.#command = `${program ?? "deno"} ${args.join(" ")}`;
    this.#process = new Deno.Command(program ?? Deno.execPath(), {
      args: [...args],
      ...(cwd !== undefined && { cwd }),
      env: { NO_COLOR: "1", ...env },
      stdin: hasInput ? "piped" : "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (hasInput) this.#input = this.#process.stdin.getWriter();
    this.ended = this.#run();
  }

  /** Starts a program, gives it an input, and waits for its end. */
  static async run(
    args: readonly string[],
    { input, ...options }: ChildOptions & { readonly input?: string } = {},
  ): Promise<Ran> {
    const hasInput = input !== undefined;
    await using child = new Child(args, { ...options, hasInput });
    if (hasInput) {
      await child.write(input);
      await child.closeInput();
    }
    return await child.ended;
  }

  async #run(): Promise<Ran> {
    const { stdout, stderr, status } = this.#process;
    void status.then((status) => {
      this.#status = status;
      this.#wake();
    });
    await Promise.all([this.#read("out", stdout), this.#read("err", stderr)]);
    const { code, signal } = await status;
    await this.#input?.abort().catch(() => {});
    this.#isOver = true;
    this.#wake();
    return { code, signal, ...this.#said, report: this.report() };
  }

  async #read(what: Stream, from: ReadableStream<Uint8Array>): Promise<void> {
    const reader = from.getReader();
    this.#readers.set(what, reader);
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.#said[what] += decoder.decode(value, { stream: true });
      this.#wake();
    }
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** Has it ended, by itself or killed? */
  get hasEnded(): boolean {
    return this.#status !== undefined;
  }

  /** Waits until what it said fits a form; all that it said so far. */
  async said(form: RegExp, where: Stream = "out"): Promise<string> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake();
    }, PATIENCE_MS);
    try {
      while (!form.test(this.#said[where])) {
        if (this.#isOver || isLate) {
          throw new Error(`It never said ${form}. ${this.report()}`);
        }
        await this.#news.promise;
      }
      return this.#said[where];
    } finally {
      clearTimeout(timer);
    }
  }

  /** Every whole line of its output, until it has ended. */
  async *lines(): AsyncGenerator<string> {
    for (let from = 0;;) {
      const end = this.#said.out.indexOf("\n", from);
      if (end >= 0) {
        yield this.#said.out.slice(from, end);
        from = end + 1;
      } else if (this.#isOver) return;
      else await this.#news.promise;
    }
  }

  /** Writes to its input. */
  async write(text: string): Promise<void> {
    await this.#input!.write(new TextEncoder().encode(text));
  }

  /** Its input ends. */
  async closeInput(): Promise<void> {
    await this.#input!.close();
  }

  /** Nobody reads its output any more. */
  async leave(): Promise<void> {
    await this.#readers.get("out")!.cancel();
  }

  /** Sends it a signal, if it still runs. */
  kill(signal: Deno.Signal = "SIGKILL"): void {
    try {
      this.#process.kill(signal);
    } catch {
      // It has ended already.
    }
  }

  /**
   * Waits for its end, which must be a good one. The platform sometimes crashes
   * on its way out, when all work is done: who said its last word ended well.
   */
  async endsWell(lastWord?: RegExp): Promise<Ran> {
    const ran = await this.ended;
    const hasCrashed = ran.signal === "SIGSEGV" || ran.signal === "SIGABRT";
    if (hasCrashed && lastWord?.test(ran.out)) return ran;
    equal(ran.code, 0, ran.report);
    return ran;
  }

  /** What it is and how, for people. */
  report(): string {
    const parts = [`\`${this.#command}\` ${howItIs(this.#status)}.`];
    for (const stream of ["err", "out"] as const) {
      const text = this.#said[stream].trimEnd();
      const name = stream === "err" ? "standard error" : "standard output";
      parts.push(
        text === ""
          ? `Its ${name} is empty.`
          : `The end of its ${name}:\n${text.slice(-SHOWN_CHARACTERS)}`,
      );
    }
    return parts.join("\n");
  }

  /** Ends it. Where it still runs a test has failed, and may want to know why. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasEnded) {
      console.error(this.report());
      this.kill();
    }
    await this.#process.status;
    // What it started itself may live on and hold them.
    for (const reader of this.#readers.values()) await reader.cancel();
    await this.ended;
  }
}

function howItIs(status: Deno.CommandStatus | undefined): string {
  if (status === undefined) return "runs";
  const { code, signal } = status;
  return signal === null ? `ended with ${code}` : `was ended by ${signal}`;
}
