/**
 * Plays seeds in parallel processes, which take them one by one from one queue,
 * so that a long seed keeps nobody else waiting. A process that dies, or that
 * says nothing for too long, fails its seed by name, and another one goes on
 * with the rest.
 *
 * What a seed does follows from nothing but the seed: not from which process
 * plays it, nor from what that one played before.
 *
 * @module
 */

import { linesOf, type Outcome, readOutcome } from "./outcome.ts";

/** What can be played. */
export interface SeedSuite {
  /** The task that replays a seed: `deno task NAME --seed N`. */
  readonly task: string;
  /** The module that plays seeds in a process of its own. */
  readonly player: URL;
}

/** What is played. */
export interface PlayOptions {
  readonly first: number;
  /** How many seeds at most (default: as many as fit the time). */
  readonly runs?: number;
  /** No seed but the first begins after this time (default: for ever). */
  readonly seconds?: number;
  /** How many at a time (default: one a core). */
  readonly jobs?: number;
  /** A seed that takes longer hangs (default: {@linkcode PATIENCE_MS}). */
  readonly patienceMs?: number;
  /** Is told of every seed when it is over. */
  readonly heard?: (outcome: Outcome) => void;
}

/** All seeds together. */
export interface Played {
  readonly first: number;
  readonly seeds: number;
  /** Sums over all seeds, by name. */
  readonly counts: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly failed: readonly number[];
}

/** The longest seeds take some seconds; a machine may be a hundred times too busy. */
const PATIENCE_MS = 300_000;

/** Lines of a player's other output that are kept for the day it dies. */
const KEPT_LINES = 60;

/** A seed leaves much garbage that is young: room for it saves about a hundredth of the time. */
const V8_FLAGS = "--v8-flags=--max-semi-space-size=32";

/** See the file's header. */
export async function playSeeds(
  suite: SeedSuite,
  options: PlayOptions,
): Promise<Played> {
  const { first, runs = Infinity, seconds = Infinity } = options;
  const jobs = options.jobs ?? navigator.hardwareConcurrency;
  const beganMs = performance.now();
  const secondsSince = () => (performance.now() - beganMs) / 1_000;
  const counts: Record<string, number> = {};
  const failed: number[] = [];
  let seeds = 0;
  const take = (): number | undefined => {
    const isOver = seeds > 0 && (seeds >= runs || secondsSince() >= seconds);
    return isOver ? undefined : first + seeds++;
  };
  const hear = (outcome: Outcome): void => {
    if (outcome.failure !== undefined) failed.push(outcome.seed);
    for (const [name, count] of Object.entries(outcome.counts)) {
      counts[name] = (counts[name] ?? 0) + count;
    }
    options.heard?.(outcome);
  };
  const patienceMs = options.patienceMs ?? PATIENCE_MS;
  await Promise.all(
    Array.from(
      { length: Math.max(1, Math.min(jobs, runs)) },
      () => playInTurn(suite, take, hear, patienceMs),
    ),
  );
  failed.sort((a, b) => a - b);
  return { first, seeds, counts, seconds: secondsSince(), failed };
}

/** One seed after the other, in one process for as long as it lives. */
async function playInTurn(
  suite: SeedSuite,
  take: () => number | undefined,
  hear: (outcome: Outcome) => void,
  patienceMs: number,
): Promise<void> {
  let player: Player | undefined;
  for (let seed = take(); seed !== undefined; seed = take()) {
    player ??= new Player(suite.player);
    const outcome = await player.play(seed, patienceMs);
    if (player.isOver) player = undefined;
    hear(outcome);
  }
  await player?.end();
}

/** A process that plays seeds. */
class Player {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #output: AsyncGenerator<string, undefined>;
  readonly #errors: Promise<void>;
  /** The last that it printed beside its outcomes. */
  readonly #printed: string[] = [];
  /** Has it died, or was it ended because it hung? */
  isOver = false;

  constructor(module: URL) {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "-A", V8_FLAGS, module.href],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#process.stdin.getWriter();
    this.#output = linesOf(this.#process.stdout);
    this.#errors = this.#keepErrors();
  }

  async #keepErrors(): Promise<void> {
    for await (const line of linesOf(this.#process.stderr)) this.#keep(line);
  }

  #keep(line: string): void {
    this.#printed.push(line);
    if (this.#printed.length > KEPT_LINES) this.#printed.shift();
  }

  /** Plays a seed; an outcome comes in any case. */
  async play(seed: number, patienceMs: number): Promise<Outcome> {
    let isHung = false;
    const timer = setTimeout(() => {
      isHung = true;
      this.#process.kill("SIGKILL");
    }, patienceMs);
    // Whoever is dead already is found so by its output, which has ended.
    this.#input.write(new TextEncoder().encode(`${seed}\n`)).catch(() => {});
    const outcome = await this.#answer();
    clearTimeout(timer);
    if (outcome !== undefined) return outcome;
    this.isOver = true;
    const { code, signal } = await this.#process.status;
    await this.#errors;
    const why = isHung
      ? `It was not over after ${
        patienceMs / 1_000
      } s, so its process was ended`
      : `Its process died: ${signal ?? `exit code ${code}`}`;
    return {
      seed,
      line: `seed ${seed}: FAILED ${isHung ? "hangs" : "died"}`,
      counts: {},
      failure: [...this.#printed, why].join("\n"),
    };
  }

  async #answer(): Promise<Outcome | undefined> {
    for (;;) {
      const { value } = await this.#output.next();
      if (value === undefined) return undefined;
      const outcome = readOutcome(value);
      if (outcome !== undefined) return outcome;
      this.#keep(value);
    }
  }

  /** Nothing more is to be played. */
  async end(): Promise<void> {
    await this.#input.close().catch(() => {});
    await this.#process.status;
    await this.#output.return(undefined);
    await this.#errors;
  }
}
