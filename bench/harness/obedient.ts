/**
 * A process that answers each line with a line: the parent's end.
 *
 * @module
 */

import { linesOf } from "./lines.ts";

/** Those that have not ended yet. */
const running = new Set<Deno.ChildProcess>();

/** Ends every process at once, when the run is broken off. */
export function killObedient(): void {
  for (const process of running) process.kill("SIGKILL");
}

/** A running process that obeys one command at a time; all are JSON. */
export class Obedient {
  readonly #process: Deno.ChildProcess;
  readonly #lines: AsyncGenerator<string, void>;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;

  /** Starts `module` with one argument. */
  constructor(module: URL, assignment: unknown) {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-check",
        "--quiet",
        "--allow-all",
        "--v8-flags=--expose-gc",
        module.href,
        JSON.stringify(assignment),
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    running.add(this.#process);
    this.#process.status.then(() => running.delete(this.#process));
    this.#lines = linesOf(this.#process.stdout);
    this.#input = this.#process.stdin.getWriter();
  }

  /** Its id. */
  get pid(): number {
    return this.#process.pid;
  }

  /** The next thing that it says. */
  protected async answer<T>(): Promise<T> {
    const { value: line } = await this.#lines.next();
    if (typeof line !== "string") throw new Error("the process has ended");
    return JSON.parse(line);
  }

  /** Says something, and waits for the answer. */
  protected async ask<T>(command: unknown): Promise<T> {
    const line = `${JSON.stringify(command)}\n`;
    await this.#input.write(new TextEncoder().encode(line));
    return await this.answer();
  }

  /** Pulls the plug. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
    await this.#lines.return();
  }

  /** Lets it close well. */
  async stop(): Promise<void> {
    await this.#input.close().catch(() => {});
    await this.#process.status;
    await this.#lines.return();
  }
}
