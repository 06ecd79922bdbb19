/**
 * The schedule: who runs when.
 *
 * The contestants of one group take turns within every measure, first to last
 * and last to first, so that whatever slows the machine hits them alike. Two
 * groups run one after the other: SQLite FULL with Default and Trusted, SQLite
 * OFF with Fast.
 *
 * @module
 */

import { numbers } from "../harness/scramble.ts";
import type { Figure } from "../harness/figure.ts";
import { removeFolder } from "../harness/folders.ts";
import type { Watcher } from "../harness/schedule.ts";
import type { Contestant } from "./engine.ts";
import type { Reply } from "./protocol.ts";
import { isFor } from "./contestants.ts";
import { buildFigures, type Measurement } from "./results.ts";
import { Runner } from "./runner.ts";
import { packagedCore } from "./packaged_core.ts";
import { timeStart } from "./starts.ts";
import {
  type Measure,
  measureKey,
  measuresOf,
  type RowPlan,
} from "./table1.ts";
import { shapeOf, type StoreName } from "./workload.ts";

/** How much time each measure gets. */
export interface Budget {
  /** Turns of each contestant in a warm measure. */
  readonly rounds: number;
  /** One turn lasts this long at most… */
  readonly sliceMs: number;
  /** …and takes this many samples at most. */
  readonly samplesMax: number;
  readonly warmMs: number;
  /** Processes started for each contestant of a fresh measure. */
  readonly freshRuns: number;
  /** Processes started for each contestant for a value. */
  readonly valueRuns: number;
}

/** What is asked of a run. */
export interface SqliteOrder {
  readonly plans: readonly RowPlan[];
  /** Contestants that take turns with each other; one group runs after the other. */
  readonly groups: readonly (readonly Contestant[])[];
  readonly sizes: readonly number[];
  readonly budget: Budget;
  /** Where the databases are made; removed afterwards. */
  readonly folder: string;
}

/** Runs everything that was ordered. */
export async function runSqlite(
  order: SqliteOrder,
  watcher: Watcher,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const { plans, groups } = order;
  for (const size of order.sizes) {
    const measured = new Map<string, Map<Contestant, Measurement>>();
    for (const group of groups) {
      await new GroupRun(order, size, group, watcher).run(
        measuresOf(plans.filter((plan) => isFor(plan, group))),
        measured,
      );
    }
    figures.push(...buildFigures(plans, groups.flat(), size, measured));
  }
  return figures;
}

/** One group of contestants at one size. */
class GroupRun {
  readonly #order: SqliteOrder;
  readonly #size: number;
  readonly #group: readonly Contestant[];
  readonly #watcher: Watcher;
  /** Children that live through all warm measures. */
  readonly #runners = new Map<Contestant, Runner>();
  readonly #samples = new Map<Contestant, Collected>();

  constructor(
    order: SqliteOrder,
    size: number,
    group: readonly Contestant[],
    watcher: Watcher,
  ) {
    this.#order = order;
    this.#size = size;
    this.#group = group;
    this.#watcher = watcher;
  }

