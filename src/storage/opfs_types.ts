/**
 * What is used of the origin private file system, written down because an app
 * that links Sheaf may have no DOM types.
 *
 * @module
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
