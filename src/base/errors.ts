/**
 * The three shapes of failure.
 *
 * Our own bug: {@linkcode assert} stops. Foreign input: a {@linkcode Refusal}
 * value travels back (parsers throw `SyntaxError`; only the door catches it).
 * The machine and the caller: one {@linkcode DatabaseError} with a stable code.
 */

/** Stable codes of {@linkcode DatabaseError}; programs may switch on them. */
export type ErrorCode =
  /** A repository, collection or field name is not allowed. */
  | "invalid-name"
  /** An item id is not allowed. */
  | "invalid-id"
  /** A value does not fit its field. */
  | "invalid-value"
  /** The schema has no such field. */
  | "unknown-field"
  /** A value, item, commit or log is over a named limit. */
  | "value-too-large"
  /** A schema definition contradicts itself or another one. */
  | "invalid-schema"
  /** A query names fields or operators that do not exist. */
  | "invalid-query"
  /** An option of a call is not allowed. */
  | "invalid-option"
  /** The collection was not given to `openDatabase`. */
  | "unknown-collection"
  /** An item with this id is there already. */
  | "item-exists"
  /** No item with this id is there. */
  | "item-missing"
  /** No such commit is known here. */
  | "commit-missing"
  /** The database, repository or transaction was closed. */
  | "closed"
  /** Another process or handle owns the folder. */
  | "database-locked"
  /** Another tab runs another version of this program. */
  | "other-version"
  /** The path is a file, or cannot be a database folder. */
  | "invalid-path"
  /** The operating system denies access. */
  | "permission-denied"
  /** The medium is full. */
  | "storage-full"
  /** The medium is read-only, or became so after a failed sync. */
  | "storage-readonly"
  /** The medium failed in another way. */
  | "storage-failed"
  /** The browser has removed the files. */
  | "storage-evicted"
  /** The folder was written by a newer Sheaf. */
  | "format-too-new"
  /** The folder was written by Sheaf 0.1: its export can be imported. */
  | "format-too-old"
  /** The file is not one of ours, or its header is damaged. */
  | "format-unknown"
  /** The folder belongs to another root key. */
  | "root-key-mismatch"
  /** The repository was created in another mode. */
  | "mode-mismatch"
  /** Rules judged what a server holds, and it was started without any. */
  | "rules-missing"
  /** Acknowledged log bytes do not match their checksum. */
  | "log-damaged"
  /** A checkpoint page does not match its checksum. */
  | "checkpoint-damaged"
  /** A rule forbids it, by what is known here. */
  | "denied"
  /** A constraint of a schema forbids it, by what is known here. */
  | "constraint"
  /** The server refused a write, or a batch was refused at the door. */
  | "refused"
  /** What no server has would be lost. */
  | "unsent"
  /** The server gave no certificate for the credentials. */
  | "login-failed"
  /** The server could not be reached, or answered what is no answer. */
  | "unreachable"
  /** The database has a connection already. */
  | "already-connected";

/** The one error that Sheaf throws for the machine's and the caller's faults. */
export class DatabaseError extends Error {
  /**
   * What leads to the text of a message, in front of its number: the browser's
   * production build has `#VERSION-NUMBER` and the values instead of texts.
   */
  static docs = "npx @sheaf/sheaf explain ";

  /** What went wrong, stable across releases. */
  readonly code: ErrorCode;

  /**
   * @param code stable code
   * @param message what happened and what to do, in one sentence each
   * @param options the error underneath, if any
   */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(withAddress(message), options);
    this.name = "DatabaseError";
    this.code = code;
  }
}

function withAddress(message: string): string {
  const [, number] = /^#(\S+?-\d+)(\[.*\])?$/.exec(message) ?? [];
  return number === undefined
    ? message
    : `${message} (${DatabaseError.docs}${number})`;
}

export function hasCode(
  error: unknown,
  ...codes: readonly ErrorCode[]
): error is DatabaseError {
  return error instanceof DatabaseError && codes.includes(error.code);
}

export function asFailure(cause: unknown, message: string): DatabaseError {
  return cause instanceof DatabaseError
    ? cause
    : new DatabaseError("storage-failed", message, { cause });
}

/** Why foreign input was declined; a value, never thrown. */
export interface Refusal {
  readonly refused: RefusalReason;
  readonly detail?: string;
  /** Number of the commit in its chain, where it is one of a batch's. */
  readonly number?: number;
  /** The rule or constraint that denied it. */
  readonly rule?: string;
}

export type RefusalReason =
  | "malformed"
  | "unsigned"
  | "bad-signature"
  | "unknown-session"
  | "bad-certificate"
  | "expired-session"
  | "wrong-mode"
  | "gap"
  | "fork"
  | "missing-parent"
  | "bad-clock"
  /** Its time has not come by the server's clock: its author brings it again. */
  | "early"
  | "too-large"
  /** A rule forbids it. */
  | "denied"
  /** The session was revoked before it was accepted. */
  | "revoked"
  /** More than the gate lets a session bring in. */
  | "quota"
  /** What it would be judged by has not come back yet to a server that lost it. */
  | "restoring"
  /** A constraint of a schema forbids it, by what the server had when it came. */
  | "constraint"
  /** A compare-and-set of an entry that had another value when the server took it. */
  | "kv-conflict"
  /** It names adds, elements or units that nobody has brought. */
  | "unknown-name"
  /** It writes a field as what it is not. */
  | "wrong-kind"
  /** A record of a kind that only a later version knows, and that everybody must know. */
  | "unknown-kind";

export function refuse(refused: RefusalReason, detail?: string): Refusal {
  return detail === undefined ? { refused } : { refused, detail };
}

/** The refusal of a batch because of its commit `number`. */
export function refuseAt(
  number: number,
  refused: RefusalReason,
  detail?: string,
): Refusal {
  return { ...refuse(refused, detail), number };
}

/** Stops the program when an invariant of ours does not hold. */
export function assert(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${why}`);
}
