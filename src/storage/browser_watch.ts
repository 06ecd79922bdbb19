/**
 * Looks after a browser's storage: every two seconds, and after flushes, it asks
 * whether the files are still there and how much room is left, and tells who
 * listens.
 */

import type { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { IncidentCode, StorageIncident } from "./browser_storage.ts";
import type { StorageUsage } from "./storage.ts";

export interface WatchParts {
  look(): Promise<void>;
  /** Is there room for more? Browsers that give every page the same quota as an answer do not say so otherwise. */
  hasRoom?(): Promise<boolean>;
}

export class BrowserWatch {
  usage: StorageUsage;
  /** Was a write refused, and is there no room yet? */
  isFull = false;
  readonly #parts: WatchParts;
  readonly #listeners = new Set<(incident: StorageIncident) => void>();
  /** What was told before anybody listened. */
  #unheard: StorageIncident[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #lookedAt = 0;
  #isLooking = false;
  /** When room was asked for, and whether there was any. */
  #askedAt = -Infinity;
  #hasRoom = true;
  #hasWritten = true;

  constructor(backend: string, parts: WatchParts) {
    this.usage = { backend, persisted: false };
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#turn(), limits.storageLookMs);
    void this.#turn();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Looks at once, unless it just did. */
  lookSoon(): void {
    if (this.#timer === undefined) return;
    this.#hasWritten = true;
    const now = performance.now();
    if (now - this.#lookedAt < limits.storageLookMsMin) return;
    this.#lookedAt = now;
    setTimeout(() => void this.#turn());
  }

  /** Calls `onIncident` for each further incident; the first one who listens hears of those before, too. */
  listen(onIncident: (incident: StorageIncident) => void): () => void {
    this.#listeners.add(onIncident);
    for (const incident of this.#unheard) onIncident(incident);
    this.#unheard = [];
    return () => this.#listeners.delete(onIncident);
  }

  raise({ code, message }: DatabaseError): void {
    this.#tell(code as IncidentCode, message);
  }

  /** A write found the medium full. */
  full(): void {
    if (this.isFull) return;
    this.isFull = true;
    this.#hasRoom = false;
    this.#tell(
      "storage-full",
      "The browser's storage is full: writes are refused until something is removed from this device.",
    );
  }

  async refresh(): Promise<StorageUsage> {
    const wasNearlyFull = this.usage.isNearlyFull;
    const quota = await estimateQuota();
    const isNearlyFull = quota.isNearlyFull || !this.#hasRoom;
    this.usage = { backend: this.usage.backend, ...quota, isNearlyFull };
    if (!isNearlyFull) this.isFull = false;
    else if (!wasNearlyFull) {
      this.#tell(
        "storage-nearly-full",
        `The browser's storage is nearly full: ${quota.usedBytes} bytes are used. Remove something from this device.`,
      );
    }
    return this.usage;
  }

  async #turn(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#lookedAt = performance.now();
    try {
      await this.#parts.look();
      await this.#askForRoom();
      await this.refresh();
    } catch {
      // What it found was raised; what it could not do is done in the next turn.
    } finally {
      this.#isLooking = false;
    }
  }

  async #askForRoom(): Promise<void> {
    const { hasRoom } = this.#parts;
    const now = performance.now();
    const isDue = this.#hasWritten || this.isFull || !this.#hasRoom;
    if (now - this.#askedAt < limits.storageRoomMs || !isDue) return;
    this.#askedAt = now;
    this.#hasWritten = false;
    this.#hasRoom = await hasRoom?.() ?? !this.isFull;
  }

  #tell(code: IncidentCode, message: string): void {
    const incident = { code, at: Date.now(), message };
    for (const tell of [...this.#listeners]) tell(incident);
    const { size } = this.#listeners;
    if (size === 0 && this.#unheard.length < limits.incidentsMax) {
      this.#unheard.push(incident);
    }
  }
}

interface Manager {
  estimate?(): Promise<{ quota?: number; usage?: number }>;
  persisted?(): Promise<boolean>;
}

interface Quota {
  /** Will the browser ask before it removes anything? */
  readonly persisted: boolean;
  readonly quotaBytes?: number;
  readonly usedBytes?: number;
  readonly isNearlyFull: boolean;
}

function manager(): Manager {
  const { navigator } = globalThis as { navigator?: { storage?: Manager } };
  return navigator?.storage ?? {};
}

/** Asks the browser; what it does not tell is left out. */
async function estimateQuota(): Promise<Quota> {
  const storage = manager();
  const [estimate, persisted] = await Promise.all([
    storage.estimate?.().catch(() => undefined),
    storage.persisted?.().catch(() => false),
  ]);
  const { quota, usage } = estimate ?? {};
  return {
    persisted: persisted ?? false,
    ...(quota !== undefined && { quotaBytes: quota }),
    ...(usage !== undefined && { usedBytes: usage }),
    isNearlyFull: quota !== undefined && usage !== undefined &&
      quota - usage < Math.min(limits.storageFreeBytesMin, quota / 10),
  };
}