  async run(
    measures: readonly Measure[],
    measured: Map<string, Map<Contestant, Measurement>>,
  ): Promise<void> {
    const stores = new Set(measures.map((measure) => measure.store));
    this.#watcher.begin(measures.length + stores.size);
    try {
      for (const store of stores) await this.#load(store);
      for (const measure of measures) {
        this.#watcher.step(
          `${this.#size} items, ${this.#group.join(" ")}: ${
            measureKey(measure)
          }`,
        );
        const results = await this.#measure(measure);
        measured.set(
          measureKey(measure),
          new Map([...measured.get(measureKey(measure)) ?? [], ...results]),
        );
      }
    } finally {
      for (const runner of this.#runners.values()) await runner.stop();
      for (const contestant of this.#group) {
        await removeFolder(this.#home(contestant));
      }
    }
  }

  async #load(store: StoreName): Promise<void> {
    this.#watcher.step(
      `${this.#size} items, ${this.#group.join(" ")}: preparing ${store}`,
    );
    for (const contestant of this.#group) {
      Deno.mkdirSync(this.#home(contestant), { recursive: true });
      const reply = await this.#briefly(
        contestant,
        (runner) => runner.do({ do: "load", store }),
      );
      if (reply.failed !== undefined) {
        this.#watcher.note(`${contestant}: cannot load: ${reply.failed}`);
      }
    }
  }

  async #measure(measure: Measure): Promise<Map<Contestant, Measurement>> {
    this.#samples.clear();
    for (const contestant of this.#group) {
      this.#samples.set(contestant, new Collected());
    }
    switch (measure.process) {
      case "whole":
        await this.#inWholeProcesses(measure);
        break;
      case "warm":
        await this.#warm(measure.workload, measure.store);
        break;
      case "fresh":
      case "value":
        await this.#inFreshProcesses(measure);
    }
    return new Map(
      [...this.#samples].map((
        [contestant, collected],
      ) => [contestant, collected.measurement()]),
    );
  }

  async #warm(workload: string, store: StoreName): Promise<void> {
    const { rounds, sliceMs, samplesMax, warmMs } = this.#order.budget;
    for (const contestant of this.#group) {
      const runner = await this.#runner(contestant);
      this.#collect(
        contestant,
        await runner.do({ do: "start", workload, store, warmMs }),
      );
    }
    for (const contestant of this.#turns(rounds)) {
      const runner = await this.#runner(contestant);
      this.#collect(
        contestant,
        await runner.do({ do: "slice", sliceMs, samplesMax }),
      );
    }
    for (const contestant of this.#group) {
      const runner = await this.#runner(contestant);
      this.#collect(contestant, await runner.do({ do: "finish" }));
    }
  }

  /** Nobody else may have the databases open. */
  async #release(): Promise<void> {
    for (const runner of this.#runners.values()) {
      await runner.do({ do: "release" });
    }
  }

  async #inWholeProcesses({ workload, store }: Measure): Promise<void> {
    await this.#release();
    const next = numbers(5);
    const core = workload.startsWith("package")
      ? await packagedCore(this.#order.folder)
      : undefined;
    for (const contestant of this.#turns(this.#order.budget.freshRuns)) {
      const reply = await timeStart({
        contestant,
        folder: `${this.#home(contestant)}/${store}`,
        shape: shapeOf(store),
        index: workload === "package-import" ? undefined : next(this.#size),
        core,
        isCold: workload.endsWith("cold"),
      }).catch((error): Reply => ({ failed: String(error) }));
      this.#collect(contestant, reply);
    }
  }

  async #inFreshProcesses(measure: Measure): Promise<void> {
    await this.#release();
    const { freshRuns, valueRuns } = this.#order.budget;
    const { workload, store } = measure;
    // Rewriting a collection ten times takes long and gives the same bytes each time.
    const runs = measure.process === "fresh"
      ? freshRuns
      : workload.startsWith("memory")
      ? valueRuns
      : 1;
    const checked = new Set<Contestant>();
    for (const contestant of this.#turns(runs)) {
      if (this.#samples.get(contestant)?.isBroken === true) continue;
      const isChecked = !checked.has(contestant);
      checked.add(contestant);
      const reply = await this.#briefly(
        contestant,
        (runner) =>
          measure.process === "fresh"
            ? runner.do({ do: "once", workload, store, isChecked })
            : runner.do({ do: "value", workload, store }),
      );
      this.#collect(contestant, reply);
    }
  }

  /** Everyone once a round, to and fro. */
  *#turns(rounds: number): Generator<Contestant> {
    for (let round = 0; round < rounds; round++) {
      yield* round % 2 === 0 ? this.#group : [...this.#group].reverse();
    }
  }

  #collect(contestant: Contestant, reply: Reply): void {
    this.#samples.get(contestant)?.add(reply);
  }

  async #runner(contestant: Contestant): Promise<Runner> {
    const known = this.#runners.get(contestant);
    if (known !== undefined) return known;
    const runner = await this.#start(contestant);
    this.#runners.set(contestant, runner);
    return runner;
  }

  async #briefly(
    contestant: Contestant,
    work: (runner: Runner) => Promise<Reply>,
  ): Promise<Reply> {
    const runner = await this.#start(contestant);
    try {
      return await work(runner);
    } finally {
      await runner.stop();
    }
  }

  #start(contestant: Contestant): Promise<Runner> {
    return Runner.start({
      contestant,
      home: this.#home(contestant),
      size: this.#size,
    });
  }

  #home(contestant: Contestant): string {
    return `${this.#order.folder}/${this.#size}-${contestant}`;
  }
}

/** What one contestant's replies amount to. */
class Collected {
  readonly #turns: (readonly number[])[] = [];
  readonly #floors: number[] = [];
  #wrong: string | undefined;
  #failed: string | undefined;

  /** There is no point in going on. */
  get isBroken(): boolean {
    return this.#failed !== undefined;
  }

  add(reply: Reply): void {
    this.#wrong ??= reply.wrong;
    this.#failed ??= reply.failed;
    if (reply.samples !== undefined) this.#turns.push(reply.samples);
    if (reply.value !== undefined) this.#turns.push([reply.value]);
    if (reply.floor !== undefined) this.#floors.push(reply.floor);
  }

  measurement(): Measurement {
    return {
      turns: this.#failed === undefined ? this.#turns : [],
      floors: this.#floors,
      ...(this.#wrong === undefined ? {} : { wrong: this.#wrong }),
      ...(this.#failed === undefined ? {} : { failed: this.#failed }),
    };
  }
}
