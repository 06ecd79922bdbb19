/**
 * Sets of units of one client, as spans.
 *
 * Architecture invariant: a change costs in proportion to the logarithm of the
 * number of spans, however many of them it covers.
 */

import { OrderedMap } from "./ordered_map.ts";

export interface TextSpan {
  readonly clock: number;
  readonly length: number;
}

/** So many spans … */
const MANY = 64;
/** … cost as much, one by one, as a set of so many times as many does that is made anew. */
const ANEW = 32;

/** The clock behind the last unit. */
export function endOf({ clock, length }: TextSpan): number {
  return clock + length;
}

export class SpanSet {
  /** By their clocks; no two of them touch. */
  readonly spans: OrderedMap<number, TextSpan>;

  private constructor(spans: OrderedMap<number, TextSpan>) {
    this.spans = spans;
  }

  /** The set of all units of some spans, in any order. */
  static of(spans: readonly TextSpan[] = []): SpanSet {
    const all: [number, TextSpan][] = [];
    const ascending = spans.toSorted((a, b) => a.clock - b.clock);
    for (const { clock, length } of ascending) {
      const last = all.at(-1)?.[1];
      if (last === undefined || endOf(last) < clock) {
        all.push([clock, { clock, length }]);
      } else {
        const end = Math.max(endOf(last), clock + length);
        all[all.length - 1] = [last.clock, {
          ...last,
          length: end - last.clock,
        }];
      }
    }
    return new SpanSet(
      OrderedMap.of(
        (a, b) => a - b,
        all,
        ({ length }) => length,
      ),
    );
  }

  /** How many units. */
  get size(): number {
    return this.spans.size;
  }

  /** The clock behind the last unit; 0 where there is none. */
  get end(): number {
    const last = this.spans.floor(Infinity);
    return last === undefined ? 0 : endOf(last[1]);
  }

  covers(span: TextSpan): boolean {
    const found = this.spans.floor(span.clock);
    return found !== undefined && endOf(found[1]) >= endOf(span);
  }

  with(span: TextSpan): SpanSet {
    if (this.covers(span)) return this;
    const spans = this.spans;
    const [clock, before] = spans.floor(span.clock) ?? [];
    const touches = before !== undefined && endOf(before) >= span.clock;
    const from = touches ? clock! : span.clock;
    const last = spans.floor(endOf(span))?.[1];
    const end = Math.max(endOf(span), last === undefined ? 0 : endOf(last));
    return new SpanSet(
      spans.withoutRange(from, end)
        .with(from, { clock: from, length: end - from }),
    );
  }

  /** The set with the units of some spans: made anew where they are many beside those that it has. */
  withAll(spans: readonly TextSpan[]): SpanSet {
    const all = [...spans];
    const most = spans.length * ANEW;
    if (spans.length >= MANY) {
      for (const span of this) {
        if (all.push(span) > most) break;
      }
      if (all.length <= most) return SpanSet.of(all);
    }
    return spans.reduce((set: SpanSet, span) => set.with(span), this);
  }

  *[Symbol.iterator](): Generator<TextSpan> {
    for (const [, span] of this.spans.entries()) yield span;
  }
}
