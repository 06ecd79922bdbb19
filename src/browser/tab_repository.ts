/**
 * One repository of a tab: a replica over an image, kept up with the owner's
 * log, and the way of its own writes to the owner.
 *
 * Architecture invariant: a write is durable when the owner of the files said so
 * (law 3). Until then it stays here, and goes to the next owner as well: it is
 * the same commit, so taking it twice is taking it once.
 */

import { toHex } from "../base/bytes.ts";
import { deferred } from "../base/deferred.ts";
import { assert, DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type {
  LentChain,
  Outgoing,
  OwnRecord,
  Replica,
} from "../../repo/mod.ts";
import { errorOf, isGone } from "./failure.ts";
import type { OfOwner, Opened, OwnerMessage, Standing } from "./messages.ts";
import { TabChannel } from "./tab_channel.ts";
import { TabInbox } from "./tab_inbox.ts";
import { chainsOf, type Left } from "./tab_left.ts";
import type { TabLink } from "./tab_link.ts";
import { filesOf, TabStorage } from "./tab_storage.ts";
import { Unloaded } from "../base/late.ts";
import { whenLoaded } from "./tab_late.ts";

export type RepositoryMessage = Extract<
  OwnerMessage,
  { readonly repository: string }
>;

export interface TabRepositoryParts {
  readonly name: string;
  readonly folder: string;
  readonly world: World;
  readonly link: Pick<TabLink, "call" | "nextCall" | "post" | "watch">;
  readonly isHidden: () => boolean;
  /** Opens a replica over an image. */
  readonly openReplica: (
    storage: TabStorage,
    lent: LentChain,
  ) => Promise<Replica>;
  readonly joined: () => void;
  readonly left: Left;
  /** Do the app's schemas have rich kinds? */
  readonly isRich: boolean;
}

export interface OpenTab {
  readonly replica: Replica;
  readonly storage: TabStorage;
  readonly channel: TabChannel;
}

interface Sent {
  readonly seq: number;
  readonly to: number;
  /** The chain that was written then. */
  readonly chain: string;
}

/** What a replica is to the rest. */
interface Parts extends OpenTab {
  readonly outgoing: Outgoing;
  readonly inbox: TabInbox;
}

export class TabRepository {
  readonly #parts: TabRepositoryParts;
  readonly #opened = deferred<OpenTab>();
  #open: Parts | undefined;
  /** The last `open` that was sent; its answer counts. */
  #call = 0;
  /** Did the owner answer it? */
  #isJoined = false;
  #isBuilding = false;
  /** What the owner said last of the server, where its log was not followed so far. */
  #standing: Standing | undefined;
  /** Which of those that had its name it is, as the owner of its log says. */
  #life: string | undefined;
  /** The chain that it was lent with its image. */
  #lent = "";
  #early: RepositoryMessage[] = [];
  #seq = 0;
  #sent: Sent[] = [];
  #isShipDue = false;
  /**
   * Up to the write of this number the owner is given all that it lacks, whoever
   * wrote it; 0: it lacks nothing. A next owner may have lost it on the way.
   */
  #lacksTo = 0;
  /** A chain that does not go on, and the owner's log address up to which all of it is known. */
  #leaving: { readonly chain: string; readonly end: number } | undefined;
  #isClosed = false;

  constructor(parts: TabRepositoryParts) {
    this.#parts = parts;
    this.#opened.promise.catch(() => {}); // Whoever waits hears it.
  }

  /** Resolves when it can be used. */
  get opened(): Promise<OpenTab> {
    return this.#opened.promise;
  }

  /** The chain that it holds, be it before its image is open; "" while there is none. */
  get chain(): string {
    return this.#open?.replica.device.chain ?? this.#lent;
  }

  get isJoined(): boolean {
    return this.#isJoined;
  }

  get isWaiting(): boolean {
    if (this.#isClosed) return false;
    return !this.#isJoined || this.#sent.length > 0;
  }

  /** There is an owner: it is asked for the repository. */
  join(): void {
    this.#isJoined = false;
    this.#leaving = undefined;
    this.#sent = [];
    this.#early = [];
    this.#call = this.#parts.link.nextCall();
    if (this.#isBuilding || this.#isClosed) return;
    const { name, link, left, isRich } = this.#parts;
    const inbox = this.#open?.inbox;
    inbox?.begin(inbox.at);
    link.post({
      kind: "open",
      call: this.#call,
      repository: name,
      at: inbox?.at,
      life: this.#life,
      chain: this.chain === "" ? undefined : this.chain,
      left: left.of(name).flatMap(({ records }) => chainsOf(records)),
      rich: isRich || undefined,
    });
    this.#parts.link.watch();
  }

  hear(message: RepositoryMessage): void {
    if (this.#isClosed) return;
    if (this.#isBuilding && message.kind !== "opened") {
      this.#early.push(message);
      return;
    }
    switch (message.kind) {
      case "opened":
        return this.#answered(message);
      case "records":
        // Behind a gap nothing is heard before it is open again.
        if (this.#isJoined) this.#open?.inbox.take(message);
        return;
      case "acknowledged":
        return this.#acknowledged(message);
      case "declined":
        return this.#declined(message);
      case "reload":
        return this.join();
      case "sync":
        return this.#report(message);
    }
  }

  /**
   * Of a commit that the server has, the owner's log may say that it is void: a
   * report counts when that was followed here.
   */
  #report(report: Standing): void {
    this.#standing = report;
    const open = this.#open;
    if (open === undefined || open.inbox.at.address < report.to) return;
    this.#standing = undefined;
    open.channel.report(report);
  }

  #caughtUp(): void {
    if (this.#standing !== undefined) this.#report(this.#standing);
    this.#leave();
  }

  #answered(opened: Opened): void {
    if (opened.call !== this.#call || this.#isJoined) return;
    if (opened.failure !== undefined) return this.fail(errorOf(opened.failure));
    this.#life = opened.life;
    if (this.#open !== undefined) return this.#goOn(this.#open, opened);
    if (!this.#isBuilding) {
      this.#build(opened).catch((cause) => this.fail(cause));
    }
  }

  async #build(opened: Opened): Promise<void> {
    const { openReplica, folder, name, link } = this.#parts;
    this.#isBuilding = true;
    this.#lent = opened.chain ?? "";
    const files = await filesOf(folder, opened.image ?? []);
    if (files === undefined) return this.#joinLater();
    const storage = new TabStorage(files);
    const { chain, lastId } = opened;
    const replica = await openReplica(storage, { chain, lastId });
    this.#isBuilding = false;
    if (this.#isClosed) return await replica.close();
    const { outgoing } = replica.device;
    assert(outgoing !== undefined, "it is a tab's replica");
    const channel = new TabChannel(name, link, opened.sync);
    const inbox = this.#inbox(replica, opened);
    const open = { replica, storage, channel, outgoing, inbox };
    this.#open = open;
    storage.sync = () => {
      this.#ship();
      return outgoing.sync();
    };
    replica.loaded.log.onSealed = () => this.#shipSoon();
    outgoing.onWrote = () => this.#shipSoon();
    this.#opened.resolve(open);
    if (opened.call !== this.#call) return this.join(); // There is another owner.
    this.#isJoined = true;
    for (const message of this.#early.splice(0)) this.hear(message);
    this.#ship();
    this.#parts.joined();
    this.#handIn(open);
    this.#parts.link.watch();
  }

  /** Its image died with its owner, or that lacks something still. */
  #joinLater(): void {
    this.#isJoined = this.#isBuilding = false;
    this.#lent = "";
    this.#parts.world.after(limits.tabPingMs, () => this.join());
  }

  #inbox(replica: Replica, { at }: Opened): TabInbox {
    const { world, isHidden } = this.#parts;
    return new TabInbox(at, {
      world,
      isHidden,
      follow: (records) => replica.device.follow(records),
      missed: () => this.join(),
      caughtUp: () => this.#caughtUp(),
      failed: (cause) => this.fail(cause),
    });
  }

  /** Goes on under this owner: it has the same log, or all is compared. */
  #goOn(open: Parts, opened: Opened): void {
    const { inbox, channel, outgoing, replica } = open;
    const { at, known, sync } = opened;
    this.#isJoined = true;
    inbox.begin(at);
    this.#report(sync);
    channel.again();
    outgoing.again();
    const counts = new Map(known);
    // In Fast mode an owner may have lost what it had acknowledged.
    const hasLost = replica.mode === "fast" &&
      (counts.get(this.chain) ?? 0) < replica.graph.lengthOf(this.chain);
    if (at.address === 0 || hasLost || this.#lacksTo > 0) {
      for (const run of runsOf(lackedBy(counts, replica))) this.#post(run, 0);
      this.#lacksTo = this.#sent.at(-1)?.seq ?? 0;
    }
    this.#ship();
    this.#parts.joined();
    this.#handIn(open);
    this.#parts.link.watch();
  }

  /** Bytes that are visible here and that the owner has not acknowledged. */
  get unsyncedBytes(): number {
    if (this.#open === undefined) return 0;
    const { replica, outgoing } = this.#open;
    const { log } = replica.loaded;
    // What came from the owner is durable there.
    const foreign = log.end - log.synced - outgoing.bytes;
    return replica.status().unsyncedBytes - foreign;
  }

  /** The page may go away: what the owner has not acknowledged is kept for the next one. */
  keep(): void {
    if (this.#open === undefined || this.#isClosed) return;
    const { left, name } = this.#parts;
    const { replica, outgoing } = this.#open;
    const { log } = replica.loaded;
    replica.flush();
    this.#ship();
    const records = outgoing.left(log.sealed, limits.tabLeftBytesMax);
    left.keep(name, this.#identityOf(replica), records);
  }

  #handIn({ replica }: OpenTab): void {
    const { left, name, link } = this.#parts;
    left.handIn(
      name,
      this.#identityOf(replica),
      async (records) => await link.call("handIn", [records], name) === true,
    );
  }

  /** Another one is had by what was deleted under its name, and by what has its name elsewhere. */
  #identityOf({ loaded: { genesisId } }: Replica): string {
    return toHex(genesisId) + (this.#life ?? "");
  }

  #shipSoon(): void {
    if (this.#isShipDue) return;
    this.#isShipDue = true;
    queueMicrotask(() => {
      this.#isShipDue = false;
      this.#ship();
    });
  }

  /** Gives the owner what was written here and has its seals. */
  #ship(): void {
    if (!this.#isJoined || this.#open === undefined || this.#isClosed) return;
    if (this.#leaving !== undefined) return;
    const { outgoing, replica: { loaded: { log } } } = this.#open;
    for (;;) {
      const next = outgoing.take(log.sealed, limits.tabRecordsBytesSoft);
      if (next === undefined) break;
      this.#post(next.records, next.to);
    }
    this.#parts.link.watch();
  }

  #post(records: readonly OwnRecord[], to: number): void {
    const { link, name } = this.#parts;
    const seq = ++this.#seq;
    this.#sent.push({ seq, to, chain: this.chain });
    link.post({ kind: "write", repository: name, seq, records });
  }

  #acknowledged({ seq }: OfOwner["acknowledged"]): void {
    let to = 0;
    while (this.#sent.length > 0 && this.#sent[0]!.seq <= seq) {
      to = Math.max(to, this.#sent.shift()!.to);
    }
    if (seq >= this.#lacksTo) this.#lacksTo = 0;
    if (to > 0) this.#open?.outgoing.acknowledged(to);
    this.#parts.link.watch();
  }

  #declined(declined: OfOwner["declined"]): void {
    if (this.#open === undefined || !this.#isJoined) return;
    const { code, end, seq } = declined;
    const sent = this.#sent.find((one) => one.seq === seq);
    if (sent === undefined) return; // Of a life before.
    if (code === "gap") {
      const hurries = this.#lacksTo === 0;
      this.#lacksTo = Infinity;
      hurries ? this.join() : this.#joinLater();
    } else if (code === "chain" && end !== undefined) {
      this.#leaving = { chain: sent.chain, end };
      this.#leave();
    } else this.fail(errorOf(declined));
  }

  /** Leaves a chain that does not go on, once all is known that the owner has of it. */
  #leave(): void {
    const leaving = this.#leaving;
    const open = this.#open;
    if (leaving === undefined || open === undefined || this.#isClosed) return;
    if (open.inbox.at.address < leaving.end) return;
    this.#leaving = undefined;
    // A cut that came meanwhile has ended it already.
    if (this.chain === leaving.chain) {
      try {
        open.replica.device.leaveChain(leaving.chain);
      } catch (cause) {
        if (!(cause instanceof Unloaded)) throw cause;
        this.#leaving = leaving;
        return whenLoaded(this.#parts.world, cause, () => this.#leave());
      }
      open.replica.flush();
    }
    this.join();
  }

  /** It cannot go on: whoever waits hears why, and nothing more is written. */
  fail(cause: unknown): void {
    const failure = cause instanceof DatabaseError ? cause : new DatabaseError(
      "storage-failed",
      "The repository cannot go on in this page: reload it",
      { cause },
    );
    this.#isJoined = true; // Nothing is waited for any more.
    this.#sent = [];
    this.#opened.reject(failure);
    this.#open?.outgoing.fail(failure);
    this.#parts.link.watch();
  }

  close(): void {
    if (this.#isClosed) return;
    const { link, name } = this.#parts;
    this.#isClosed = true;
    link.post({ kind: "close", repository: name });
    this.#parts.link.watch();
  }
}

/** What an owner lacks; nothing of a replica that was closed meanwhile, since that waited for its owner. */
function lackedBy(
  counts: ReadonlyMap<string, number>,
  { device }: Replica,
): OwnRecord[] {
  try {
    return device.lackedBy(counts);
  } catch (cause) {
    if (isGone(cause)) return [];
    throw cause;
  }
}

/** Records in runs that one message carries. */
export function* runsOf(records: readonly OwnRecord[]): Iterable<OwnRecord[]> {
  let run: OwnRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    if (
      run.length > 0 && bytes + record.bytes.length > limits.tabRecordsBytesSoft
    ) {
      yield run;
      run = [];
      bytes = 0;
    }
    run.push(record);
    bytes += record.bytes.length;
  }
  if (run.length > 0) yield run;
}
