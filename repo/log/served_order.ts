/**
 * The order of a log that is served: its marks, and the epoch in which they
 * stand.
 *
 * A mark goes into the log just before each sync. A position is given out with
 * the order there, and stands as long as the log has that very mark: so an epoch
 * goes on over crashes, and nobody has to trust that a folder was not set back.
 * It ends where a copy is opened (`Stores.epoch`), and where a repair, or the
 * crash of a log that is shared before it is synced, may have taken what was
 * given out.
 */

import { equalBytes } from "../../src/base/bytes.ts";
import { hasCode } from "../../src/base/errors.ts";
import type { World } from "../../src/base/world.ts";
import { provesContinuity } from "../graph/continuity.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { RECORD_HEADER_BYTES, recordKind } from "./format.ts";
import {
  type Accepted,
  acceptedIn,
  decodeMark,
  encodeMark,
  EPOCH_BYTES,
  MARK_BYTES,
  orderAfter,
  type OrderMark,
  orderStart,
} from "./order.ts";
import type { Epoch, Store } from "./store.ts";

export class ServedOrder {
  readonly #world: Pick<World, "now">;
  readonly #loaded: LoadedReplica;
  #mark: OrderMark;
  /** The last one that is durable, and those behind it. */
  readonly #marks: OrderMark[];

  private constructor(
    world: Pick<World, "now">,
    loaded: LoadedReplica,
    mark: OrderMark | undefined,
    epoch: Uint8Array,
  ) {
    this.#world = world;
    this.#loaded = loaded;
    this.#mark = mark ?? this.#append({
      epoch,
      accepted: world.now(),
      order: orderStart(loaded.genesisId, epoch),
    });
    this.#marks = [this.#mark];
    loaded.log.onSyncing = () => this.#markAll();
  }

  /** Goes on with the order of a log, or begins one; everything is behind a mark then, and durable. */
  static async open(
    this: void,
    kept: Epoch,
    world: World,
    loaded: LoadedReplica,
  ): Promise<ServedOrder> {
    const mark = goesOn(kept, loaded);
    const epoch = mark?.epoch ?? new Uint8Array(EPOCH_BYTES);
    if (mark === undefined) {
      world.random(epoch);
      await kept.begin(epoch);
    }
    const order = new ServedOrder(world, loaded, mark, epoch);
    order.#markAll();
    await loaded.log.sync();
    return order;
  }

  #append(said: Omit<OrderMark, "position">): OrderMark {
    const body = encodeMark(said);
    const address = this.#loaded.log.append(recordKind.order, [body]);
    const position = address + body.length;
    this.#loaded.order = { body, position };
    return { ...said, position };
  }

  /** The name of its life, 16 bytes. */
  get epoch(): Uint8Array {
    return this.#mark.epoch;
  }

  /** The order at the last mark. */
  get last(): OrderMark {
    return this.#mark;
  }

  /** The last mark at or before a position that is durable. */
  before(position: number): OrderMark | undefined {
    const marks = this.#marks;
    while (marks.length > 1 && marks[1]!.position <= position) marks.shift();
    return marks[0]!.position <= position ? marks[0] : undefined;
  }

  #markAll(): void {
    const { log, graph } = this.#loaded;
    const { position, epoch, order } = this.#mark;
    if (log.end <= position) return;
    const batches: Accepted[] = [];
    const hasVoid = (chain: string) => graph.chain(chain)?.voids !== undefined;
    log.records(position, log.end, (kind, body) => {
      const batch = acceptedIn(kind, body, hasVoid);
      if (batch !== undefined) batches.push(batch);
    });
    // A clock that was set back takes nothing back.
    const accepted = Math.max(this.#mark.accepted, this.#world.now());
    this.#mark = this.#append({
      epoch,
      accepted,
      order: orderAfter(order, { accepted, batches }),
    });
    this.#marks.push(this.#mark);
    this.before(log.synced);
  }

  /** Has the log a mark of this epoch that ends at a position and says this order? */
  stands(position: number, order: Uint8Array): boolean {
    const found = markBehind(this.#loaded.log, position);
    return found !== undefined && equalBytes(found.epoch, this.epoch) &&
      equalBytes(found.order, order);
  }
}

/** The mark that ends at a position of a log, if there is one. */
export function markBehind(
  log: Pick<Store, "records">,
  position: number,
): OrderMark | undefined {
  const from = position - RECORD_HEADER_BYTES - MARK_BYTES;
  if (!Number.isSafeInteger(position) || from < 0) return undefined;
  let found: OrderMark | undefined;
  try {
    log.records(from, position, (kind, body, address) => {
      if (kind === recordKind.order) found = decodeMark(body, address);
      return true;
    });
  } catch (cause) {
    // A place within a record is none.
    if (hasCode(cause, "log-damaged")) return undefined;
    throw cause;
  }
  return found?.position === position ? found : undefined;
}

/** The last mark of a log whose epoch goes on. */
function goesOn(kept: Epoch, loaded: LoadedReplica): OrderMark | undefined {
  const { order: logged } = loaded;
  if (logged === undefined || !provesContinuity(loaded)) return undefined;
  const { body, position } = logged;
  const order = decodeMark(body, position - body.length);
  const epoch = kept.read();
  return epoch && equalBytes(epoch, order.epoch) ? order : undefined;
}
