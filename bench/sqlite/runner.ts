/**
 * The parent's end of a child process.
 *
 * @module
 */

import { Obedient } from "../harness/obedient.ts";
import type { Assignment, Command, Reply } from "./protocol.ts";

/** A bulk load of a million items on a slow disk must fit; a hang must not last for ever. */
const replyMsMax = 900_000;

/** A running child that obeys one command at a time. */
export class Runner extends Obedient {
  #failed: string | undefined;

  /** Starts a child and waits until it has loaded its engine. */
  static async start(assignment: Assignment): Promise<Runner> {
    const module = new URL("./child.ts", import.meta.url);
    const runner = new Runner(module, assignment);
    const greeting = await runner.#within(runner.answer());
    runner.#failed = greeting.failed;
    return runner;
  }

  /** Has the child do something; a child that failed at the start says so to everything. */
  async do(command: Command): Promise<Reply> {
    return this.#failed === undefined
      ? await this.#within(this.ask(command))
      : { failed: this.#failed };
  }

  async #within(reply: Promise<Reply>): Promise<Reply> {
    const timer = setTimeout(() => {
      this.#failed = `no reply within ${replyMsMax / 1_000} s`;
      void this.kill();
    }, replyMsMax);
    try {
      return await reply;
    } catch (error) {
      return { failed: this.#failed ??= String(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}
