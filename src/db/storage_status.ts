/**
 * `database.storage`: what a database says of its medium, as an observable.
 */

import { refuseOptions } from "../base/known_options.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { StorageUsage } from "../storage/storage.ts";
import { Listeners } from "./listeners.ts";

/** Something that happened to the medium. */
export interface StorageIncident {
  /**
   * `storage-nearly-full`, `storage-full`, `storage-evicted`, `storage-failed` or `database-locked`;
   * of a scrub `log-mended`, `keys-mended`, `log-damaged` or `checkpoint-damaged`.
   */
  readonly code: string;
  /** When it was noticed, in milliseconds since 1970. */
  readonly at: number;
  /** For a person. */
  readonly message: string;
}

/** What a database says of its medium. */
export interface StorageStatus extends StorageUsage {
  /** Bytes of logs and checkpoints, over all open repositories. */
  readonly usedBytes: number;
  /** Bytes that are visible and not yet durable, over all open repositories. */
  readonly unsyncedBytes: number;
  /** Names of the repositories that are open. */
  readonly open: readonly string[];
  /** Will it soon take nothing more? */
  readonly isNearlyFull: boolean;
  /** The newest last. */
  readonly incidents: readonly StorageIncident[];
}

/** The medium of a database. */
export interface DatabaseStorage {
  /** Backend, whether it outlives the process, quota where known, and bytes. */
  status(): StorageStatus;
  /** Asks that it be kept when space gets scarce, where the platform can be asked; is it? */
  persist(): Promise<boolean>;
  /** Calls whenever the status changed; the result ends it. */
  readonly subscribe: (listener: () => void) => () => void;
  /** As `status()`; the same object until something changes. */
  readonly getSnapshot: () => StorageStatus;
}

export interface StorageObserverParts {
  readonly world: World;
  /** Incidents are those that were noted here, unless it says. */
  readonly now: () =>
    & Omit<StorageStatus, "incidents">
    & Partial<Pick<StorageStatus, "incidents">>;
  readonly persist: () => Promise<boolean>;
  readonly report?: ((error: unknown) => void) | undefined;
}

/** Figures change with every write; who listens is told of them so often. */
const FIGURES_MS = 1_000;

export class StorageObserver implements DatabaseStorage {
  readonly #parts: StorageObserverParts;
  readonly #listeners: Listeners;
  #incidents: readonly StorageIncident[] = [];
  #status: StorageStatus | undefined;
  /** What it said, to compare. */
  #text = "";
  #cancel: (() => void) | undefined;

  constructor(parts: StorageObserverParts) {
    refuseOptions(this);
    this.#parts = parts;
    this.#listeners = new Listeners(parts.report);
  }

  status(): StorageStatus {
    return this.getSnapshot();
  }

  persist(): Promise<boolean> {
    return this.#parts.persist();
  }

  readonly getSnapshot = (): StorageStatus => {
    const status = { incidents: this.#incidents, ...this.#parts.now() };
    const text = JSON.stringify(status);
    if (this.#status !== undefined && text === this.#text) return this.#status;
    this.#text = text;
    return this.#status = Object.freeze(status);
  };

  readonly subscribe = (listener: () => void): () => void => {
    const end = this.#listeners.add(listener);
    this.#watch();
    return () => {
      end();
      if (this.#listeners.size === 0) this.stop();
    };
  };

  #watch(): void {
    this.#cancel ??= this.#parts.world.after(FIGURES_MS, () => {
      this.#cancel = undefined;
      this.changed();
      if (this.#listeners.size > 0) this.#watch();
    });
  }

  /** The log of a repository cannot be written any more. */
  failed(repository: string, { message }: Error): void {
    const at = this.#parts.world.now();
    const text = `${repository}: ${message}`;
    this.incident({ code: "storage-failed", at, message: text });
  }

  incident(incident: StorageIncident): void {
    this.#incidents = [...this.#incidents, incident].slice(
      -limits.incidentsMax,
    );
    this.changed();
  }

  changed(): void {
    const before = this.#status;
    if (this.#listeners.size > 0 && this.getSnapshot() !== before) {
      this.#listeners.tell();
    }
  }

  /** Tells nothing more by itself. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
