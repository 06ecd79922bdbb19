/**
 * The parent's end of a child process.
 *
 * @module
 */

import {
  type Assignment,
  type Command,
  parseReply,
  type Reply,
} from "./protocol.ts";

/** A bulk load of a million items on a slow disk must fit; a hang must not last for ever. */
const replyMsMax = 900_000;

/** Children that have not ended yet. */
const running = new Set<Deno.ChildProcess>();

/** Ends every child at once, when the run is broken off. */
export function killRunners(): void {
  for (const process of running) process.kill("SIGKILL");
}

/** A running child that obeys one command at a time. */
export class Runner {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;
  #rest = "";
  #failed: string | undefined;

  private constructor(assignment: Assignment) {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-check",
        "--quiet",
        "--allow-all",
        "--v8-flags=--expose-gc",
        new URL("./child.ts", import.meta.url).href,
        JSON.stringify(assignment),
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    running.add(this.#process);
    this.#process.status.then(() => running.delete(this.#process));
    this.#input = this.#process.stdin.getWriter();
    this.#output = this.#process.stdout.pipeThrough(new TextDecoderStream())
      .getReader();
  }

  /** Starts a child and waits until it has loaded its engine. */
  static async start(assignment: Assignment): Promise<Runner> {
    const runner = new Runner(assignment);
    const greeting = await runner.#reply();
    runner.#failed = greeting.failed;
    return runner;
  }

  /** Has the child do something; a child that failed at the start says so to everything. */
  async do(command: Command): Promise<Reply> {
    if (this.#failed !== undefined) return { failed: this.#failed };
    try {
      await this.#input.write(
        new TextEncoder().encode(JSON.stringify(command) + "\n"),
      );
    } catch {
      return { failed: this.#failed = "the child process died" };
    }
    return await this.#reply();
  }

  /** Ends the child. */
  async stop(): Promise<void> {
    await this.#input.close().catch(() => {});
    await this.#output.cancel().catch(() => {});
    await this.#process.status;
  }

  async #reply(): Promise<Reply> {
    const timer = setTimeout(() => {
      this.#failed = `no reply within ${replyMsMax / 1_000} s`;
      this.#process.kill("SIGKILL");
    }, replyMsMax);
    try {
      return parseReply(await this.#line());
    } catch (error) {
      return {
        failed: this.#failed ??= error instanceof Error
          ? error.message
          : String(error),
      };
    } finally {
      clearTimeout(timer);
    }
  }

  async #line(): Promise<string> {
    let end = this.#rest.indexOf("\n");
    while (end < 0) {
      const { value, done } = await this.#output.read();
      if (done) throw new Error("the child process died");
      this.#rest += value;
      end = this.#rest.indexOf("\n");
    }
    const line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + 1);
    return line;
  }
}
