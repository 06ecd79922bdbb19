/**
 * A storage over IndexedDB, for browsers without OPFS: files of prepared folders
 * are in memory, and what changed is written behind, all of it in one
 * transaction, so that the medium always holds a moment that was.
 *
 * `syncFolder` cannot wait. Order is kept instead: what a later `sync` covers
 * comes with every change before it.
 */

import { DatabaseError } from "../base/errors.ts";
import {
  type BrowserStorage,
  closedError,
  isOver,
  missingForRename,
  notPrepared,
  PreparedFolders,
  replaces,
  type StorageIncident,
} from "./browser_storage.ts";
import { BrowserWatch } from "./browser_watch.ts";
import { lostForWriting, storageFailure } from "./failure.ts";
import {
  type Changes,
  Medium,
  type NameRecord,
  PAGE_BYTES,
} from "./indexeddb_medium.ts";
import { InstanceLock } from "./instance_lock.ts";
import {
  checkFileName,
  checkFolderName,
  checkLength,
  filesIn,
  folderOf,
  foldersIn,
} from "./names.ts";
import type { OpenFileOptions, StorageFile, StorageUsage } from "./storage.ts";

/** What nobody syncs is written after this. */
const WRITE_BEHIND_MS = 50;
/** Between two tries to open what the browser is removing. */
const RETRY_MS = 25;

/** Opens the storage of a database, and fences whoever has it open. */
export async function openIndexedDb(
  name: string,
  waitMs: number,
): Promise<BrowserStorage> {
  const until = performance.now() + waitMs;
  while (true) {
    try {
      return await openOnce(name, until - performance.now());
    } catch (cause) {
      if (!isCutOff(cause) || performance.now() > until) throw cause;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

async function openOnce(name: string, waitMs: number): Promise<BrowserStorage> {
  const medium = await within(waitMs, Medium.open(name, Date.now()));
  const storage = new IdbStorage(medium);
  try {
    await storage.prepare("");
    return storage;
  } catch (cause) {
    await storage.close();
    throw cause;
  }
}

/** May the next try succeed: did the browser break it off, as when it removes an origin's data? */
function isCutOff(cause: unknown): boolean {
  return cause instanceof DatabaseError &&
    (cause.code === "storage-failed" || cause.code === "storage-evicted");
}

/** An older storage that was frozen in a transaction lets nobody else in. */
async function within(
  waitMs: number,
  opening: Promise<Medium>,
): Promise<Medium> {
  let timer;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(locked()), waitMs);
  });
  try {
    return await Promise.race([opening, late]);
  } catch (cause) {
    opening.then((medium) => medium.close(), () => {});
    throw storageFailure("open IndexedDB", cause);
  } finally {
    clearTimeout(timer);
  }
}

class IdbStorage implements BrowserStorage {
  readonly term: number;
  readonly canBeStolen = true;
  readonly #medium: Medium;
  readonly #files = new Map<string, IdbContent>();
  readonly #prepared = new PreparedFolders();
  readonly #watch: BrowserWatch;
  readonly #lock = new InstanceLock();
  /** Names that the medium does not have as they are. */
  #names = new Set<string>();
  #changed = new Set<IdbContent>();
  #dropped: number[] = [];
  #nextId = 1;
  #flight: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failure: DatabaseError | undefined;

