/**
 * Finds own edits that lose to somebody who had not seen them: while commits
 * arrive, by what each does to its item; and for what arrived while nobody
 * looked, by folding once more the items that it touched.
 *
 * The log is the truth: nothing is noted as commits come in, so nothing can be
 * lost between a commit and a note. Who knows up to where it was looked at can
 * always go on from there.
 *
 * Architecture invariant: it reads the state and never changes it.
 */

import { getOrMake } from "../base/collections.ts";
import { compareStamps, type Stamp } from "../base/hlc.ts";
import { type Cell, isHistory, type Origin } from "../schema/cell.ts";
import { mergeClassOf } from "../schema/kinds.ts";
import { fold } from "../schema/merge.ts";
import type { Item, Operation, Value } from "../schema/patch.ts";
import { ItemTouches } from "../../repo/history/item_touches.ts";
import { type ItemCommit, patchOf, type Replica } from "../../repo/mod.ts";
import { decodeMeta } from "../../repo/checkpoint/replica_meta.ts";
import { Sight } from "../../repo/graph/sight.ts";
import {
  foldBatch,
  type FoldWatch,
  onlyOf,
  State,
} from "../../repo/state/state.ts";
import {
  lostAtOnce,
  type LostWrite,
  type Slot,
  takenBy,
} from "./overwritten_slots.ts";
import { authorsOf, plainStamp } from "./undo_marks.ts";
import type { LoggedBatch } from "../../repo/commit/batch.ts";

export interface Loss {
  readonly collection: string;
  readonly id: string;
  readonly generation: number;
  /** `undefined`: the whole item. */
  readonly slot: Slot | undefined;
  /** The own commit, the newest one for a whole item. */
  readonly own: Stamp;
  /** What it wrote, or the item as it was. */
  readonly before: Value | Item;
  readonly by: Stamp;
}

export interface FinderParts {
  readonly replica: Replica;
  readonly found: (loss: Loss) => void;
  readonly looked: () => void;
  /** Hears what goes wrong while nobody waits. */
  readonly report: (error: unknown) => void;
}

export class OverwrittenFinder {
  readonly #parts: FinderParts;
  readonly #collections = new Set<string>();
  /** Whether each chain is this device's, for the session of now. */
  #owned = new Map<string, boolean>();
  #session: Replica["session"];
  #sight: Sight;
  /** Looked at when the commits are in the log as a whole. */
  #pending: (() => Loss | undefined)[] = [];

  constructor(parts: FinderParts) {
    this.#parts = parts;
    this.#session = parts.replica.session;
    this.#sight = this.#newSight();
  }

  #newSight(): Sight {
    const { commits, loaded } = this.#parts.replica;
    return new Sight(commits, loaded.log, this.#isOwnChain);
  }

  /** Was a commit written on this device, by its user of now? */
  readonly isOwn = ({ chain, wall }: Stamp): boolean =>
    this.#isOwnChain(chain, wall);

