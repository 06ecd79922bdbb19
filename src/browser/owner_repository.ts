/**
 * One repository of an owner: shown to the tabs that have it open, in the order
 * of the log, and written by them.
 *
 * What a tab wrote was judged there: same origin, same key, same rules. It is
 * put into the log here, and acknowledged when it is durable.
 *
 * Architecture invariant: acknowledged means durable (Fast: handed to the
 * medium in order); what another tab is shown is durable, too (law 3).
 */

import { batchHead } from "../../repo/commit/batch.ts";
import { isBatch, type Replica } from "../../repo/mod.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { replicaOf } from "../db/internals.ts";
import type { BareRepository } from "../db/bare_repository.ts";
import { lateRich } from "../schema/late_rich.ts";
import type { Storage } from "../storage/storage.ts";
import { localFileOf, overwrittenFile } from "../db/local_file.ts";
import type { Told } from "../db/overwritten.ts";
import type { OverwrittenEdits } from "../db/overwritten_edits.ts";
import { failureOf, isGone } from "./failure.ts";
import type {
  ImageFile,
  LogPoint,
  OfOwner,
  Open,
  Opened,
  OwnerMessage,
  TabRecord,
  WriteRecords,
} from "./messages.ts";
import { lifeOf, readImage } from "./owner_image.ts";
import {
  type Broadcast,
  type Loans,
  type Member,
  tellAll,
} from "./owner_members.ts";
import { RepositoryReports } from "./owner_repository_reports.ts";
import { whenLoaded } from "./tab_late.ts";
import { isOver } from "../../repo/graph/continuity.ts";

/** The point before everything: a tab that is told it reads the whole log. */
const START: LogPoint = { address: 0, crc: 0 };
/** Slices that one tab is sent in one turn; the rest waits for the next. */
const SLICES_MAX = 16;

type Slice = ReturnType<ReturnType<Replica["device"]["mirror"]>["read"]>;

export interface OwnedRepositoryParts {
  readonly repository: BareRepository;
  readonly storage: Storage;
  readonly world: World;
  readonly loans: Loans;
  readonly broadcast: Broadcast;
  /** Is it known of every living tab which chains it holds? */
  readonly isSettled: () => boolean;
}

/** Why something was not taken, as far as the tab can do something about it. */
type Refusal = Pick<OfOwner["declined"], "code" | "message" | "end">;

interface Follower {
  readonly tab: Member;
  /** Log address up to which it was told everything. */
  at: number;
  /** Does it give what was lost here, whoever wrote it? */
  readonly isFilling: boolean;
  /** Was something of it not taken? It opens again first. */
  isDeclined: boolean;
}

export class OwnedRepository {
  readonly name: string;
  readonly repository: BareRepository;
  readonly reports: RepositoryReports;
  readonly overwritten: OwnedOverwritten;
  readonly #parts: OwnedRepositoryParts;
  readonly #replica: Replica;
  readonly #followers = new Map<string, Follower>();
  readonly #endListening: () => void;
  /** What tabs wrote while code was loaded for the first of it. */
  #held: [Member, WriteRecords][] | undefined;
  #openings = 0;
  #isPumping = false;
  #isClosed = false;

  constructor(parts: OwnedRepositoryParts) {
    const { repository, world } = parts;
    this.#parts = parts;
    this.repository = repository;
    this.name = repository.name;
    this.#replica = replicaOf(repository);
    this.#endListening = this.#replica.sharing.onShareable(() => this.#pump());
    const tabs = () => this.#tabs();
    this.reports = new RepositoryReports({ repository, world, tabs });
    const { storage } = parts;
    const replica = this.#replica;
    this.overwritten = new OwnedOverwritten({ replica, storage, world, tabs });
  }

  get isUsed(): boolean {
    return this.#followers.size > 0;
  }

  get isOpening(): boolean {
    return this.#openings > 0;
  }

  /** Can nothing be written any more until it is opened again? */
  get isFailed(): boolean {
    return this.#replica.isClosed ||
      this.#replica.status().failure !== undefined;
  }

