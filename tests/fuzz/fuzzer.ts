/**
 * One run of the fuzzer: random steps on a database over a storage that fails
 * and loses power, compared after each step with the model.
 *
 * Architecture invariant: everything follows from the seed, so that a run that
 * failed can be replayed byte for byte.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import {
  type Collection,
  type Database,
  DatabaseError,
  type Mode,
  openDatabase,
  type Repository,
} from "../../mod.ts";
import { FaultyStorage, filesOf, type Kept, seededRandom } from "../kit/mod.ts";
import { readState } from "./read_state.ts";
import { Model, type PlainThing, Tally, textOf, Thing } from "./model.ts";
import { VirtualWorld } from "./virtual_world.ts";
import { write } from "./writes.ts";

/** What a run did; equal for equal seeds. */
export interface FuzzReport {
  readonly steps: number;
  readonly commits: number;
  /** How often each kind of step was taken. */
  readonly taken: Readonly<Record<string, number>>;
  /** Hash of all files at the end, hexadecimal. */
  readonly digest: string;
}

const MODES: readonly Mode[] = ["default", "trusted", "fast"];
const REPOSITORY = "fuzz";
const STEPS = 120;

/** Runs one seed; throws when the database does what it must not. */
export async function fuzz(seed: number, steps = STEPS): Promise<FuzzReport> {
  const run = new Run(seed);
  await run.open();
  for (let step = 0; step < steps; step++) {
    await run.step();
    run.check();
  }
  return await run.finish(steps);
}