  readonly #isOwnChain = (chain: string, wall: number): boolean => {
    const { replica } = this.#parts;
    if (replica.session !== this.#session) {
      this.#session = replica.session;
      this.#owned = new Map();
      this.#sight = this.#newSight();
    }
    return getOrMake(this.#owned, chain, () => {
      const user = replica.userOf(chain, wall) ?? replica.session.user;
      return user === replica.session.user &&
        replica.device.keys.has(chain.slice(0, 32));
    });
  };

  /** Looks at what came into the log from an address on, and at what will come, in one more collection. */
  start(collection: string, from: number): void {
    const { replica } = this.#parts;
    if (this.#collections.has(collection)) return;
    replica.flush();
    const touched = this.#touchedSince(collection, from);
    if (touched.size > 0) this.#replay(collection, touched, from);
    this.#collections.add(collection);
    replica.state.watch = this.#watch;
  }

  stop(): void {
    this.#parts.replica.state.watch = undefined;
    this.#pending = [];
  }

  readonly #watch: FoldWatch = (operation, ...what) => {
    if (!this.#collections.has(operation.shape.collection)) return;
    this.#parts.looked();
    this.#look(operation, ...what);
  };

  #look(
    operation: Operation,
    before: Cell | undefined,
    after: Cell,
    origin: Origin,
  ): void {
    if (before === undefined) return;
    const { isOwn } = this;
    if (isOwn(origin)) {
      this.#lookAtOwn(operation, before, after, origin);
    } else if (before.item !== undefined) {
      const isEnded = after.item === undefined ||
        after.generation !== before.generation;
      if (isEnded) this.#later(() => this.#ended(operation, before, origin));
      else {
        for (
          const lost of takenBy(operation, before, after, origin, isOwn)
        ) this.#later(() => this.#taken(operation, lost));
      }
    }
  }

  /** A page wrote it before it knew of what is here. */
  #lookAtOwn(
    operation: Operation,
    before: Cell,
    after: Cell,
    origin: Origin,
  ): void {
    const { what, generation } = operation;
    if (what === "delete" || generation > before.generation) return;
    if (isHistory(operation, before)) {
      return this.#later(() => this.#late(operation, origin));
    }
    for (const lost of lostAtOnce(operation, after, origin, this.isOwn)) {
      this.#later(() => this.#outlasted(operation, lost));
    }
  }

  #later(judge: () => Loss | undefined): void {
    if (this.#pending.push(judge) > 1) return;
    queueMicrotask(() => {
      try {
        this.settle();
      } catch (error) {
        this.#parts.report(error);
      }
    });
  }

  settle(): void {
    for (const judge of this.#pending.splice(0)) {
      const loss = judge();
      if (loss !== undefined) this.#parts.found(loss);
    }
  }

  /** A slot that somebody took. */
  #taken(operation: Operation, lost: LostWrite): Loss | undefined {
    const by = lost.by!; // Proof: who took it is at hand.
    return this.#sight.hasSeen(by, lost.own)
      ? undefined
      : lossOf(operation, lost, by);
  }

  /** A slot in which an own write came too late: who was there first had not seen it. */
  #outlasted(operation: Operation, lost: LostWrite): Loss | undefined {
    const by = lost.by ??
      this.#foreignBy(
        operation,
        ({ operations }) =>
          operations.some((one) =>
            one.what === "update" &&
            one.changes.some(({ change }) =>
              change.what === "delete" &&
              change.elements.includes(lost.slot.key)
            )
          ),
      );
    return by && lossOf(operation, lost, by);
  }

  /** The first commit that did something to an item, unless one of this device did it, too. */
  #foreignBy(
    operation: Operation,
    did: (commit: ItemCommit) => boolean,
  ): ItemCommit | undefined {
    const commits = this.#touching(operation).filter(did);
    return commits.some(this.isOwn) ? undefined : commits[0];
  }

  /** The item was deleted, or replaced by a next one. */
  #ended(operation: Operation, before: Cell, by: Stamp): Loss | undefined {
    const unseen = authorsOf(before).filter((stamp) =>
      this.isOwn(stamp) && !this.#sight.hasSeen(by, stamp)
    );
    const own = unseen.reduce<Stamp | undefined>(later, undefined) ??
      this.#unseenShare(operation, before, by);
    return own && itemLoss(operation, before, own, by);
  }

  /** The newest own commit that is part of a counter, set, list or text, which tell of no writers. */
  #unseenShare(
    operation: Operation,
    { generation, rich }: Cell,
    by: Stamp,
  ): Stamp | undefined {
    const isShared = [...rich ?? []].some(([, { merge }]) => merge !== "map");
    if (!isShared) return undefined;
    return this.#touching(operation).filter((commit) =>
      this.isOwn(commit) &&
      commit.number >= this.#sight.seenBy(by, commit.chain) &&
      commit.operations.some((one) =>
        one.what === "update" && one.generation === generation &&
        one.changes.some(({ field: { kind } }) =>
          kind !== "map" && mergeClassOf(kind) !== "register"
        )
      )
    ).reduce<Stamp | undefined>(later, undefined);
  }

  /** An own write to an item that was deleted, or replaced, before it came here. */
  #late(operation: Operation, own: Stamp): Loss | undefined {
    const { generation, shape } = operation;
    const by = this.#foreignBy(
      operation,
      ({ operations }) =>
        operations.some((one) =>
          one.generation > generation ||
          (one.generation === generation && one.what === "delete")
        ),
    );
    const view = this.#parts.replica.state.find(shape.collection)?.view;
    if (by === undefined || view === undefined) return undefined;
    let cell: Cell | undefined;
    for (const commit of this.#touching(operation)) {
      const origin: Origin = { ...plainStamp(commit)!, operationsAt: -1 };
      for (const one of commit.operations) {
        const isPart = one.generation === generation && one.what !== "delete";
        if (isPart) cell = fold(cell, one, origin, -1, view);
      }
    }
    return cell && itemLoss(operation, cell, own, by);
  }

  #touching({ id, shape: { collection } }: Operation): ItemCommit[] {
    const { commits, loaded } = this.#parts.replica;
    commits.touches ??= new ItemTouches(commits, loaded.log);
    return commits.touches.of({ collection, id });
  }

  /** Items of a collection that commits from an address on touch. */
  #touchedSince(collection: string, from: number): Set<string> {
    const touched = new Set<string>();
    const { commits } = this.#parts.replica;
    commits.each(({ batch }) => {
      for (const commit of batch.commits) {
        for (const one of patchOf(batch, commit).operations) {
          if (one.shape.collection === collection) touched.add(one.id);
        }
      }
    }, from);
    return touched;
  }

  /** Folds those items once more, from a checkpoint before that address where there is one. */
  #replay(
    collection: string,
    touched: ReadonlySet<string>,
    from: number,
  ): void {
    const { loaded, commits, state } = this.#parts.replica;
    const { checkpoint, voided } = loaded;
    const covers = checkpoint?.covers ?? 0;
    const isSound = covers <= from &&
      voided.cuts.every(({ at }) => at < covers);
    const base = isSound ? checkpoint : undefined;
    const lengths = base && new Map(decodeMeta(base.meta).graph.vector());
    const past = new State((name) => state.table(name).view, base);
    const look: FoldWatch = (...what) => this.#look(...what);
    const isMeant = ({ id, shape }: Operation) =>
      shape.collection === collection && touched.has(id);
    const take = (logged: LoggedBatch) => {
      const watch = logged.address < from ? undefined : look;
      foldBatch(logged, (patch, origin) => {
        past.fold(onlyOf(patch, isMeant), origin, watch);
      });
    };
    commits.each(take, base?.covers ?? 0, undefined, undefined, lengths);
    this.settle();
  }
}

function later(a: Stamp | undefined, b: Stamp): Stamp {
  return a !== undefined && compareStamps(a, b) > 0 ? a : b;
}

function lossOf(
  { id, generation, shape: { collection } }: Operation,
  { slot, own, value }: LostWrite,
  by: Stamp,
): Loss {
  const [mine, theirs] = [plainStamp(own)!, plainStamp(by)!];
  return {
    ...{ collection, id, generation, slot },
    ...{ own: mine, before: value, by: theirs },
  };
}

function itemLoss(
  { id, shape: { collection } }: Operation,
  { generation, item }: Cell,
  own: Stamp,
  by: Stamp,
): Loss | undefined {
  if (item === undefined) return undefined;
  return {
    ...{ collection, id, generation, slot: undefined },
    own: plainStamp(own)!,
    before: { ...item }, // Texts are read now.
    by: plainStamp(by)!,
  };
}