  get folder(): string {
    return this.#replica.loaded.folder;
  }

  #tabs(): Member[] {
    return [...this.#followers.values()].map(({ tab }) => tab);
  }

  /** Opens it for a tab, or goes on with it. */
  async open(
    tab: Member,
    { call, at, chain, left = [], rich = false }: Open,
  ): Promise<void> {
    for (const one of left) this.#parts.loans.keep(this.name, one);
    this.#followers.delete(tab.id); // What it sent before it asked belongs to its former life.
    this.#openings++;
    if (rich) await lateRich.load().catch(() => {}); // Who needs it then tries again.
    await this.#replica.durable().finally(() => this.#openings--);
    if (this.#isClosed) throw closedError(this.name);
    const mirror = this.#replica.device.mirror();
    const point = at === undefined
      ? mirror.next
      : mirror.isPoint(at)
      ? at
      : START;
    const image = at === undefined
      ? this.#image(tab, point.address)
      : undefined;
    const opened: Opened = {
      kind: "opened",
      call,
      repository: this.name,
      ...image && { image: image.files },
      at: point,
      life: lifeOf(this.#parts.storage, this.folder),
      ...this.#lend(tab.id, chain),
      known: this.#known(),
      sync: this.reports.reportFor(tab),
    };
    this.#followers.set(tab.id, {
      tab,
      at: point.address,
      isFilling: at !== undefined && point === START,
      isDeclined: false,
    });
    tab.post(opened, image?.transfer);
    this.reports.sync();
    this.#pump();
  }

