/**
 * The page of the storage tests: starts workers and passes questions to them.
 *
 * @module
 */

import type { Questions } from "./storage_worker.ts";

interface Answer {
  readonly id: number;
  /** Not an answer: so many records are durable. */
  readonly durable?: number;
  readonly value?: unknown;
  readonly failure?: string;
}

interface Running {
  readonly worker: Worker;
  readonly waiting: Map<number, (answer: Answer) => void>;
}

const workers = new Map<string, Running>();
let lastId = 0;
let durable = 0;

function start(name: string): Running {
  const worker = new Worker("/worker.js", { type: "module" });
  const waiting = new Map<number, (answer: Answer) => void>();
  worker.onmessage = ({ data }: MessageEvent<Answer>) => {
    if (data.durable !== undefined) durable = data.durable;
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  };
  const running = { worker, waiting };
  workers.set(name, running);
  return running;
}

/** Asks the worker of this name, which is started when there is none. */
export async function ask<Name extends keyof Questions>(
  worker: string,
  question: Name,
  ...args: Parameters<Questions[Name]>
): Promise<Awaited<ReturnType<Questions[Name]>>> {
  const running = workers.get(worker) ?? start(worker);
  const id = ++lastId;
  const answer = await new Promise<Answer>((resolve) => {
    running.waiting.set(id, resolve);
    running.worker.postMessage({ id, question, args });
  });
  if (answer.failure !== undefined) throw new Error(answer.failure);
  return answer.value as Awaited<ReturnType<Questions[Name]>>;
}

/** Ends a worker in the midst of whatever it does. */
export function kill(worker: string): void {
  workers.get(worker)?.worker.terminate();
  workers.delete(worker);
}

/** How many records a worker's load has made durable. */
export function durableCount(): number {
  return durable;
}

/** Starts a load; it never ends. */
export function startLoad(worker: string): void {
  void ask(worker, "load");
}

let heavyEnd: string | undefined;

/** Starts a load in which a write is nearly always under way. */
export function startHeavyLoad(worker: string): void {
  void ask(worker, "heavyLoad").then((code) => heavyEnd = code);
}

/** The code that ended it. */
export function heavyLoadEnd(): string | undefined {
  return heavyEnd;
}
