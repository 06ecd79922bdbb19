/**
 * One simulation: clients, a server, a network and accidents in virtual time,
 * and at the end everything healed and compared.
 *
 * Architecture invariant: everything follows from the seed, so that a run that
 * failed can be replayed byte for byte.
 *
 * @module
 */

import { Client } from "./client.ts";
import { Dice } from "./dice.ts";
import {
  checkAtEnd,
  checkEqual,
  checkOnTheWay,
  openQuestion,
} from "./checks/mod.ts";
import { NaiveJudge } from "./checks/judge.ts";
import { CheckFailed } from "./failure.ts";
import { Intruder } from "./intruder.ts";
import { Ledger } from "./ledger.ts";
import { type Link, Network } from "./network.ts";
import { Authority } from "./people.ts";
import { type Plan, planOf } from "./plan.ts";
import { Server } from "./server.ts";
import type { Stage } from "./stage.ts";
import { Timeline } from "./timeline.ts";
import { Trace } from "./trace.ts";
import { Weather } from "./weather.ts";
import { Villain } from "./villain.ts";
import { WireWatch } from "./checks/wire_watch.ts";

/** What a run did; equal for equal seeds. */
export interface Report {
  readonly seed: number;
  readonly plan: Plan;
  readonly events: number;
  readonly virtualMs: number;
  readonly writes: number;
  readonly commits: number;
  readonly counts: Readonly<Record<string, number>>;
  /** SHA-256 over everything that happened, in order. */
  readonly digest: string;
  /** What did not hold; absent when all is well. */
  readonly failure?: {
    readonly checker: string;
    readonly message: string;
    readonly stack: string;
  };
  /** The last things that happened. */
  readonly tail: readonly string[];
}

/** How a run is watched or bent. */
export interface RunOptions {
  /** Is told every line of the trace. */
  readonly hear?: (line: string) => void;
  /** Runs when all is quiet, before the checks: to see whether they see it. */
  readonly tamper?: (cast: Cast) => void;
  /** Changes what the seed chose. */
  readonly bend?: Partial<Plan>;
}

/** Within this time after everything was healed all must be equal. */
const HEAL_MS = 600_000;
/**
 * And within this where small quotas meet refusals: after each all that follows
 * is sent anew, and counts anew (seed 31002765: 70 refusals, 800 bytes a second, 6,700 s).
 */
const HEAL_SLOWLY_MS = 10_800_000;
/** Time between two looks of the checks. */
const LOOK_MS = 1_000;

/** Runs one seed. */
export async function simulate(
  seed: number,
  options: RunOptions = {},
): Promise<Report> {
  const run = new Simulation(seed, options);
  await run.run();
  return run.report();
}

/** Everybody on one stage. */
export interface Cast {
  readonly stage: Stage;
  readonly server: Server;
  readonly clients: readonly Client[];
  readonly intruder: Intruder;
  readonly villains: readonly Villain[];
  readonly wire: WireWatch;
}

class Simulation {
  readonly #timeline = new Timeline();
  readonly #trace: Trace;
  readonly #stage: Stage;
  readonly #cast: Cast;
  readonly #weather: Weather;
  readonly #wire: WireWatch;
  readonly #tamper: RunOptions["tamper"];
  #failure: Error | undefined;