  /** Files for a tab: moved to the owner's own page, shared with others. */
  #image(
    { isNear }: Member,
    to: number,
  ): { files: ImageFile[]; transfer: ArrayBuffer[] } {
    const parts = readImage(this.#parts.storage, this.folder, to);
    if (isNear) {
      return { files: parts, transfer: parts.map(({ bytes }) => bytes.buffer) };
    }
    const files = parts.map(({ name, bytes }) => ({
      name,
      bytes: new Blob([bytes]),
    }));
    return { files, transfer: [] };
  }

  #known(): [string, number][] {
    return [...this.#replica.sharing.vector()];
  }

  /** The chain that a tab writes: the one it has, else one that nobody has. */
  #lend(
    tab: string,
    wanted: string | undefined,
  ): Pick<Opened, "chain" | "lastId"> {
    const { loans, isSettled } = this.#parts;
    const { loaded, device } = this.#replica;
    const isOpen = wanted !== undefined && !isOver(loaded, wanted);
    if (isOpen && loans.lend(this.name, wanted, tab)) return { chain: wanted };
    if (!isSettled()) return {};
    const isFree = (chain: string) => loans.isFree(this.name, chain);
    const free = device.lendable().filter(({ chain }) => isFree(chain!));
    const kept = free.slice(0, 1 + limits.idleChainsKept);
    // Whatever pages that are gone have left by now keeps its chain; of the next one to go nobody knows that yet.
    const left = new Set(loaded.graph.vector().keys()).difference(
      new Set(kept.map(({ chain }) => chain)),
    );
    device.isLeft = (chain) => left.has(chain) && isFree(chain);
    const [one] = kept;
    if (one === undefined) return {};
    loans.lend(this.name, one.chain!, tab);
    return one;
  }

  /** Takes what a tab wrote, one after the other where that takes code that is not here yet. */
  write(tab: Member, message: WriteRecords): void {
    if (this.#held === undefined) this.#write(tab, message);
    else this.#held.push([tab, message]);
  }

  #write(tab: Member, message: WriteRecords): void {
    const { seq, records } = message;
    const follower = this.#followers.get(tab.id);
    if (follower === undefined) {
      return tab.post({ kind: "reload", repository: this.name });
    }
    if (follower.isDeclined) return;
    try {
      const failure = this.#take(follower, records);
      if (failure === undefined) this.#acknowledge(follower, seq);
      else this.#decline(follower, seq, failure);
    } catch (cause) {
      if (cause !== lateRich.unloaded) this.#fail(follower, seq, cause);
      else this.#hold(tab, message);
    }
  }

  /** What a page's schema names has to be folded here, too. */
  #hold(...first: [Member, WriteRecords]): void {
    const held = this.#held = [first];
    whenLoaded(this.#parts.world, lateRich.unloaded, () => {
      this.#held = undefined;
      for (const one of held) this.write(...one);
    });
  }

  /**
   * Takes what pages that are gone had not been acknowledged; what was taken
   * back meanwhile stays so. False where something before it is missing.
   */
  async handIn(records: readonly TabRecord[]): Promise<boolean> {
    const { device } = this.#replica;
    const goOn = records.filter((one) => !this.#isBehindEnd(one));
    const missing = await lateRich.within(() => device.follow(goOn));
    await this.#replica.durable();
    return missing === undefined;
  }

  /** Is it of a chain that was cut, or behind the end of one that was retired? */
  #isBehindEnd({ kind, bytes }: TabRecord): boolean {
    if (!isBatch(kind)) return false;
    const { voided, credentials: { retirements } } = this.#replica.loaded;
    const { chain, first, count } = batchHead(bytes);
    return voided.isEnded(chain) || first + count > retirements.lengthOf(chain);
  }

  #take(
    { tab, isFilling }: Follower,
    records: readonly TabRecord[],
  ): Refusal | undefined {
    const { loans } = this.#parts;
    const { device } = this.#replica;
    for (const record of records) {
      const { kind, bytes } = record;
      if (!isBatch(kind)) continue;
      const { chain, first } = batchHead(bytes);
      if (this.#isBehindEnd(record)) {
        const message = "The chain is over: go on in another one";
        return { code: "chain", message, end: device.mirror().end };
      }
      if (loans.holderOf(this.name, chain) === tab.id) continue;
      // A chain that the tab has begun is the tab's; of another it gives what is lacked here.
      if (first === 0 && !isFilling) loans.lend(this.name, chain, tab.id);
      else loans.keep(this.name, chain);
    }
    const missing = device.follow(records);
    return missing === undefined
      ? undefined
      : { code: "gap", message: missing };
  }

  #acknowledge(follower: Follower, seq: number): void {
    const { tab } = follower;
    const done: OwnerMessage = {
      kind: "acknowledged",
      repository: this.name,
      seq,
    };
    if (this.#replica.mode === "fast") {
      this.#replica.sharing.settle();
      return tab.post(done);
    }
    this.#replica.durable().then(
      () => this.#isCurrent(follower) && tab.post(done),
      (cause) => this.#fail(follower, seq, cause),
    );
  }

  #isCurrent(follower: Follower): boolean {
    return this.#followers.get(follower.tab.id) === follower;
  }

  #fail(follower: Follower, seq: number, cause: unknown): void {
    if (!isGone(cause)) this.#decline(follower, seq, failureOf(cause));
    follower.isDeclined = true; // Of an owner that is gone, the next one is asked again.
  }

  #decline(follower: Follower, seq: number, failure: Refusal): void {
    if (!this.#isCurrent(follower) || follower.isDeclined) return;
    follower.isDeclined = true;
    const repository = this.name;
    follower.tab.post({ kind: "declined", repository, seq, ...failure });
  }

  #pump(): void {
    if (this.#isClosed) return;
    const read = this.#reader();
    const places = Map.groupBy(this.#followers.values(), ({ at }) => at);
    const isDone = [...places]
      .map(([at, followers]) => this.#tell(followers, at, read))
      .every((isAll) => isAll);
    if (isDone || this.#isPumping) return;
    this.#isPumping = true;
    this.#parts.world.after(0, () => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  /** Followers at one place share one reading. */
  #reader(): (from: number) => Slice {
    const mirror = this.#replica.device.mirror();
    const slices = new Map<number, Slice>();
    return (from) => {
      const slice = slices.get(from) ??
        mirror.read(from, limits.tabRecordsBytesSoft);
      slices.set(from, slice);
      return slice;
    };
  }

  /** Tells those who stand at one place more; false when there is still more for the next turn. */
  #tell(
    followers: readonly Follower[],
    at: number,
    read: (from: number) => Slice,
  ): boolean {
    const tabs = followers.map(({ tab }) => tab);
    const { shareable } = this.#replica.sharing;
    const repository = this.name;
    for (let i = 0, from = at; from < shareable; i++) {
      if (i === SLICES_MAX) return false;
      const slice = read(from);
      const message = { kind: "records", repository, from, ...slice } as const;
      tellAll(tabs, message, this.#parts.broadcast);
      from = slice.next.address;
      for (const follower of followers) follower.at = from;
    }
    return true;
  }

  /** A tab has no more use for it, or is gone. */
  leave(tab: Member): void {
    this.#parts.loans.end(tab.id, this.name);
    this.#followers.delete(tab.id);
    this.reports.left(tab);
    void this.overwritten.leave(tab);
  }

  reload(): void {
    for (const { tab } of this.#followers.values()) {
      tab.post({ kind: "reload", repository: this.name });
    }
  }

  deleted(): void {
    const tabs = this.#tabs();
    const message = { kind: "deleted", repository: this.name } as const;
    tellAll(tabs, message, this.#parts.broadcast);
    for (const { id } of tabs) this.#parts.loans.end(id, this.name);
    this.#followers.clear();
  }

  /** Tells nobody anything any more. */
  stop(): void {
    this.#isClosed = true;
    this.#endListening();
    this.reports.close();
    this.overwritten.stop();
    this.#followers.clear();
  }
}

function closedError(name: string): DatabaseError {
  return new DatabaseError(
    "closed",
    `The repository "${name}" was closed while it was opened: open it again`,
  );
}

interface OwnedOverwrittenParts {
  readonly replica: Replica;
  readonly storage: Storage;
  readonly world: World;
  readonly tabs: () => readonly Member[];
}

/**
 * Own edits that lost, at the owner of the files: found for all tabs of the
 * device, and told to one of them at a time.
 *
 * What finds them is loaded when a page first listens.
 */
class OwnedOverwritten {
  readonly #parts: OwnedOverwrittenParts;
  #edits: Promise<OverwrittenEdits> | undefined;
  #isStopped = false;

  constructor(parts: OwnedOverwrittenParts) {
    this.#parts = parts;
  }

  /** Notes what a tab has taken, and gives it what there is to tell. */
  async take(
    { id }: Member,
    [collection, taking]: readonly unknown[],
  ): Promise<Told> {
    this.#edits ??= this.#load();
    return await (await this.#edits).takeSaid(id, collection, taking);
  }

  async #load(): Promise<OverwrittenEdits> {
    const { OverwrittenEdits } = await import("../db/overwritten_edits.ts");
    const { replica, storage, world } = this.#parts;
    const edits = new OverwrittenEdits({
      ...{ replica, world },
      file: localFileOf(storage, replica.loaded.folder, overwrittenFile),
      news: (consumers) => this.#tell(consumers),
    });
    if (this.#isStopped) edits.stop();
    return edits;
  }

  /** A page that nobody sees may be frozen: it is told where no other one listens. */
  #tell(consumers: readonly string[]): void {
    const tabs = this.#parts.tabs().filter(({ id }) => consumers.includes(id));
    const tab = tabs.find(({ isHidden }) => !isHidden) ?? tabs[0];
    tab?.post({ kind: "overwritten", repository: this.#parts.replica.name });
  }

  /** A tab listens no more. */
  async leave({ id }: Member): Promise<void> {
    (await this.#edits)?.leave(id);
  }

  async save(): Promise<void> {
    await (await this.#edits)?.save();
  }

  stop(): void {
    this.#isStopped = true;
    void this.#edits?.then((edits) => edits.stop());
  }
}
