/**
 * How long commits take: from their arrival until they are durable here and
 * acknowledged, and until they were handed to the other peers.
 *
 * Acknowledging and pushing happen in the turn in which a repository tells that
 * it became shareable up to where the commits stand; so that is what is timed.
 *
 * @module
 */

import type { World } from "../src/base/world.ts";
import type { Replica } from "../repo/mod.ts";
import type { Metrics } from "./metrics.ts";

interface Waiting {
  /** End of the log when the commits had come in. */
  readonly end: number;
  readonly atMs: number;
}

interface Followed {
  readonly replica: Replica;
  readonly waiting: Waiting[];
}

/** More than this many are not timed one by one. */
const WAITING_MAX = 1_024;

/** Times commits of all repositories that are open. */
export class Latencies {
  readonly #metrics: Pick<Metrics, "acknowledged" | "fannedOut">;
  readonly #world: Pick<World, "monotonic">;
  readonly #byName = new Map<string, Followed>();

  /**
   * @param metrics hears the results
   * @param world whose clock counts
   */
  constructor(
    metrics: Pick<Metrics, "acknowledged" | "fannedOut">,
    world: World,
  ) {
    this.#metrics = metrics;
    this.#world = world;
  }

  /** Follows a repository that was opened; the result ends it. */
  follow(replica: Replica): () => void {
    const followed: Followed = { replica, waiting: [] };
    const end = replica.port().onShareable(() => this.#shareable(followed));
    this.#byName.set(replica.name, followed);
    return () => {
      end();
      this.#byName.delete(replica.name);
    };
  }

  /** Commits came in. */
  received(name: string): void {
    const followed = this.#byName.get(name);
    if (followed === undefined || followed.waiting.length >= WAITING_MAX) {
      return;
    }
    const { end } = followed.replica.loaded.log;
    followed.waiting.push({ end, atMs: this.#world.monotonic() });
  }

  #shareable({ replica, waiting }: Followed): void {
    const { shareable } = replica.port();
    const nowMs = this.#world.monotonic();
    let done = 0;
    while (done < waiting.length && waiting[done]!.end <= shareable) done++;
    if (done === 0) return;
    const timed = waiting.splice(0, done);
    // When all listeners have heard: no ack and no push waits for what measures it.
    queueMicrotask(() => {
      const ms = this.#world.monotonic();
      for (const { atMs } of timed) {
        this.#metrics.acknowledged((nowMs - atMs) / 1_000);
        this.#metrics.fannedOut((ms - atMs) / 1_000);
      }
    });
  }
}