  constructor(seed: number, { hear, bend, tamper }: RunOptions) {
    this.#tamper = tamper;
    const dice = new Dice(seed);
    const plan = { ...planOf(seed, dice.fork()), ...bend };
    const timeline = this.#timeline;
    this.#trace = new Trace(timeline, hear);
    const wire = this.#wire = new WireWatch((cause) => this.#fail(cause));
    const network = new Network({
      timeline,
      trace: this.#trace,
      dice: dice.fork(),
      tap: (to, link, frame) => this.#tap(to, link, frame),
    });
    this.#stage = {
      plan,
      timeline,
      trace: this.#trace,
      network,
      authority: new Authority(dice.fork()),
      ledger: new Ledger(),
      repositories: ["public", "team/red", "team/blue"],
      phase: "work",
      blames: new Set(),
      relayed: new Set(),
      fail: (cause) => this.#fail(cause),
    };
    const server = new Server(this.#stage, dice.fork());
    const clients = Array.from(
      { length: plan.clients },
      (_, index) => new Client(this.#stage, index, dice.fork()),
    );
    wire.watch(clients);
    this.#stage.equal = (client, desk) => checkEqual(this.#cast, client, desk);
    const intruder = new Intruder(this.#stage, dice.fork());
    const weather = dice.fork();
    const villains = Array.from(
      { length: plan.villains },
      (_, index) => new Villain(this.#stage, server, index, dice.fork()),
    );
    const stage = this.#stage;
    this.#cast = { stage, server, clients, intruder, villains, wire };
    if (plan.mode === "default") {
      stage.judge = new NaiveJudge(this.#cast);
    }
    this.#weather = new Weather(this.#cast, weather);
  }

  #tap(to: "client" | "server", link: Link, frame: Uint8Array): void {
    this.#wire.see(to, link, frame);
    const { intruder, villains } = this.#cast;
    if (to === "server") {
      intruder.overhear(frame);
      this.#stage.judge?.overhear(frame);
    }
    for (const villain of villains) {
      if (to === "server") villain.overhear(frame);
      else if (villain.link === link) villain.see(frame);
    }
  }

  #fail(cause: unknown): void {
    this.#failure ??= cause instanceof Error ? cause : new Error(String(cause));
  }

  /** Plays it; what anybody throws is a failure as well. */
  async run(): Promise<void> {
    try {
      await this.#play();
    } catch (cause) {
      this.#fail(cause);
    }
    for (const client of this.#cast.clients) client.leave();
  }

  async #play(): Promise<void> {
    const { plan, trace } = this.#stage;
    trace.note("sim", "begin", JSON.stringify(plan));
    const isOver = () => this.#failure !== undefined;
    this.#weather.begin();
    this.#look();
    await this.#timeline.runUntil(plan.workMs, isOver);
    this.#stage.phase = "heal";
    this.#weather.heal();
    const isSlow = plan.quotas.commitsPerSecond !== undefined;
    const healMs = isSlow ? HEAL_SLOWLY_MS : HEAL_MS;
    await this.#timeline.runUntil(
      plan.workMs + healMs,
      () => isOver() || this.#isQuiet(),
    );
    if (isOver()) return;
    const question = openQuestion(this.#cast);
    if (question !== undefined) throw new CheckFailed("converge", question);
    this.#tamper?.(this.#cast);
    await checkAtEnd(this.#cast);
  }

  /** Looks are taken on the second, and quiet is only what was seen quiet then. */
  #isQuietSeen = false;

  #isQuiet(): boolean {
    return this.#isQuietSeen;
  }

  #look(): void {
    this.#timeline.after(LOOK_MS, () => {
      try {
        for (const actor of [this.#cast.server, ...this.#cast.clients]) {
          actor.lookAtDisk();
        }
        checkOnTheWay(this.#cast);
        if (this.#stage.phase === "heal") {
          this.#cast.server.acceptKept(this.#cast.clients);
        }
        this.#isQuietSeen = this.#stage.phase === "heal" &&
          openQuestion(this.#cast) === undefined;
      } catch (cause) {
        this.#fail(cause);
      }
      this.#look();
    });
  }

  report(): Report {
    const { plan, ledger, timeline } = this.#stage;
    const failure = this.#failure;
    const counts = Object.fromEntries(
      Object.entries(this.#trace.counts).sort(),
    );
    return {
      seed: plan.seed,
      plan,
      events: timeline.events,
      virtualMs: timeline.nowMs,
      writes: ledger.size,
      commits: this.#cast.server.commits,
      counts,
      digest: this.#trace.digest(),
      ...(failure !== undefined && {
        failure: {
          checker: failure instanceof CheckFailed
            ? failure.checker
            : failure.name,
          message: failure.message,
          stack: failure.stack ?? "",
        },
      }),
      tail: this.#trace.tail(),
    };
  }
}
