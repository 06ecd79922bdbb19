/**
 * The worker of a page, published as `@sheaf/sheaf/worker`: an app's worker file
 * is this one import.
 *
 * @example
 * ```ts ignore
 * import "@sheaf/sheaf/worker";
 * ```
 *
 * @module
 */

import { system } from "../base/system.ts";
import { openBrowserStorage } from "../storage/browser_open.ts";
import { indexedDbVault } from "../storage/indexeddb_vault.ts";
import { ownerLock, webLocks } from "./locks.ts";
import { OwnerWorker } from "./owner_worker.ts";
import type { Wire } from "./route.ts";

const locks = webLocks();
if (locks === undefined) {
  throw new Error("This browser has no Web Locks: open the page over https");
}

new OwnerWorker({
  port: globalThis as unknown as Wire, // A worker's global object is the port to its page.
  channelOf: (database) =>
    new BroadcastChannel(ownerLock(database)) as unknown as Wire, // It takes no list of transfers, and ignores it.
  locks,
  world: system,
  openStorage: openBrowserStorage,
  vaultOf: indexedDbVault,
});
