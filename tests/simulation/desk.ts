/**
 * One open repository of an app: somebody who writes in it, and what became of
 * what was written, as the handles of its writes tell.
 *
 * @module
 */

import type { Position } from "../../repo/commit/commit.ts";
import type { Replica } from "../../repo/replica.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { replicaOf } from "../../src/db/internals.ts";
import type { RefusedWrite } from "../../src/db/refused_write.ts";
import type { Repository } from "../../src/db/repository.ts";
import type { RepositorySync } from "../../src/db/repository_sync.ts";
import type { UndoResult } from "../../src/db/undo.ts";
import type { Write } from "../../src/db/write.ts";
import { openKv } from "../../src/kv/mod.ts";
import type { Client } from "./client.ts";
import { type AppSchemas, Mark } from "./collections.ts";
import { type Entry, nothing, type Promised } from "./ledger.ts";
import { Subscriber } from "./subscriber.ts";
import { Worker } from "./work.ts";

/** A write whose fate is not known. */
export interface Pending {
  readonly entry: Entry;
  readonly commit: Position;
  /** When this attempt was durable, in virtual milliseconds; `undefined` as long as it is not. */
  durableMs: number | undefined;
  /** How many looks in a row found it neither unsent nor at the server. */
  missedLooks: number;
}

/** What a desk is made of. */
export interface DeskParts {
  readonly client: Client;
  readonly repository: Repository;
  readonly app: AppSchemas;
  /** Is it over with whoever has it open? */
  readonly life: { readonly isDead: boolean };
  /** The how-manieth life of its client that is. */
  readonly number: number;
}

/** One repository of a client in one life. */
export class Desk {
  readonly repository: Repository;
  readonly replica: Replica;
  /** Who is told of what changes. */
  readonly subscriber: Subscriber;
  readonly #client: Client;
  readonly #life: DeskParts["life"];
  readonly #number: number;
  readonly #worker: Worker;
  /** Writes of this life whose fate is not known. */
  readonly pending = new Set<Pending>();
  /** Where the last commit of this desk stands. */
  #commit: Position | undefined;
  /** When it last heard that a write was refused. */
  refusedMs = -Infinity;
  /** What `equalAt` was when it was looked at last. */
  equalAtMs: number;
  /** What `equalAt` was when it was heard of last. */
  #equalHeardMs: number;
  /** How many of its incidents were heard. */
  #incidents = 0;

