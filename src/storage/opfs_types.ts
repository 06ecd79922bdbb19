/**
 * What is used of the origin private file system, written down because an app
 * that links Sheaf may have no DOM types.
 */

/** `FileSystemSyncAccessHandle`. */
export interface AccessHandle {
  read(target: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  getSize(): number;
  flush(): void;
  close(): void;
  /** Browsers that know only exclusive handles do not have it. */
  readonly mode?: string;
}

/** How a handle is opened; browsers that do not know the mode open exclusively. */
export interface AccessOptions {
  mode: "readwrite" | "readwrite-unsafe";
}

/** `FileSystemFileHandle`. */
export interface OpfsFileEntry {
  createSyncAccessHandle(options: AccessOptions): Promise<AccessHandle>;
}

/** `FileSystemDirectoryHandle`. */
export interface OpfsFolder {
  getDirectoryHandle(
    name: string,
    options?: { create?: boolean },
  ): Promise<OpfsFolder>;
  getFileHandle(
    name: string,
    options?: { create?: boolean },
  ): Promise<OpfsFileEntry>;
  removeEntry(name: string): Promise<void>;
  keys(): AsyncIterable<string>;
}

/** The name of a platform's exception; it says what happened. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

// In Chromium's private windows nothing is thrown when a change fails: a write
// answers with a negative error number that has lost its sign, and a file that
// should grow does not.

/** Chromium's number of a medium without room. */
const NO_SPACE = -8;
/** Chromium's number of a file that is not there any more. */
const REMOVED = -4;

/**
 * Writes all bytes; when it throws, some of them may stand there. A file that
 * the browser has removed takes them to nowhere, in private windows and
 * elsewhere: the storage's watch sees that, and all is written anew.
 */
export function writeAll(
  handle: AccessHandle,
  bytes: Uint8Array,
  at: { at: number },
): void {
  const count = handle.write(bytes, at) | 0;
  if (count === bytes.length || count === REMOVED) return;
  throw new DOMException(
    `the browser took ${count} of ${bytes.length} bytes`,
    count >= 0 || count === NO_SPACE ? "QuotaExceededError" : "UnknownError",
  );
}

/** Cuts the file, or extends it with zeros. */
export function resize(handle: AccessHandle, length: number): void {
  handle.truncate(length);
  if (handle.getSize() >= length) return;
  throw new DOMException(
    `the browser gives it no ${length} bytes`,
    "QuotaExceededError",
  );
}
