/**
 * Loads a database that stands beside Sheaf out of the folder that
 * {@linkcode ./install.ts} filled. The project knows no types of these
 * packages: each adapter states the little of them that it calls.
 *
 * @module
 */

import { createRequire } from "node:module";
import { NotHere } from "../harness/suite.ts";
import { missingPeer } from "./install.ts";

const lineLength = 200;
/** Looking for a package again would be timed where opening is. */
const loaded = new Map<string, unknown>();

/**
 * The module `name`, `lmdb` or `rxdb/plugins/storage-memory`, of the packages
 * in `folder`, as the part `T` of it that the caller uses.
 *
 * @throws {NotHere} with the one line why: not installed, no binary for this machine.
 */
export function loadPeer<T>(folder: string, name: string): Promise<T> {
  const key = `${folder}\n${name}`;
  const known = loaded.get(key);
  if (known !== undefined) return Promise.resolve(known as T);
  const parts = name.split("/");
  const bare = parts.slice(0, name.startsWith("@") ? 2 : 1).join("/");
  const why = missingPeer(folder, bare);
  if (why !== undefined) {
    return Promise.reject(new NotHere(`${name} did not install: ${why}`));
  }
  return Promise.resolve().then((): T => {
    try {
      // By `require`, because only it looks for packages from another folder
      // than ours; modules of either kind come by it.
      const found = createRequire(`${folder}/`)(name);
      loaded.set(key, found);
      return found;
    } catch (error) {
      const line = String(error).split("\n")[0] ?? "";
      throw new NotHere(
        `${name} does not load: ${line.slice(0, lineLength)}`,
      );
    }
  });
}
