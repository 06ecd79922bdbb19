/**
 * Which names a storage takes: `/`-separated segments of `[A-Za-z0-9_.-]+`.
 *
 * Architecture invariant: a name can never leave its storage's folder, whatever
 * its caller was told (law 10); `.` and `..` are no segments.
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";

const NAME = /^(?!\.{1,2}(?:\/|$))[\w.-]+(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)*$/;

/** Lets a file's name pass, or throws `invalid-path`. */
export function checkFileName(name: string): void {
  if (NAME.test(name)) return;
  throw new DatabaseError(
    "invalid-path",
    `Cannot use ${JSON.stringify(name)} as a name: ` +
      `use segments of A-Z, a-z, 0-9, "_", "." and "-" joined by "/"`,
  );
}

/** Lets a folder's name pass (`""` is the storage itself), or throws `invalid-path`. */
export function checkFolderName(folder: string): void {
  if (folder !== "") checkFileName(folder);
}

/** Lets a name pass that a table of names has room for, or throws `invalid-path`. */
export function checkLength(name: string): void {
  if (name.length <= limits.storageNameBytesMax) return;
  throw new DatabaseError(
    "invalid-path",
    `Cannot use a name of ${name.length} characters: the most is ${limits.storageNameBytesMax}`,
  );
}

/** The folder that a name stands in; `""` for the storage itself. */
export function folderOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf("/")));
}

/** Names (last segment) of those files that stand directly in `folder`. */
export function filesIn(names: Iterable<string>, folder: string): string[] {
  checkFolderName(folder);
  const start = folder === "" ? 0 : folder.length + 1;
  const files: string[] = [];
  for (const name of names) {
    if (folderOf(name) === folder) files.push(name.slice(start));
  }
  return files;
}

/** Names (last segment) of the folders directly in `folder` that hold any of these files. */
export function foldersIn(names: Iterable<string>, folder: string): string[] {
  checkFolderName(folder);
  const start = folder === "" ? "" : `${folder}/`;
  const folders = new Set<string>();
  for (const name of names) {
    if (!name.startsWith(start)) continue;
    const end = name.indexOf("/", start.length);
    if (end > 0) folders.add(name.slice(start.length, end));
  }
  return [...folders];
}

/** What a folder of a disk is answered with where there is no disk. */
export function noFolders(path: string): DatabaseError {
  return new DatabaseError(
    "invalid-path",
    `Cannot use ${path}: this platform has no folders. In a browser, open the database of "@sheaf/sheaf/browser"`,
  );
}