class Run {
  readonly #random: () => number;
  readonly #world: VirtualWorld;
  readonly #mode: Mode;
  readonly #model = new Model();
  readonly #taken: Record<string, number> = {};
  #storage: FaultyStorage;
  #db!: Database;
  #repo!: Repository;
  #things!: Collection<typeof Thing>;
  /** Ids of the live result. */
  #liveIds!: () => string[];
  #commits = 0;
  #lives = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#world = new VirtualWorld(seed ^ 0x5eaf);
    this.#mode = MODES[seed % MODES.length]!;
    this.#storage = new FaultyStorage({ slow: seed % 2 === 0 });
  }

  async open(repair = false): Promise<void> {
    this.#db = await this.#settle(openDatabase({
      storage: this.#storage,
      mode: this.#mode,
      schemas: [Thing, Tally],
      world: this.#world,
      repair,
    }));
    this.#repo = await this.#settle(this.#db.repository(REPOSITORY));
    this.#things = this.#repo.collection(Thing);
    const live = this.#things.where({ size: { gte: 0 } })
      .orderBy("size", "desc").limit(4).subscribe(() => {});
    this.#liveIds = () => live.rows.map(({ id }) => id);
  }

  async step(): Promise<void> {
    const dice = this.#random();
    if (dice < 0.7) this.#write();
    else if (dice < 0.8) await this.#act("wait", () => this.#wait());
    else if (dice < 0.85) await this.#act("durable", () => this.#durable());
    else if (dice < 0.88) {
      await this.#act("checkpoint", () => this.#checkpoint());
    } else if (dice < 0.91) await this.#act("reopen", () => this.#reopen());
    else if (dice < 0.95) await this.#act("power cut", () => this.#powerCut());
    else if (dice < 0.97) await this.#act("fault", () => this.#fault());
    else if (dice < 0.98) await this.#act("verify", () => this.#verify());
    else await this.#act("damage", () => this.#damage());
  }

  #act(name: string, action: () => Promise<void>): Promise<void> {
    this.#taken[name] = (this.#taken[name] ?? 0) + 1;
    return action();
  }

  #write(): void {
    this.#taken.write = (this.#taken.write ?? 0) + 1;
    const before = this.#model.commits;
    const durability = write(this.#repo, this.#model, this.#random);
    const count = this.#model.commits;
    this.#commits += count - before;
    if (durability === undefined || this.#mode === "fast") return;
    const life = this.#lives;
    const kept = () => {
      // What a dead process hears comes too late.
      if (life === this.#lives) this.#model.acknowledge(count);
    };
    durability.then(kept, () => {});
  }

  #settle<T>(promise: Promise<T>): Promise<T> {
    return this.#world.settle(promise);
  }

  /** Everything that answers is right, and the live result is the query's. */
  check(): void {
    equal(textOf(readState(this.#repo)), textOf(this.#model.state));
    const { things } = this.#model.state;
    const wanted = Object.entries(things).filter(([, { size }]) => size >= 0)
      .sort(([a, x], [b, y]) => y.size - x.size || (a < b ? -1 : 1))
      .slice(0, 4).map(([id]) => id);
    deepEqual(this.#liveIds(), wanted);
    equal(this.#things.count(), Object.keys(things).length);
    const on = this.#things.where({ on: true }).run().length;
    equal(on, Object.values(things).filter((thing) => thing.on).length);
    // Without an index, so that columns are scanned.
    const ash = this.#things.where({ name: "ash" }).count();
    equal(ash, Object.values(things).filter(isAsh).length);
  }

  async #wait(): Promise<void> {
    await this.#world.pass(Math.floor(this.#random() * 4));
  }

  async #durable(): Promise<void> {
    await this.#settle(this.#repo.durable());
    this.#model.acknowledge();
    equal(this.#repo.status().unsyncedBytes, 0);
  }

  async #checkpoint(): Promise<void> {
    await this.#settle(this.#repo.checkpoint());
    this.#model.acknowledge();
  }

  async #reopen(): Promise<void> {
    await this.#settle(this.#db.close());
    this.#model.acknowledge();
    await this.open();
    equal(this.#repo.status().recovery.clean, true);
  }

  async #verify(): Promise<void> {
    const report = await this.#settle(this.#repo.verify());
    ok(report.ok, report.damage?.reason);
    this.#model.acknowledge();
  }

  /** The machine dies; what the medium keeps is up to the dice. */
  async #powerCut(): Promise<void> {
    const dice = this.#random();
    const kept = dice < 0.2
      ? "synced"
      : dice < 0.4
      ? "all"
      : Math.floor(dice * 1e6);
    this.#die(kept);
    await this.#recover(false);
  }

  #die(kept: Kept): void {
    this.#lives++;
    this.#world.die();
    this.#storage = this.#storage.afterPowerCut(kept);
  }

  /** One call of the storage fails, at any place; then the machine dies. */
  async #fault(): Promise<void> {
    this.#storage.failIn(1 + Math.floor(this.#random() * 4));
    try {
      this.#write();
      await this.#settle(this.#repo.durable());
      this.#model.acknowledge();
      if (this.#random() < 0.5) await this.#checkpoint();
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
    }
    await this.#powerCut();
  }

  /** A bit of the log or of a checkpoint is flipped while nobody has it open. */
  async #damage(): Promise<void> {
    await this.#settle(this.#db.close());
    this.#model.acknowledge();
    // Older checkpoints, which a power cut brings back, are never read.
    const all = filesOf(this.#storage);
    const newest = all.findLast(([name]) => name.includes("/checkpoint-"));
    const files = all.filter((file) =>
      file === newest || file[0].includes("/log-")
    );
    const [name, bytes] = files[Math.floor(this.#random() * files.length)]!;
    const at = Math.floor(this.#random() * bytes.length);
    const bit = Math.floor(this.#random() * 8);
    this.#storage.spoil(name, at, bytes[at]! ^ 1 << bit);
    await this.#recover(true);
  }

  /** Opens after an accident; damage needs a repair, a power cut never does. */
  async #recover(isDamaged: boolean): Promise<void> {
    try {
      await this.open();
      if (isDamaged) await this.#findDamage();
    } catch (error) {
      if (!isDamaged || !(error instanceof DatabaseError)) throw error;
      this.#die("all");
      this.#storage.removeAll(/\/checkpoint-/);
      await this.open(true);
    }
    const text = textOf(readState(this.#repo));
    ok(this.#model.fallBack(text, isDamaged), `this was never there: ${text}`);
  }

  /** A damaged byte that opening need not read is found by reading everything. */
  async #findDamage(): Promise<void> {
    readState(this.#repo);
    const { skippedCheckpoints, droppedBytes, quarantine } =
      this.#repo.status().recovery;
    if (skippedCheckpoints.length > 0 || droppedBytes > 0) return;
    if (quarantine !== undefined) return;
    const { ok: isSound, damage } = await this.#settle(this.#repo.verify());
    ok(!isSound, "the damage went unnoticed");
    throw new DatabaseError("log-damaged", damage!.reason);
  }

  async finish(steps: number): Promise<FuzzReport> {
    await this.#reopen();
    this.check();
    await this.#verify();
    await this.#settle(this.#db.close());
    const digest = await digestOf(this.#storage);
    return { steps, commits: this.#commits, taken: this.#taken, digest };
  }
}

function isAsh({ name }: PlainThing): boolean {
  return name === "ash";
}

async function digestOf(storage: FaultyStorage): Promise<string> {
  const parts: BlobPart[] = [];
  for (const [name, bytes] of filesOf(storage)) {
    parts.push(`${name} ${bytes.length}\n`, bytes.slice());
  }
  const bytes = await new Blob(parts).arrayBuffer();
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
