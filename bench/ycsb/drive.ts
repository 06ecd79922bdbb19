/**
 * Runs a number of operations against a store, some of them in flight.
 *
 * A lane takes the next operation, does it and waits for what it must wait for;
 * there are as many lanes as operations in flight. Each operation's latency is
 * from the call to its answer or acknowledgement, and nothing else; the rate is
 * over the whole time, so it also pays for choosing values and reading answers,
 * as YCSB's own client does, the same for every engine. It ends when all of
 * them are answered.
 *
 * @module
 */

import process from "node:process";
import { cpuSecondsOf, forgetPeaks, peakBytesOf } from "./cost.ts";
import { isPromise, type Model, noVersions } from "./model.ts";
import { fieldName, type Fields, fieldsOf, touch, valueOf } from "./records.ts";
import type { Done, Soon, Store } from "./store.ts";
import { type Action, actions, type Operations } from "./workloads.ts";

/** One of so many answers is kept and looked at when the clock has stopped. */
const keptOneIn = 61;

/** What a run did. */
export interface RunFigures {
  readonly operations: number;
  readonly seconds: number;
  /** Milliseconds of each operation, by what it was. */
  readonly latencies: ReadonlyMap<Action, Float64Array>;
  /** Of all processes of the engine; `undefined` where nobody says. */
  readonly cpuSeconds: number | undefined;
  readonly peakBytes: number | undefined;
}

/** How operations are run. */
export interface DriveOptions {
  readonly store: Store;
  readonly model: Model;
  readonly operations: Operations;
  readonly inFlight: number;
}

/** Latencies of one kind of operation. */
class Samples {
  readonly #values: Float64Array;
  #count = 0;

  constructor(room: number) {
    this.#values = new Float64Array(room);
  }

  add(value: number): void {
    this.#values[this.#count++] = value;
  }

  get values(): Float64Array {
    return this.#values.subarray(0, this.#count);
  }
}

class Drive {
  readonly #store: Store;
  readonly #model: Model;
  readonly #operations: Operations;
  readonly #samples: readonly Samples[];
  /** Where reads and scans may expect all records below. */
  readonly #known: number;
  /** Records whose insert is not acknowledged yet: who reads one may find nothing. */
  readonly #coming = new Set<number>();
  #at = 0;
  #ended = 0;
  /** Keeps the compiler from dropping what is read. */
  #checksum = 0;

