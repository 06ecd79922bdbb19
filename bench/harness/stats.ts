/**
 * From samples to figures: median and the slow tail.
 *
 * @module
 */

/** What is said of a row of samples. */
export interface Figures {
  readonly median: number;
  readonly p75: number;
  readonly p99: number;
  readonly p995: number;
  /** How many samples stand behind them. */
  readonly samples: number;
}

/** The value below which a `share` of the sorted samples lies, between neighbours in proportion. */
export function percentile(
  sorted: ArrayLike<number>,
  share: number,
): number {
  if (sorted.length === 0) throw new RangeError("no samples");
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? 0;
  const above = sorted[Math.ceil(at)] ?? 0;
  return below + (above - below) * (at - Math.floor(at));
}

/** The figures of some samples, in the samples' unit. */
export function figuresOf(samples: readonly number[]): Figures {
  const sorted = [...samples].sort((a, b) => a - b);
  return {
    median: percentile(sorted, 0.5),
    p75: percentile(sorted, 0.75),
    p99: percentile(sorted, 0.99),
    p995: percentile(sorted, 0.995),
    samples: sorted.length,
  };
}
