/**
 * Stores that are logs in segments of a storage's files; the epoch of each is in
 * the file `sync` beside it, which names the folder: no copy goes on with it, and
 * no backup has it.
 */

import { readable } from "../../src/base/bytes.ts";
import { hasCode } from "../../src/base/errors.ts";
import {
  copied,
  decodeFile,
  encodeFile,
  type FileLayout,
  struct,
  textUpTo,
  type ValueOf,
} from "../../src/base/layout.ts";
import { readWhole, replaceDurably } from "../../src/storage/small_file.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { createLog, openLog } from "./log.ts";
import { EPOCH_BYTES } from "./order.ts";
import type { Epoch, Stores } from "./store.ts";

const EPOCH_FILE = "sync";
/** The identity is a device and an inode, or as short. */
const FILE_BYTES_MAX = 64 * 1024;

const stored = struct({
  epoch: copied(EPOCH_BYTES),
  /** Of the folder. */
  identity: textUpTo(FILE_BYTES_MAX),
});

export const epochFile: FileLayout<ValueOf<typeof stored>> = {
  magic: "SHEAFSYN",
  format: 2,
  layout: stored,
};

export const logStores: Stores = {
  open: openLog,
  create: createLog,
  epoch: (storage, folder): Epoch => ({
    read() {
      const said = readFile(storage, `${folder}/${EPOCH_FILE}`);
      const isSame = said !== undefined && said.identity === storage.identity();
      return isSame ? said.epoch : undefined;
    },
    async begin(epoch) {
      const said = { epoch, identity: storage.identity() };
      const bytes = encodeFile(epochFile, said);
      await replaceDurably(storage, folder, EPOCH_FILE, bytes);
    },
    end() {
      if (!storage.list(folder).includes(EPOCH_FILE)) return;
      storage.remove(`${folder}/${EPOCH_FILE}`);
      storage.syncFolder(folder);
    },
  }),
};

function readFile(
  storage: Storage,
  name: string,
): ValueOf<typeof stored> | undefined {
  try {
    const bytes = readWhole(storage, name, FILE_BYTES_MAX);
    return bytes && readable(() => decodeFile(epochFile, bytes));
  } catch (cause) {
    if (hasCode(cause, "format-too-new", "format-too-old")) return undefined;
    throw cause;
  }
}
