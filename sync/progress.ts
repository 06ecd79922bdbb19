/**
 * How a server tells its order: what it accepted since the last place that the
 * client was told, flush by flush, and the order there.
 *
 * A client computes the same hash from it, be it sent those commits or not: what
 * it wrote itself, or has from elsewhere, is only named.
 */

import type { Arrival } from "../repo/admission/arrival.ts";
import { batchHead } from "../repo/commit/batch.ts";
import { isBatch } from "../repo/log/format.ts";
import type { Accepted, Flush } from "../repo/log/order.ts";
import { readable } from "../src/base/bytes.ts";
import { type Field, u48, unfit } from "../src/base/layout.ts";
import { NumberRanges } from "../src/base/number_ranges.ts";
import { chain, type Place, place } from "./frame_fields.ts";

/** A batch as a frame names it. */
interface NamedBatch extends Omit<Accepted, "chain"> {
  /** 0: by its chain; n: as the n-th chain of this frame, of its batches first, then of those named here. */
  readonly as: number;
  /** Where `as` is 0. */
  readonly chain?: string;
}

interface NamedFlush extends Omit<Flush, "batches"> {
  readonly batches: readonly NamedBatch[];
}

/** What a frame tells of the order. */
export interface Progress {
  readonly flushes: readonly NamedFlush[];
  readonly place: Place;
}

/** Its bytes. */
export const progress: Field<Progress> = {
  says: "as below",
  write(writer, { flushes, place: there }) {
    writer.varint(flushes.length);
    for (const { accepted, batches } of flushes) {
      writer.u48(accepted);
      writer.varint(batches.length);
      for (const { as, chain: name, commits, voids } of batches) {
        writer.varint(as);
        if (name !== undefined) chain.write(writer, name);
        writer.varint(commits);
        voids.write(writer);
      }
    }
    place.write(writer, there);
  },
  read(reader) {
    const flushes: NamedFlush[] = [];
    for (let left = reader.varint(); left > 0; left--) {
      const accepted = u48.read(reader);
      const batches: NamedBatch[] = [];
      for (let left = reader.varint(); left > 0; left--) {
        const as = reader.varint();
        const named = as === 0 ? { chain: chain.read(reader) } : {};
        const commits = reader.varint();
        if (commits >= 2 ** 48) throw unfit("a chain is too long");
        const voids = NumberRanges.read(reader, commits);
        batches.push({ as, ...named, commits, voids });
      }
      flushes.push({ accepted, batches });
    }
    return { flushes, place: place.read(reader) };
  },
};

/** The chains of a frame, in the order in which they are named. */
class Names {
  readonly #names: string[] = [];
  readonly #places = new Map<string, number>();

  constructor(records: readonly Arrival[]) {
    for (const { kind, bytes } of records) {
      if (isBatch(kind)) this.add(chainOf(bytes));
    }
  }

  /** Takes one; its place, or 0 where it was not there yet. */
  add(name: string): number {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    this.#places.set(name, this.#names.push(name));
    return 0;
  }

  at(place: number): string | undefined {
    return this.#names[place - 1];
  }
}

/** Of what is no batch, which the door says: none. */
function chainOf(bytes: Uint8Array): string {
  return readable(() => batchHead(bytes).chain) ?? "";
}

/** Flushes as a frame with these records names them. */
export function named(
  flushes: readonly Flush[],
  records: readonly Arrival[],
): readonly NamedFlush[] {
  if (flushes.length === 0) return [];
  const names = new Names(records);
  return flushes.map(({ accepted, batches }) => ({
    accepted,
    batches: batches.map(({ chain, commits, voids }) => {
      const as = names.add(chain);
      return { as, ...(as === 0 && { chain }), commits, voids };
    }),
  }));
}

/** The flushes that a frame with these records names; `SyntaxError` where it names none. */
export function unnamed(
  flushes: readonly NamedFlush[],
  records: readonly Arrival[],
): readonly Flush[] {
  if (flushes.length === 0) return [];
  const names = new Names(records);
  return flushes.map(({ accepted, batches }) => ({
    accepted,
    batches: batches.map(({ as, chain, commits, voids }) => {
      const name = chain ?? names.at(as);
      if (name === undefined) throw unfit("no chain has this place");
      if (chain !== undefined) names.add(chain);
      return { chain: name, commits, voids };
    }),
  }));
}
