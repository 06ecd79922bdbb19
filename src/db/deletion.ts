/**
 * Deleting a repository: what is asked for, and what would be lost. Loaded when
 * the first one is deleted.
 */

// As in src/db/online.ts.
import "../../repo/mod.ts";
import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import { type DeleteOptions, readOnlyError } from "./face.ts";
import type { DatabaseOptions } from "./options.ts";
import type { RepositoryLink } from "./repository_link.ts";

export { deleteReplica, finishDeletions } from "../../repo/deletion.ts";

/** Is what no server has to be deleted, too? Or `invalid-option`. */
export function parseDiscard(options?: DeleteOptions): boolean {
  const { unsent } = checkOptions(options, { unsent: 0 });
  if (unsent === undefined || unsent === "discard") return unsent !== undefined;
  throw new DatabaseError(
    "invalid-option",
    `\`unsent\` must be "discard", not ${JSON.stringify(unsent)}`,
  );
}

/** Throws where nothing is deleted: in what is only read, and by a server. */
export function checkDevice({ readOnly, mayIssue }: DatabaseOptions): void {
  if (readOnly) throw readOnlyError("Cannot delete");
  if (!mayIssue) return;
  throw new DatabaseError(
    "invalid-option",
    "A database with `mayIssue` serves others, who bring back what it lacks: nothing is deleted there",
  );
}

/**
 * Lets a repository be deleted of which a server has everything, or throws:
 * `unsent`, or what the medium fails with.
 */
export function checkSent({ replica, sync, known }: RepositoryLink): void {
  const { unsent: { commits }, refusals: { length } } = sync.status;
  if (length > 0) {
    throw unsentError(replica.name, `has refused writes (${length})`);
  }
  if (commits > 0) {
    throw unsentError(replica.name, `has unsent commits (${commits})`);
  }
  // What could not be read was not counted.
  replica.commits.each(() => {}, known, replica.loaded.log.end);
}

/** What is said of a repository that has what no server has. */
export function unsentError(name: string, why: string): DatabaseError {
  return new DatabaseError(
    "unsent",
    `Cannot delete "${name}": it ${why}. Connect and settle them, or delete it with { unsent: "discard" }`,
  );
}
