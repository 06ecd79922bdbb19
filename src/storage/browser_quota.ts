/**
 * What the browser says of its storage: quota, use, and whether it may remove
 * files when space is short.
 *
 * @module
 */

import { limits } from "../base/limits.ts";

/** `StorageManager`, as far as it is used. */
interface Manager {
  estimate?(): Promise<{ quota?: number; usage?: number }>;
  persisted?(): Promise<boolean>;
}

/** The browser's answers. */
export interface Quota {
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
export async function estimateQuota(): Promise<Quota> {
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
