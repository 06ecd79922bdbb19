/**
 * Sheaf in a page: published as `@sheaf/sheaf/browser`.
 *
 * The same database as in Deno, whose files are with a worker of this page, or
 * of another page of the app: pages that are open at the same time share them.
 *
 * ```ts ignore
 * import { defineSchema, field, openDatabase } from "@sheaf/sheaf/browser";
 *
 * const Task = defineSchema("task", { title: field.string() });
 * const db = await openDatabase({
 *   name: "board",
 *   worker: () => new Worker("/sheaf_worker.js", { type: "module" }),
 *   schemas: [Task],
 * });
 * const tasks = (await db.repository("team/acme")).collection(Task);
 * await tasks.create({ title: "Ship it" });
 * ```
 *
 * The worker's file is the bundle of one line: `import "@sheaf/sheaf/worker"`.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import { system } from "../base/system.ts";
import type { Database } from "../db/face.ts";
import { sharedOptions } from "../db/options.ts";
import { ownerLock, webLocks } from "./locks.ts";
import { openTab, parseDatabaseName, type TabOptions } from "./open.ts";
import type { Wire } from "./route.ts";
import { startWorker, workerFailed } from "./start_worker.ts";
import type { KeptTexts } from "./tab_left.ts";
import { platformPage } from "./tab_page.ts";

export * from "../db/exports.ts";

/** What a page needs to share a database with others, beside locks. */
const NEEDED = ["Worker", "BroadcastChannel"] as const;

/** How a database is opened in a page. */
export interface BrowserOptions extends TabOptions {
  /**
   * The worker that keeps the files when it is this page's turn: its address, or
   * what starts it. Not with `storage: "memory"`.
   */
  readonly worker?: string | URL | (() => Worker);
  /**
   * `durable` (default): OPFS, or IndexedDB where the browser lacks that.
   * `memory`: gone with the page, and not shared with others.
   */
  readonly storage?: "durable" | "memory";
}

const browserOptions = { ...sharedOptions, name: 0, worker: 0, storage: 0 };

/**
 * Opens a database of this origin, or makes it. Resolves when the files are
 * open, here or in another page.
 *
 * @throws {DatabaseError} `invalid-option`, `invalid-schema`,
 * `root-key-mismatch`, `mode-mismatch`, `format-too-new`, `database-locked`
 * when another page has it open for another user, or a code of the storage
 */
export async function openDatabase(options: BrowserOptions): Promise<Database> {
  const { worker, storage = "durable", ...rest } = checkOptions(
    options,
    browserOptions,
  );
  const name = parseDatabaseName(rest.name);
  if (storage === "memory") {
    const { memoryStorage, openFiles } = await import("./late_files.ts");
    return await openFiles({ ...rest, storage: memoryStorage() });
  }
  if (storage !== "durable") {
    throw invalid('`storage` must be "durable" or "memory"');
  }
  if (worker === undefined) {
    throw invalid('Give openDatabase() its `worker`, or `storage: "memory"`');
  }
  const locks = webLocks();
  const lacks = locks === undefined
    ? "Web Locks"
    : NEEDED.find((name) => !(name in globalThis));
  if (locks === undefined || lacks !== undefined) {
    throw invalid(
      `This page has no ${lacks}: open it over https in a current browser, or with \`storage: "memory"\``,
    );
  }
  const near = startWorker(worker);
  const far = new BroadcastChannel(ownerLock(name));
  return await openTab(rest, {
    locks,
    world: system,
    page: platformPage(),
    near,
    // It takes no list of transfers, and ignores it.
    far: far as unknown as Wire,
    failed: workerFailed(near, { name, locks, world: system }),
    persist,
    texts: texts(),
    end() {
      far.close();
      near.terminate();
    },
  });
}

function invalid(message: string): DatabaseError {
  return new DatabaseError("invalid-option", message);
}

/** Where the page can write in its last moment, if it may. */
function texts(): KeptTexts | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

/** Asks the browser to keep the files of this origin when space gets scarce. */
async function persist(): Promise<boolean> {
  const { navigator } = globalThis as {
    readonly navigator?: {
      readonly storage?: { persist?(): Promise<boolean> };
    };
  };
  return await navigator?.storage?.persist?.() ?? false;
}
