/**
 * The order of a log, read naively: every record from the first on.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { batchIn } from "../../repo/commit/batch.ts";
import { chainBytes } from "../../repo/commit/commit.ts";
import { recordKind } from "../../repo/log/format.ts";
import type { Place } from "./replica_place.ts";

/** A place in a log, and what the order is there. */
interface Mark {
  readonly position: number;
  readonly order: Uint8Array;
}

/** Puts everything into the log of a place, as its next turn would; it is not synced. */
export async function flushed(place: Place): Promise<void> {
  place.replica.flush();
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

/** What its marks have to say. */
export function naiveOrder(
  { replica: { loaded: { log, genesisId } } }: Place,
): { order: Uint8Array | undefined; marks: readonly Mark[] } {
  const marks: Mark[] = [];
  let epoch = "";
  let order: Uint8Array | undefined;
  let flush: Uint8Array[] = [];
  log.records(0, log.end, (kind, body, address) => {
    const batch = batchIn(kind, body);
    if (batch !== undefined) {
      const { chain, first, commits } = batch;
      const voids = commits.flatMap(({ isVoid }, i) => isVoid ? first + i : []);
      flush.push(
        chainBytes(chain),
        u48(first + commits.length),
        rangesOf(voids),
      );
    }
    if (kind !== recordKind.order) return;
    const said = body.slice(1, 17);
    const accepted = body.slice(17, 23);
    order = String(said) === epoch
      ? hash([order!, accepted, ...flush])
      : hash([new TextEncoder().encode("sheaf order 1\n"), genesisId, said]);
    epoch = String(said);
    flush = [];
    marks.push({ position: address + body.length, order });
  });
  return { order, marks };
}

function hash(parts: readonly Uint8Array[]): Uint8Array {
  const all = createHash("sha256");
  for (const part of parts) all.update(part);
  return new Uint8Array(all.digest());
}

function u48(number: number): Uint8Array {
  return Uint8Array.from(
    { length: 6 },
    (_, i) => Math.floor(number / 256 ** i) % 256,
  );
}

/** Numbers below 128, as ranges. */
function rangesOf(numbers: readonly number[]): Uint8Array {
  const ranges: number[] = [];
  let end = 0;
  for (const number of numbers) {
    if (ranges.length > 0 && number === end) ranges[ranges.length - 1]!++;
    else ranges.push(number - end, 1);
    end = number + 1;
  }
  return Uint8Array.of(ranges.length / 2, ...ranges);
}