  constructor(medium: Medium) {
    this.#medium = medium;
    this.term = medium.term;
    for (const [name, { id, size }] of medium.names) {
      this.#files.set(name, new IdbContent(id, name, size));
      this.#nextId = Math.max(this.#nextId, id + 1);
    }
    medium.watch(() => void this.#look());
    this.#watch = new BrowserWatch("indexeddb", { look: () => this.#look() });
    this.#watch.start();
  }

  open(name: string, options: OpenFileOptions = {}): StorageFile | undefined {
    checkFileName(name);
    let content = this.#files.get(name);
    if (content === undefined) {
      if (options.create !== true) return undefined;
      checkLength(name);
      this.checkWritable(`create ${name}`);
      content = new IdbContent(this.#nextId++, name, 0);
      content.bytes = new Uint8Array(0);
      this.#files.set(name, content);
      this.#rename(name);
    }
    if (content.bytes === undefined) throw notPrepared(name);
    return new IdbFile(content, this);
  }

  list(folder: string): string[] {
    return filesIn(this.#files.keys(), folder);
  }

  folders(folder: string): string[] {
    return foldersIn(this.#files.keys(), folder);
  }

  makeFolder(folder: string): void {
    checkFolderName(folder);
  }

  syncFolder(folder: string): void {
    checkFolderName(folder);
    this.checkWritable(`sync folder ${folder}`);
    this.sync().catch(() => {});
  }

  rename(from: string, to: string): void {
    checkFileName(from);
    checkFileName(to);
    checkLength(to);
    this.checkWritable(`rename ${from}`);
    const content = this.#files.get(from);
    if (content === undefined) throw missingForRename(from);
    if (from === to) return;
    this.remove(to);
    this.#files.delete(from);
    this.#files.set(to, content);
    content.name = to;
    this.#rename(from);
    this.#rename(to);
  }

  remove(name: string): void {
    checkFileName(name);
    const content = this.#files.get(name);
    if (content === undefined) return;
    this.checkWritable(`remove ${name}`);
    this.#files.delete(name);
    this.#changed.delete(content);
    this.#dropped.push(content.id);
    this.#rename(name);
  }

  lock(): () => void {
    return this.#lock.take();
  }

  identity(): string {
    return `indexeddb:${this.#medium.identity}`;
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
      await Promise.all(this.#in(folder).map((file) => this.#load(file)));
    } catch (cause) {
      this.release(folder);
      const what = `read the files of "${folder}"`;
      const failure = await this.#medium.explain(what, cause);
      throw isOver(failure) ? this.#fail(failure) : failure;
    }
  }

  release(folder: string): void {
    if (this.#prepared.remove(folder)) this.#forget();
  }

  async close(): Promise<void> {
    if (this.#failure?.code === "closed") return;
    this.#watch.stop();
    try {
      const isPending = this.#isDirty || this.#flight !== undefined;
      if (this.#failure === undefined && isPending) await this.sync();
    } finally {
      clearTimeout(this.#timer);
      this.#failure = closedError();
      this.#medium.close();
    }
  }

  /** Of a file: it was changed. */
  changed(content: IdbContent): void {
    // A file that lost its name has nothing to be written.
    if (this.#files.get(content.name) !== content) return;
    this.#changed.add(content);
    this.#names.add(content.name);
    this.#writeSoon();
  }

  /** Writes everything that changed until now. One transaction runs, and one waits, for all who ask meanwhile. */
  sync(): Promise<void> {
    if (this.#flight === undefined) return this.#launch();
    this.#queued ??= this.#flight.catch(() => {}).then(() => {
      this.#queued = undefined;
      return this.#launch();
    });
    return this.#queued;
  }

  #launch(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flight = this.#commit().finally(() => this.#flight = undefined);
    return this.#flight;
  }

  async #commit(): Promise<void> {
    this.checkWritable("write");
    if (!this.#isDirty) return;
    try {
      await this.#medium.commit(this.#takeChanges());
    } catch (cause) {
      const what = "write to IndexedDB";
      throw this.#fail(await this.#medium.explain(what, cause));
    }
    this.#forget();
    this.#watch.lookSoon();
  }

  get #isDirty(): boolean {
    return this.#names.size + this.#changed.size + this.#dropped.length > 0;
  }

  #takeChanges(): Changes {
    const names = Array.from(this.#names, (name) => {
      const content = this.#files.get(name);
      const record: NameRecord | undefined = content &&
        { id: content.id, size: content.size };
      return [name, record] as const;
    });
    const pages = Array.from(
      this.#changed,
      (content) => content.takePages(),
    ).flat();
    const dropped = this.#dropped;
    this.#names = new Set();
    this.#changed = new Set();
    this.#dropped = [];
    return { names, pages, dropped };
  }

  #rename(name: string): void {
    this.#names.add(name);
    this.#writeSoon();
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(
      () => this.sync().catch(() => {}),
      WRITE_BEHIND_MS,
    );
  }

  #in(folder: string): IdbContent[] {
    return [...this.#files.values()]
      .filter(({ name }) => folderOf(name) === folder);
  }

  async #load(content: IdbContent): Promise<void> {
    if (content.bytes !== undefined) return;
    content.loading ??= this.#medium.pages(content.id)
      .then((pages) => content.fill(pages))
      .finally(() => content.loading = undefined);
    await content.loading;
  }

  /** Lets the bytes go of what is written and nobody needs. */
  #forget(): void {
    for (const content of this.#files.values()) {
      const isNeeded = this.#prepared.has(folderOf(content.name)) ||
        content.users > 0 || this.#changed.has(content);
      if (!isNeeded) content.bytes = undefined;
    }
  }

  async #look(): Promise<void> {
    if (this.#failure !== undefined && isOver(this.#failure)) return;
    try {
      await this.#medium.check();
    } catch (cause) {
      this.#fail(storageFailure("look after IndexedDB", cause));
    }
  }

  /** Ends everything; says why. */
  #fail(failure: DatabaseError): DatabaseError {
    const first = this.#failure;
    if (first !== undefined && !replaces(failure, first)) return first;
    this.#failure = failure;
    if (isOver(failure)) this.#medium.cut(failure);
    if (failure.code === "storage-full") this.#watch.full();
    else this.#watch.raise(failure);
    return failure;
  }

