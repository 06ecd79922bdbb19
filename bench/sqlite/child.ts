/**
 * One contestant in a process of its own: opens, writes, reads and times.
 *
 * A process each keeps one engine's heap, compiler and garbage out of the
 * other's figures. It ends when its standard input does.
 *
 * @module
 */

import { obeyLines, say } from "../harness/lines.ts";
import type { Engine } from "./engine.ts";
import { loadEngine } from "./load_engine.ts";
import type { Assignment, Command, Reply } from "./protocol.ts";
import { collectGarbage, loadAll } from "./values.ts";
import {
  type Context,
  shapeOf,
  Store,
  type StoreName,
  type Task,
} from "./workload.ts";
import { startTask, takeValue } from "./workloads.ts";

/** After so many runs the compiler has seen what it needs. */
const warmSamples = 300;

class Child {
  readonly #assignment: Assignment;
  readonly #engine: Engine;
  readonly #stores = new Map<StoreName, Store>();
  #task: Task | undefined;
  #wrong: string | undefined;

  constructor(assignment: Assignment, engine: Engine) {
    this.#assignment = assignment;
    this.#engine = engine;
  }

  async obey(command: Command): Promise<Reply> {
    switch (command.do) {
      case "load":
        return await this.#load(command.store);
      case "start":
        return await this.#start(
          command.workload,
          command.store,
          command.warmMs,
        );
      case "slice":
        return {
          samples: await this.#slice(command.sliceMs, command.samplesMax, 1),
          ...this.#verdict(),
        };
      case "finish":
        return await this.#finish();
      case "once":
        return await this.#once(
          command.workload,
          command.store,
          command.isChecked,
        );
      case "value": {
        const { value, wrong } = await takeValue(
          command.workload,
          this.#context(command.store),
        );
        return wrong === undefined ? { value } : { value, wrong };
      }
      case "release":
        for (const store of this.#stores.values()) await store.release();
        return {};
    }
  }

  async #load(name: StoreName): Promise<Reply> {
    const store = this.#context(name).store;
    await loadAll(await store.database(), store.model.size);
    await store.release();
    return {};
  }

  async #start(
    workload: string,
    name: StoreName,
    warmMs: number,
  ): Promise<Reply> {
    this.#wrong = undefined;
    this.#task = await startTask(workload, this.#context(name));
    await this.#warmUp(warmMs);
    this.#wrong ??= await this.#task.check();
    collectGarbage();
    return this.#verdict();
  }

  /** A slow disk must not leave a quick write's code cold: some samples more, within reason. */
  async #warmUp(warmMs: number): Promise<void> {
    const first = await this.#slice(warmMs, 1_000, 1);
    const missing = warmSamples - first.length;
    if (missing > 0) await this.#slice(3 * warmMs, missing, 0);
  }

  async #finish(): Promise<Reply> {
    this.#wrong ??= await this.#task?.check();
    await this.#task?.end?.();
    this.#task = undefined;
    return this.#verdict();
  }

  async #once(
    workload: string,
    name: StoreName,
    isChecked: boolean,
  ): Promise<Reply> {
    this.#wrong = undefined;
    this.#task = await startTask(workload, this.#context(name));
    const samples = await this.#slice(0, 1, 1);
    if (isChecked) this.#wrong ??= await this.#task.check();
    return { samples, ...this.#verdict() };
  }

  /** Times the task for `sliceMs`, at least `samplesMin` and at most `samplesMax` times. */
  async #slice(
    sliceMs: number,
    samplesMax: number,
    samplesMin: number,
  ): Promise<number[]> {
    const task = this.#task;
    if (task === undefined) throw new Error("no workload was started");
    const samples: number[] = [];
    const end = performance.now() + sliceMs;
    while (
      samples.length < samplesMax &&
      (samples.length < samplesMin || performance.now() < end)
    ) {
      if (task.before !== undefined) await task.before();
      const from = performance.now();
      const done = task.run();
      if (done instanceof Promise) await done;
      const tookMs = performance.now() - from - (task.deducted?.() ?? 0);
      samples.push(tookMs / task.burst);
      // Always called: it also clears up.
      const wrong = task.after === undefined ? undefined : await task.after();
      this.#wrong ??= wrong;
    }
    return samples;
  }

  #verdict(): Reply {
    return this.#wrong === undefined ? {} : { wrong: this.#wrong };
  }

  #context(name: StoreName): Context {
    const { home, size } = this.#assignment;
    let store = this.#stores.get(name);
    if (store === undefined) {
      store = new Store(
        this.#engine,
        `${home}/${name}`,
        shapeOf(name),
        name === "empty" ? 0 : size,
      );
      this.#stores.set(name, store);
    }
    return { engine: this.#engine, home, size, store };
  }
}

/** What it is, or why it is not. */
async function orFailed(reply: () => Promise<Reply>): Promise<Reply> {
  try {
    return await reply();
  } catch (error) {
    return { failed: String(error) };
  }
}

/** Nothing but replies may be written to standard output. */
async function main(): Promise<void> {
  const assignment: Assignment = JSON.parse(Deno.args[0] ?? "");
  let child: Child | undefined;
  say(
    await orFailed(async () => {
      child = new Child(assignment, await loadEngine(assignment.contestant));
      return {};
    }),
  );
  await obeyLines((command: Command) =>
    orFailed(() =>
      child?.obey(command) ??
        Promise.reject(new Error("the engine did not start"))
    )
  );
  Deno.exit(0);
}

if (import.meta.main) await main();
