/**
 * The order of a log that is served: its marks, and the epoch in which they
 * stand.
 *
 * A mark goes into the log just before each sync. A position is given out with
 * the order there, and stands as long as the log has that very mark: so an epoch
 * goes on over crashes, and nobody has to trust that a folder was not set back.
 * It ends where a copy is opened (the file `sync` names the folder, and no backup
 * has it), and where a repair, or the crash of a log that is shared before it is
 * synced, may have taken what was given out.
 */

import { equalBytes, readable } from "../../src/base/bytes.ts";
import { hasCode } from "../../src/base/errors.ts";
import {
  copied,
  decodeFile,
  encodeFile,
  type FileLayout,
  struct,
  textUpTo,
  type ValueOf,
} from "../../src/base/layout.ts";
import type { World } from "../../src/base/world.ts";
import { readWhole, replaceDurably } from "../../src/storage/small_file.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { provesContinuity } from "../graph/continuity.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import type { Log } from "./log.ts";
import { RECORD_HEADER_BYTES, recordKind } from "./format.ts";
import {
  type Accepted,
  acceptedIn,
  decodeMark,
  encodeMark,
  MARK_BYTES,
  orderAfter,
  type OrderMark,
  orderStart,
} from "./order.ts";

const EPOCH_FILE = "sync";
const EPOCH_BYTES = 16;
/** The identity is a device and an inode, or as short. */
const FILE_BYTES_MAX = 64 * 1024;

const stored = struct({
  epoch: copied(EPOCH_BYTES),
  /** Of the folder. */
  identity: textUpTo(FILE_BYTES_MAX),
});

export const epochFile: FileLayout<ValueOf<typeof stored>> = {
  magic: "SHEAFSYN",
  format: 2,
  layout: stored,
};

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
    storage: Storage,
    world: World,
    loaded: LoadedReplica,
  ): Promise<ServedOrder> {
    const mark = goesOn(storage, loaded);
    const epoch = mark?.epoch ?? new Uint8Array(EPOCH_BYTES);
    if (mark === undefined) {
      world.random(epoch);
      const said = { epoch, identity: storage.identity() };
      const bytes = encodeFile(epochFile, said);
      await replaceDurably(storage, loaded.folder, EPOCH_FILE, bytes);
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

  /** Ends the epoch of a log of which it cannot be proved that it has all that was given out. */
  static end(this: void, storage: Storage, folder: string): void {
    if (!storage.list(folder).includes(EPOCH_FILE)) return;
    storage.remove(`${folder}/${EPOCH_FILE}`);
    storage.syncFolder(folder);
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
export function markBehind(log: Log, position: number): OrderMark | undefined {
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
function goesOn(
  storage: Storage,
  loaded: LoadedReplica,
): OrderMark | undefined {
  const { order: logged, folder } = loaded;
  if (logged === undefined || !provesContinuity(loaded)) return undefined;
  const { body, position } = logged;
  const order = decodeMark(body, position - body.length);
  const said = readFile(storage, `${folder}/${EPOCH_FILE}`);
  const isSame = said !== undefined && equalBytes(said.epoch, order.epoch) &&
    said.identity === storage.identity();
  return isSame ? order : undefined;
}

function readFile(
  storage: Storage,
  name: string,
): ValueOf<typeof stored> | undefined {
  try {
    const bytes = readWhole(storage, name, FILE_BYTES_MAX);
    return bytes && readable(() => decodeFile(epochFile, bytes));
  } catch (cause) {
    if (hasCode(cause, "format-too-new", "format-too-old")) return undefined;
    throw cause;
  }
}
