/**
 * A pool of OPFS files as a storage: names are a table's, files have open
 * handles while their folder is prepared, and new files come from spares.
 *
 * Never acknowledges anything after a younger storage has opened the pool; see
 * docs/format-opfs.md for the order that proves it.
 */

import { toHex } from "../base/bytes.ts";
import type { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import {
  type BrowserStorage,
  closedError,
  evicted,
  fileLost,
  isOver,
  missingForRename,
  notPrepared,
  PreparedFolders,
  type StorageIncident,
  tableDamaged,
} from "./browser_storage.ts";
import { BrowserWatch } from "./browser_watch.ts";
import { storageFailure } from "./failure.ts";
import { InstanceLock } from "./instance_lock.ts";
import {
  checkFileName,
  checkFolderName,
  checkLength,
  folderOf,
  foldersIn,
} from "./names.ts";
import { type Fence, Guard, type Root } from "./opfs_guard.ts";
import { type FileHost, OpfsFile, type PoolFile } from "./opfs_file.ts";
import { Names, Table } from "./opfs_names.ts";
import { openHandle, type Pool } from "./opfs_pool.ts";
import { closeHandle, Stock } from "./opfs_stock.ts";
import { parseFileId, type TableChange } from "./opfs_table.ts";
import { nameOf } from "./opfs_types.ts";
import type { OpenFileOptions, StorageFile, StorageUsage } from "./storage.ts";

export interface OpenedPool {
  readonly pool: Pool;
  readonly fence: Fence;
  readonly root: Root;
  readonly table: Table;
  readonly names: Iterable<readonly [name: string, id: string]>;
  /** Held as long as the storage lives. */
  readonly alive: PoolFile;
  readonly canBeStolen: boolean;
  /** Something of the old table is missing: nothing is removed from the pool. */
  readonly isDamaged: boolean;
}

export class OpfsStorage implements BrowserStorage {
  readonly term: number;
  readonly canBeStolen: boolean;
  readonly #opened: OpenedPool;
  readonly #names: Names;
  readonly #guard: Guard;
  readonly #watch: BrowserWatch;
  readonly #stock: Stock;
  readonly #host: FileHost;
  readonly #lock = new InstanceLock();
  readonly #prepared = new PreparedFolders();
  #root: Root;
  #table: Table;
  #isClosed = false;

  constructor(opened: OpenedPool) {
    const { fence, pool, table } = opened;
    this.#opened = opened;
    this.term = fence.term;
    this.canBeStolen = opened.canBeStolen;
    this.#root = opened.root;
    this.#table = table;
    this.#names = new Names(opened.names);
    this.#watch = new BrowserWatch("opfs", {
      look: () => this.#look(),
      hasRoom: () => opened.pool.hasRoom(limits.storageFreeBytesMin),
    });
    const guard = new Guard(
      fence,
      table.file.handle!,
      (failure) => this.#failed(failure),
    );
    this.#guard = guard;
    this.#stock = new Stock({
      pool,
      guard,
      wanted: () => this.#sparesWanted(),
      syncTable: () => this.#syncTable(),
      compact: () => this.#compact(),
    });
    const closed = (file: PoolFile) => this.#settle(file);
    this.#host = { guard, watch: this.#watch, closed };
  }

  async start(): Promise<void> {
    await this.prepare("");
    this.#watch.start();
    if (this.#opened.isDamaged) this.#watch.raise(tableDamaged());
    else void this.#collect().catch(() => {});
  }

  open(name: string, options: OpenFileOptions = {}): StorageFile | undefined {
    checkFileName(name);
    let file = this.#names.get(name);
    if (file === undefined) {
      if (options.create !== true) return undefined;
      file = this.#create(name);
    }
    if (file.handle === undefined) throw notPrepared(name);
    return new OpfsFile(file, file.handle, this.#host);
  }

  list(folder: string): string[] {
    checkFolderName(folder);
    const start = folder === "" ? 0 : folder.length + 1;
    return this.#names.in(folder).map((file) => file.name!.slice(start));
  }

  folders(folder: string): string[] {
    return foldersIn(this.#names.folders(), folder);
  }

  makeFolder(folder: string): void {
    checkFolderName(folder);
  }

  syncFolder(folder: string): void {
    checkFolderName(folder);
    this.#syncTable();
  }

  rename(from: string, to: string): void {
    checkFileName(from);
    checkFileName(to);
    const file = this.#names.get(from);
    if (file === undefined) throw missingForRename(from);
    if (from === to) return;
    checkLength(to);
    this.#append(["move", from, to]);
    const replaced = this.#names.get(to);
    this.#names.delete(from);
    this.#names.set(to, file);
    if (replaced !== undefined) this.#unname(replaced);
  }

  remove(name: string): void {
    checkFileName(name);
    const file = this.#names.get(name);
    if (file === undefined) return;
    this.#append(["drop", name, ""]);
    this.#names.delete(name);
    this.#unname(file);
  }

  lock(): () => void {
    return this.#lock.take();
  }

  identity(): string {
    return `opfs:${toHex(this.#root.identity)}`;
  }

  usage(): StorageUsage {
    return this.#watch.usage;
  }

  watch(onIncident: (incident: StorageIncident) => void): () => void {
    return this.#watch.listen(onIncident);
  }

  async prepare(folder: string): Promise<void> {
    checkFolderName(folder);
    this.#prepared.add(folder);
    try {
      this.#guard.check();
      const files = this.#names.in(folder);
      await Promise.all([
        ...files.map((file) => this.#connect(file)),
        this.#stock.tend(),
      ]);
    } catch (cause) {
      this.release(folder);
      throw storageFailure(`open the files of "${folder}"`, cause);
    }
  }

  release(folder: string): void {
    if (!this.#prepared.remove(folder)) return;
    for (const file of this.#names.in(folder)) this.#settle(file);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#look().catch(() => {}); // Handles of files that were removed must not be closed.
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watch.stop();
    await this.#stock.close();
    try {
      if (this.#guard.failure === undefined && this.#table.isDirty) {
        this.#syncTable();
      }
      this.#guard.end();
    } finally {
      this.#guard.failure ??= closedError();
      for (const file of this.#names.files()) this.#closeHandle(file);
      this.#closeHandle(this.#table.file);
      if (this.#guard.mayClose) this.#opened.fence.close();
      this.#closeHandle(this.#opened.alive);
    }
  }

  #create(name: string): PoolFile {
    checkLength(name);
    this.#guard.check();
    const file = this.#stock.take();
    try {
      this.#append(["put", name, file.id]);
    } catch (cause) {
      this.#stock.putBack(file);
      throw cause;
    }
    this.#names.set(name, file);
    return file;
  }

  #append(change: TableChange): void {
    this.#guard.check();
    try {
      this.#table.append(change);
    } catch (cause) {
      const failure = storageFailure(`${change[0]} ${change[1]}`, cause);
      if (failure.code === "storage-full") this.#watch.full();
      throw failure;
    }
  }

  #syncTable(): void {
    if (this.#table.isDirty) {
      try {
        this.#table.flush();
      } catch (cause) {
        // What it covered may be lost, so nothing that builds on it may follow (law 12).
        throw this.#guard.fail(storageFailure("sync names", cause));
      }
    }
    this.#guard.check();
  }

  /** A file that has lost its name. */
  #unname(file: PoolFile): void {
    file.name = undefined;
    this.#settle(file);
  }

  #settle(file: PoolFile): void {
    if (this.#isClosed) return this.#closeHandle(file);
    if (file.users > 0) return;
    if (file.name === undefined) this.#stock.drop(file);
    else if (!this.#prepared.has(folderOf(file.name))) this.#closeHandle(file);
  }

  async #connect(file: PoolFile): Promise<void> {
    try {
      await this.#opened.pool.connect(file);
    } catch (cause) {
      if (nameOf(cause) !== "NotFoundError") throw cause;
      const { name } = file;
      if (name === undefined || this.#names.get(name) !== file) return;
      this.remove(name);
      this.#watch.raise(fileLost(name));
      return;
    }
    if (file.name === undefined) {
      this.#closeHandle(file);
      void this.#opened.pool.remove(file.id);
    } else this.#settle(file);
  }

  #sparesWanted(): number {
    const wanted = limits.sparesMin + 2 * this.#prepared.size;
    return Math.min(wanted, limits.sparesMax);
  }

  #closeHandle(file: PoolFile): void {
    closeHandle(file, this.#guard);
  }

  /** The canary: an open handle goes on "succeeding" when its file was removed. */
  async #look(): Promise<void> {
    const { failure } = this.#guard;
    if (this.#isClosed || failure !== undefined && isOver(failure)) return;
    try {
      await this.#opened.pool.folder.getFileHandle(this.#opened.alive.id);
    } catch (cause) {
      if (nameOf(cause) === "NotFoundError" && !this.#isClosed) {
        this.#guard.fail(evicted());
      }
      return;
    }
    if (this.#isClosed || this.#guard.failure !== undefined) return;
    this.#guard.check();
    this.#guard.rest();
  }

  #failed(failure: DatabaseError): void {
    this.#watch.raise(failure);
    // A failure may be the first that is seen of files that were removed.
    if (!isOver(failure)) this.#watch.lookSoon();
  }

  async #collect(): Promise<void> {
    const named = new Set(Array.from(this.#names, ([, id]) => id));
    const isOver = () => this.#isClosed || this.#guard.failure !== undefined;
    await this.#opened.pool.collect((id) => named.has(id), isOver);
  }

  /** Replaces a table that is mostly history, behind the door. */
  async #compact(): Promise<void> {
    if (!this.#table.isStale) return;
    const { pool } = this.#opened;
    // Whoever holds the door opens the pool, and fences this storage.
    const door = await openHandle(pool.folder, "door", "readwrite")
      .catch(() => undefined);
    if (door === undefined) return;
    try {
      const file = await pool.create();
      if (this.#isClosed) this.#stock.discard(file);
      else this.#replaceTable(file);
    } finally {
      door.close();
    }
  }

  /** Nothing may come in between: it never waits. */
  #replaceTable(file: PoolFile): void {
    const { identity, sequence } = this.#root;
    const { term } = this;
    let table;
    try {
      this.#guard.check();
      table = new Table(file, identity, term, this.#names);
      this.#guard.replaceTable(file.handle!);
    } catch (cause) {
      this.#stock.discard(file);
      throw cause;
    }
    const [, number] = parseFileId(file.id)!;
    const root = {
      identity,
      sequence: sequence + 1,
      term,
      table: number,
    };
    try {
      this.#opened.fence.writeRoot(root);
    } catch (cause) {
      // Nobody can say which table is the one now: both stay.
      this.#closeHandle(file);
      throw this.#guard.fail(storageFailure("replace the pool's table", cause));
    }
    const old = this.#table.file;
    this.#root = root;
    this.#table = table;
    this.#closeHandle(old);
    void this.#opened.pool.remove(old.id);
  }
}
