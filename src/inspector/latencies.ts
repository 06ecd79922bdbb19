/**
 * Latencies of writes as they happen: the last few hundred, and what is typical
 * of them. Pure, and bounded.
 */

/** How far a write got, in milliseconds since it was begun. */
export interface WriteTimes {
  /** Until the call returned, and it was visible. */
  readonly write: number;
  /** Until it was durable; absent while it is not. */
  readonly durable?: number;
  /** Until the server had it; absent while it has not. */
  readonly synced?: number;
}

export type Stage = keyof WriteTimes;

export const stages: readonly Stage[] = ["write", "durable", "synced"];

export interface Typical {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

export class Latencies {
  readonly #max: number;
  readonly #writes: WriteTimes[] = [];
  #dropped = 0;

  /** Keeps at most `max` writes. */
  constructor(max: number) {
    this.#max = max;
  }

  /** What is kept, oldest first. */
  get writes(): readonly WriteTimes[] {
    return this.#writes;
  }

  /** Takes a write; the result takes what becomes of it later. */
  add(write: number): (stage: "durable" | "synced", ms: number) => void {
    const index = this.#dropped + this.#writes.push({ write }) - 1;
    if (this.#writes.length > this.#max) {
      this.#writes.shift();
      this.#dropped++;
    }
    return (stage, ms) => {
      const at = index - this.#dropped;
      const known = this.#writes[at];
      if (at >= 0 && known !== undefined) {
        this.#writes[at] = { ...known, [stage]: ms };
      }
    };
  }

  /** What is typical of a stage, of the writes that reached it; `undefined` when none did. */
  typical(stage: Stage): Typical | undefined {
    const times = this.#writes.flatMap((times) => times[stage] ?? []);
    if (times.length === 0) return undefined;
    times.sort((a, b) => a - b);
    const at = (share: number) =>
      times[Math.min(times.length - 1, Math.floor(share * times.length))]!;
    return { count: times.length, p50: at(0.5), p99: at(0.99) };
  }
}

/** Milliseconds for people: three figures that matter, and a unit. */
export function formatMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toPrecision(3)} s`;
  if (ms >= 1) return `${ms.toPrecision(3)} ms`;
  // Clocks of browsers tick every 5 to 100 µs.
  return ms === 0 ? "< 0.1 ms" : `${Math.max(1, Math.round(ms * 1000))} µs`;
}

/**
 * Where a time stands on a scale from 0 (10 µs) to 1 (10 s), by its logarithm:
 * a lone fsync and a slow network are both to be seen.
 */
export function heightOf(ms: number): number {
  const decade = Math.log10(Math.max(ms, 0.01)) + 2;
  return Math.min(1, decade / 6);
}