  constructor({ store, model, operations }: DriveOptions) {
    this.#store = store;
    this.#model = model;
    this.#operations = operations;
    this.#known = model.records;
    this.#samples = actions.map((_, code) => {
      const room = operations.actions.filter((one) => one === code).length;
      return new Samples(room);
    });
  }

  async run(inFlight: number): Promise<RunFigures> {
    const processes = [process.pid, ...this.#store.others ?? []];
    forgetPeaks(processes);
    const cpuBefore = this.#cpuSeconds();
    const start = performance.now();
    await Promise.all(Array.from({ length: inFlight }, () => this.#lane()));
    const seconds = (performance.now() - start) / 1_000;
    const cpuAfter = this.#cpuSeconds();
    return {
      operations: this.#ended,
      seconds,
      latencies: new Map(
        actions.map((action, code) => [action, this.#samples[code]!.values]),
      ),
      cpuSeconds: cpuBefore === undefined || cpuAfter === undefined
        ? undefined
        : cpuAfter - cpuBefore,
      peakBytes: this.#store.others && peakBytesOf(processes),
    };
  }

  #cpuSeconds(): number | undefined {
    const { others } = this.#store;
    const elsewhere = others && cpuSecondsOf(others);
    if (elsewhere === undefined) return undefined;
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6 + elsewhere;
  }

  async #lane(): Promise<void> {
    const { count, actions: codes } = this.#operations;
    while (this.#at < count) {
      const at = this.#at++;
      const code = codes[at]!;
      const took = this.#run(actions[code]!, at);
      this.#samples[code]!.add(typeof took === "number" ? took : await took);
      this.#ended++;
    }
  }

  /** One operation: how long it took, in milliseconds. */
  #run(action: Action, at: number): number | PromiseLike<number> {
    const index = this.#operations.records[at]!;
    const detail = this.#operations.details[at]!;
    switch (action) {
      case "read":
        return this.#read(index, at);
      case "scan":
        return this.#scan(index, detail, at);
      case "insert":
        return this.#insert(index);
      case "update":
        return this.#update(index, detail);
      case "modify":
        return this.#modify(index, detail, at);
    }
  }

  #read(index: number, at: number): number | PromiseLike<number> {
    const key = this.#model.keys.of(index);
    const from = this.#versions(index, at);
    const isComing = this.#coming.has(index);
    const start = performance.now();
    const answer = this.#store.read(key);
    return since(start, answer, (fields) => {
      if (fields !== undefined || !isComing) this.#take(index, from, fields);
    });
  }

  #scan(
    index: number,
    count: number,
    at: number,
  ): number | PromiseLike<number> {
    const key = this.#model.keys.of(index);
    const start = performance.now();
    const answer = this.#store.scan(key, count);
    return since(start, answer, (found) => {
      for (const { fields } of found) this.#checksum += touch(fields);
      if (at % keptOneIn !== 0) return;
      this.#model.keepScan(index, count, found, this.#known);
    });
  }

  #insert(index: number): number | PromiseLike<number> {
    const key = this.#model.keys.of(index);
    const fields = fieldsOf(index);
    this.#model.records = Math.max(this.#model.records, index + 1);
    this.#coming.add(index);
    const start = performance.now();
    const done = this.#store.insert(key, fields);
    return since(start, done, () => void this.#coming.delete(index));
  }

  #update(index: number, field: number): number | PromiseLike<number> {
    const key = this.#model.keys.of(index);
    const version = this.#model.ask(index, field);
    const value = valueOf(index, field, version);
    const start = performance.now();
    const done = this.#store.update(key, fieldName(field), value);
    return since(
      start,
      done,
      () => this.#model.acknowledge(index, field),
    );
  }

  /** Reads all fields, then writes one of them. */
  #modify(
    index: number,
    field: number,
    at: number,
  ): number | PromiseLike<number> {
    const key = this.#model.keys.of(index);
    const name = fieldName(field);
    const from = this.#versions(index, at);
    const version = this.#model.ask(index, field);
    const value = valueOf(index, field, version);
    const start = performance.now();
    const answer = this.#store.read(key);
    let fields: Fields | undefined;
    const write = (read: Fields | undefined): Done => {
      fields = read;
      return this.#store.update(key, name, value);
    };
    const done = isPromise(answer) ? answer.then(write) : write(answer);
    return since(start, done, () => {
      this.#model.acknowledge(index, field);
      this.#take(index, from, fields);
    });
  }

  /** What a read may see at least, where its answer will be kept. */
  #versions(index: number, at: number): readonly number[] | undefined {
    return at % keptOneIn === 0 ? this.#model.before(index) : undefined;
  }

  #take(
    index: number,
    from: readonly number[] | undefined,
    fields: Fields | undefined,
  ): void {
    if (fields === undefined) this.#model.keep(index, noVersions, fields);
    else {
      this.#checksum += touch(fields);
      if (from !== undefined) this.#model.keep(index, from, fields);
    }
  }
}

/** Milliseconds from `start` until `answer` is there; then it is taken, untimed. */
function since<T>(
  start: number,
  answer: Soon<T>,
  take: (answer: T) => void,
): number | PromiseLike<number> {
  if (isPromise(answer)) {
    return answer.then((value) => {
      const ms = performance.now() - start;
      take(value);
      return ms;
    });
  }
  const ms = performance.now() - start;
  take(answer);
  return ms;
}

/** Runs all operations. */
export function drive(options: DriveOptions): Promise<RunFigures> {
  options.store.expect?.(options.inFlight);
  return new Drive(options).run(options.inFlight);
}