  checkWritable(what: string): void {
    const failure = this.#failure;
    if (failure === undefined) return;
    throw isOver(failure) ? failure : lostForWriting(what, failure);
  }
}

function locked(): DatabaseError {
  return new DatabaseError(
    "database-locked",
    "Another page is in the midst of writing and does not end it: close it, or try again.",
  );
}

/** A file's bytes, shared by all who have it open. */
class IdbContent {
  readonly id: number;
  name: string;
  size: number;
  /** Absent while its folder is not prepared. At least `size` of them; zeros behind. */
  bytes: Uint8Array | undefined;
  loading: Promise<void> | undefined;
  users = 0;
  #dirty = new Set<number>();

  /** A file whose bytes are not here yet. */
  constructor(id: number, name: string, size: number) {
    this.id = id;
    this.name = name;
    this.size = size;
  }

  /** Takes the bytes that the medium has. */
  fill(pages: readonly (readonly [page: number, bytes: Uint8Array])[]): void {
    const bytes = new Uint8Array(this.size);
    for (const [page, part] of pages) {
      const at = page * PAGE_BYTES;
      if (at < bytes.length) {
        bytes.set(part.subarray(0, bytes.length - at), at);
      }
    }
    this.bytes = bytes;
  }

  /** Changes bytes, growing where needed. */
  write(bytes: Uint8Array, offset: number): void {
    const end = offset + bytes.length;
    if (end > this.size) this.resize(end);
    this.bytes!.set(bytes, offset);
    this.#mark(offset, end);
  }

  /** Cuts, or extends with zeros. */
  resize(size: number): void {
    const bytes = this.bytes!;
    if (size > bytes.length) {
      const grown = new Uint8Array(Math.max(size, bytes.length * 2));
      grown.set(bytes.subarray(0, this.size));
      this.bytes = grown;
    } else if (size < this.size) {
      bytes.fill(0, size, this.size);
      this.#mark(size, this.size);
    }
    this.size = size;
  }

  /** The pages that the medium lacks, copied; from now on it has them. */
  takePages(): [id: number, page: number, bytes: Uint8Array | undefined][] {
    const taken = Array.from(this.#dirty, (page) => {
      const start = page * PAGE_BYTES;
      const end = Math.min(start + PAGE_BYTES, this.size);
      const bytes = this.bytes!.slice(start, Math.max(start, end));
      const isEmpty = bytes.every((byte) => byte === 0);
      return [this.id, page, isEmpty ? undefined : bytes] as [
        number,
        number,
        Uint8Array | undefined,
      ];
    });
    this.#dirty = new Set();
    return taken;
  }

  #mark(from: number, to: number): void {
    const last = Math.floor((to - 1) / PAGE_BYTES);
    for (let page = Math.floor(from / PAGE_BYTES); page <= last; page++) {
      this.#dirty.add(page);
    }
  }
}

class IdbFile implements StorageFile {
  readonly #content: IdbContent;
  readonly #host: IdbStorage;
  #isClosed = false;

  constructor(content: IdbContent, host: IdbStorage) {
    this.#content = content;
    this.#host = host;
    content.users++;
  }

  size(): number {
    return this.#content.size;
  }

  readAt(target: Uint8Array, offset: number): number {
    const { bytes, size } = this.#content;
    const count = Math.max(0, Math.min(target.length, size - offset));
    target.set(bytes!.subarray(offset, offset + count));
    return count;
  }

  writeAt(bytes: Uint8Array, offset: number): void {
    this.#host.checkWritable(`write ${this.#content.name}`);
    this.#content.write(bytes, offset);
    this.#host.changed(this.#content);
  }

  truncate(length: number): void {
    this.#host.checkWritable(`cut ${this.#content.name}`);
    this.#content.resize(length);
    this.#host.changed(this.#content);
  }

  sync(): Promise<void> {
    this.#host.checkWritable(`sync ${this.#content.name}`);
    return this.#host.sync();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#content.users--;
  }
}
