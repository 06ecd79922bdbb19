/**
 * What a measured workload is, and the databases it works on.
 *
 * @module
 */

import type { Database, Done, Engine, Shape } from "./engine.ts";
import { Model } from "./model.ts";

/** The prepared databases of one contestant. */
export type StoreName = "empty" | "plain" | "indexed";

/** One workload, started: the child times {@linkcode Task.run} and nothing else. */
export interface Task {
  /** Operations in one run; figures are divided by it. */
  readonly burst: number;
  /** Untimed: chooses what the next run will do. */
  before?(): Done;
  /** Milliseconds of the last run that belong to something else. */
  deducted?(): number;
  /** Timed. */
  run(): Done | number;
  /** Untimed: clears up after a run and says what was wrong with its answer. */
  after?(): Promise<string | undefined> | string | undefined;
  /** Untimed: asks thoroughly whether answers are right; says what is wrong. */
  check(): Promise<string | undefined> | string | undefined;
  /** Untimed: gives back what the task holds. */
  end?(): Done;
}

/** One prepared database: where it is, what it must hold. */
export class Store {
  readonly folder: string;
  readonly shape: Shape;
  readonly model: Model;
  readonly #engine: Engine;
  #database: Database | undefined;

  constructor(engine: Engine, folder: string, shape: Shape, size: number) {
    this.#engine = engine;
    this.folder = folder;
    this.shape = shape;
    this.model = new Model(size);
  }

  /** The database, opened if it was not. */
  async database(): Promise<Database> {
    this.#database ??= await this.open();
    return this.#database;
  }

  /** Opens it once more; only while nobody holds it. */
  open(): Database | Promise<Database> {
    return this.#engine.open(this.folder, this.shape);
  }

  /** Closes it, so that somebody else can open it. */
  async release(): Promise<void> {
    await this.#database?.close();
    this.#database = undefined;
  }
}

/** All that a workload may need. */
export interface Context {
  readonly engine: Engine;
  /** The contestant's own folder. */
  readonly home: string;
  /** Items in the prepared databases. */
  readonly size: number;
  readonly store: Store;
}

/** The shape of each prepared database. */
export function shapeOf(name: StoreName): Shape {
  return {
    indexed: name === "indexed",
    history: false,
    exclusive: false,
    frugal: false,
  };
}
