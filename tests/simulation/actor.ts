/**
 * Somebody with a disk and a clock, who lives, dies and lives again.
 *
 * @module
 */

import { DatabaseError } from "../../src/base/errors.ts";
import type { Replica } from "../../repo/replica.ts";
import { ActorWorld, type WallClock } from "./actor_world.ts";
import { CheckFailed } from "./failure.ts";
import type { Dice } from "./dice.ts";
import { Disk } from "./disk.ts";
import type { Stage } from "./stage.ts";

/** How long a dead actor waits until it tries again to live. */
const REBIRTH_MS = 1_000;

/** See the file's header. */
export abstract class Actor {
  readonly name: string;
  readonly stage: Stage;
  readonly dice: Dice;
  readonly disk: Disk;
  readonly clock: WallClock;
  /** Was its clock so far ahead that a server may refuse what it wrote then? */
  wasAhead = false;
  /** How many lives it had. */
  lives = 0;
  #state: "down" | "starting" | "up" | "stopping" = "down";
  #world: ActorWorld | undefined;
  /** Was its disk told to fail, since it was the disk of a process that died? */
  isDiskBlamed = false;
  #areReadsSpoiled = false;

  constructor(stage: Stage, name: string, dice: Dice) {
    this.stage = stage;
    this.name = name;
    this.dice = dice;
    this.disk = new Disk(stage.timeline, dice.fork(), stage.plan);
    this.clock = {
      offsetMs: dice.between(-5_000, 5_000),
      rate: 1 + dice.between(-100, 100) / 1e6,
    };
  }

  /** Where it is in its life. */
  get state(): "down" | "starting" | "up" | "stopping" {
    return this.#state;
  }

  /** The world of this life. */
  get world(): ActorWorld {
    return this.#world!;
  }

  /** Opens everything; checks after each wait that this life goes on. */
  protected abstract open(world: ActorWorld): Promise<void>;
  /** Closes everything cleanly. */
  protected abstract shut(): Promise<void>;
  /** Forgets everything: the process is gone. */
  protected abstract drop(isClean: boolean): void;

  /** Begins a life. */
  start(): void {
    if (this.#state !== "down") return;
    this.#state = "starting";
    this.lives++;
    const world = new ActorWorld(
      this.stage.timeline,
      this.clock,
      this.dice.fork(),
    );
    this.#world = world;
    this.stage.trace.note(this.name, "start");
    this.open(world).then(() => {
      if (world.isDead) return;
      this.#state = "up";
      this.readsWell();
      this.stage.trace.note(this.name, "up");
    }, (cause) => this.#failed(world, cause));
  }

  #failed(world: ActorWorld, cause: unknown): void {
    if (world.isDead) return;
    this.broke(cause);
  }

  /** Is something done to its disk that may end this life? */
  get mayBreak(): boolean {
    return this.isDiskBlamed || this.disk.storage.isFull;
  }

  /** A disk failed under it: the process ends and another one begins. */
  broke(cause: unknown): void {
    const isFault = cause instanceof DatabaseError && this.mayBreak;
    if (!isFault) return this.stage.fail(cause);
    this.stage.trace.note(this.name, "broke", cause.code);
    this.crash(false);
    this.restartLater();
  }

  /** Its open repositories. */
  protected abstract replicas(): Iterable<Replica>;

  /** Whoever finds that a disk failed ends, as the failed sync of a disk is final (law 12). */
  lookAtDisk(): void {
    if (this.#state !== "up") return;
    for (const replica of this.replicas()) {
      const { failure } = replica.status();
      if (failure !== undefined) return this.broke(failure);
    }
  }

  /** Writes checkpoints while everything else goes on. */
  checkpoint(): void {
    if (this.#state !== "up") return;
    this.stage.trace.note(this.name, "checkpoint");
    for (const replica of this.replicas()) {
      this.guard(this.world, replica.checkpoint());
    }
  }

  /** Lives again after a while. */
  restartLater(delayMs = REBIRTH_MS): void {
    this.stage.timeline.after(delayMs, () => this.start());
  }

  /** Ends a life cleanly; then `then`. */
  stop(then: () => void): void {
    if (this.#state !== "up") return;
    this.#state = "stopping";
    const { world } = this;
    this.stage.trace.note(this.name, "stop");
    this.shut().then(() => {
      if (world.isDead) return;
      world.die();
      this.#state = "down";
      this.drop(true);
      this.stage.trace.note(this.name, "stopped");
      then();
    }, (cause) => this.#failed(world, cause));
  }

  /** Ends a life at once. */
  crash(isPowerCut: boolean): void {
    if (this.#state === "down") return;
    this.world.die();
    this.isDiskBlamed = false;
    this.#areReadsSpoiled = false;
    const kept = this.disk.crash(isPowerCut);
    this.#state = "down";
    this.drop(false);
    this.stage.trace.note(this.name, "crash", kept);
  }

  /** One of the next operations of its disk fails. */
  spoilDisk(): void {
    this.isDiskBlamed = true;
    this.disk.storage.failIn(this.dice.between(1, 6));
    this.stage.trace.note(this.name, "disk-fault");
  }

  /** One of the next reads of its disk fails, while it comes to life. */
  spoilReads(): void {
    this.isDiskBlamed = true;
    this.#areReadsSpoiled = true;
    this.disk.storage.failReadIn(this.dice.between(1, 30));
    this.stage.trace.note(this.name, "read-fault");
  }

  /** Is one of the next reads of its disk told to fail? */
  get areReadsSpoiled(): boolean {
    return this.#areReadsSpoiled;
  }

  /** Reads fail only while somebody opens: from now on they do not. */
  protected readsWell(): void {
    this.#areReadsSpoiled = false;
    this.disk.storage.failReadIn(Infinity);
  }

  /** Fails the simulation unless this life is over. */
  guard(world: { readonly isDead: boolean }, what: Promise<unknown>): void {
    what.catch((cause) => {
      if (world.isDead) return;
      if (cause instanceof CheckFailed) this.stage.fail(cause);
      else this.broke(cause);
    });
  }
}