  constructor({ client, repository, app, life, number }: DeskParts) {
    this.#client = client;
    this.#life = life;
    this.#number = number;
    this.repository = repository;
    this.replica = replicaOf(repository);
    this.replica.watch = (begin) => {
      const done = begin();
      this.#commit = done.commit;
      return done;
    };
    const kv = openKv(repository);
    this.#worker = new Worker({
      repository,
      kv,
      app,
      dice: client.dice.fork(),
      user: client.person.user,
      hasSwaps: client.stage.plan.hasSwaps,
      isNaughty: client.isNaughty,
    });
    this.subscriber = new Subscriber(repository, kv, app, client.person.user);
    if (client.hasUndo) void repository.undo;
    this.equalAtMs = this.#equalHeardMs = this.#equalMs;
    repository.sync.subscribe(() => this.#heard());
  }

  /** The repository's name. */
  get name(): string {
    return this.repository.name;
  }

  /** Where it stands between here and the server. */
  get channel(): RepositorySync {
    return this.repository.sync;
  }

  get #equalMs(): number {
    return this.channel.status.equalAt?.getTime() ?? 0;
  }

  /** Writes something under a new mark. */
  write(mark: string): void {
    const { stage, name: author } = this.#client;
    this.#attempt(mark, () => {
      const write = this.#worker.write(mark);
      // A tally that others add to is no step that can be taken back.
      if (this.#worker.hasBegun) this.#client.forget(this.repository);
      const repository = this.name;
      const { nowMs: madeMs } = stage.timeline;
      const entry = stage.ledger.add({
        mark,
        repository,
        author,
        life: this.#number,
        madeMs,
        tally: write.result,
      });
      stage.trace.note(author, "write", `${mark} ${repository}`);
      this.#follow(entry, entry, write);
    });
  }

  /** Takes the last write back, or does it again. */
  turn(isRedo: boolean): void {
    const { stage, name } = this.#client;
    const what = isRedo ? "redo" : "undo";
    this.#attempt(what, () => {
      const before = this.#marks();
      const { undo } = this.repository;
      const write = isRedo ? undo.redo() : undo.undo();
      if (write === undefined) return;
      for (const mark of before.symmetricDifference(this.#marks())) {
        const entry = stage.ledger.find(mark)!;
        const turn = entry.turn = { ...nothing, isRedo: !before.has(mark) };
        stage.trace.note(name, what, `${mark}${leftAlone(write.result)}`);
        this.#follow(entry, turn, write);
      }
    });
  }

  #marks(): Set<string> {
    return new Set(this.repository.collection(Mark).keys());
  }

  /** Deals with a write that was refused: tries it again as it is, or gives it up. */
  reconsider(): void {
    const { refusals } = this.channel.status;
    if (refusals.length === 0) return;
    const { dice, stage, name } = this.#client;
    const refusal = dice.pick(refusals);
    const entries = marksOf(refusal).map((mark) => stage.ledger.find(mark)!);
    const isRetried = dice.chance(0.5);
    // What becomes of a refused undo or redo is nobody's promise any more.
    for (const entry of entries) {
      if (entry.turn) entry.turn = { ...entry.turn, ...nothing };
    }
    if (!isRetried) {
      for (const entry of entries) entry.isGone = true;
      this.#client.guard(this.#life, refusal.discard());
      stage.trace.note(name, "discard", this.name);
      return;
    }
    this.#attempt("again", () => {
      const write = refusal.retry();
      stage.trace.note(name, "retry", this.name);
      for (const entry of entries) {
        entry.refused = undefined;
        entry.isRetried = true;
        entry.isGone = false;
        entry.toldMs = Infinity;
        // Tried again may be the write, or what took it back.
        this.#follow(entry, entry.turn ? { ...nothing } : entry, write);
      }
    });
  }

  /** Writes; a rule may be against it. */
  #attempt(what: string, write: () => void): void {
    const { stage, name } = this.#client;
    try {
      write();
    } catch (cause) {
      if (cause instanceof DatabaseError && cause.code === "denied") {
        stage.trace.note(name, "denied", what);
      } else if (!this.#life.isDead) this.#client.broke(cause);
    }
  }

  /** Listens to what the handle of a write says. */
  #follow(entry: Entry, promised: Promised, write: Write<unknown>): void {
    const { stage: { timeline } } = this.#client;
    const pending: Pending = {
      entry,
      commit: this.#commit!,
      durableMs: undefined,
      missedLooks: 0,
    };
    const { pending: all } = this;
    all.add(pending);
    const durable = write.durable.then(() => {
      if (this.#life.isDead) return;
      promised.isDurable = true;
      pending.durableMs = timeline.nowMs;
    });
    const synced = write.synced.then(
      () => this.#synced(entry, promised),
      (cause) => this.#unsynced(pending, promised, cause),
    ).finally(() => all.delete(pending));
    this.#client.guard(this.#life, Promise.all([durable, synced]));
  }

  #synced(entry: Entry, promised: Promised): void {
    if (this.#life.isDead) return;
    const { link, stage, name } = this.#client;
    // Somebody who exchanges frames can make one acknowledgement look like another's.
    if (link.mangler === undefined) promised.isSynced = true;
    stage.trace.note(name, "synced", entry.mark);
  }

  #unsynced(
    { entry, commit }: Pending,
    promised: Promised,
    cause: unknown,
  ): void {
    if (this.#life.isDead) return;
    const code = cause instanceof DatabaseError ? cause.code : undefined;
    if (code === "closed") return;
    if (code !== "refused") throw cause;
    promised.refused = "refused";
    this.refusedMs = entry.refusedMs = this.#client.stage.timeline.nowMs;
    entry.refusedAt = this.replica.loaded.voided.placeOf(commit);
    this.#client.stage.trace.note(this.#client.name, "refused", entry.mark);
  }

  /** Something changed between here and the server. */
  #heard(): void {
    if (this.#life.isDead) return;
    this.#hearIncidents();
    const { ledger, timeline } = this.#client.stage;
    for (const mark of this.refusedMarks()) {
      const entry = ledger.find(mark)!;
      entry.toldMs = Math.min(entry.toldMs, timeline.nowMs);
    }
    const atMs = this.#equalMs;
    if (atMs === this.#equalHeardMs) return;
    this.#equalHeardMs = atMs;
    this.#client.saysEqual(this);
  }

  #hearIncidents(): void {
    const { incidents } = this.channel.status;
    // A page whose files have another owner begins anew.
    const from = Math.min(this.#incidents, incidents.length);
    for (const incident of incidents.slice(from)) {
      this.#client.reports(this.name, incident);
    }
    this.#incidents = incidents.length;
  }

  /** Marks of the writes that it says were refused. */
  *refusedMarks(): Iterable<string> {
    for (const refusal of this.channel.status.refusals) {
      yield* marksOf(refusal);
    }
  }
}

function leftAlone({ leftAlone }: UndoResult): string {
  return leftAlone.map(({ id, field }) => ` not ${id} ${field ?? ""}`).join();
}

/** Marks of the writes of a refused commit. */
function marksOf({ operations }: RefusedWrite): string[] {
  return operations
    .filter(({ collection }) => collection === Mark.name)
    .map(({ id }) => id);
}
