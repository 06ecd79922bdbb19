/**
 * The server as those who embed it hold it.
 *
 * @module
 */

import type { Database } from "../src/db/database.ts";
import type { Mode } from "../repo/mod.ts";
import type { CopyReport } from "./backup.ts";
import type { QuarantineEntry } from "./quarantine.ts";
import type { Restoring } from "./restore_report.ts";

/** What a server says of itself. */
export interface ServerStatus {
  readonly name: string;
  readonly mode: Mode;
  readonly isClosing: boolean;
  /** Open connections. */
  readonly connections: number;
  /** Sessions that are connected. */
  readonly sessions: number;
  /** Repositories that are open for peers. */
  readonly open: readonly string[];
  readonly quarantine: { readonly entries: number; readonly bytes: number };
  /** Repositories that lost commits and do not have them all back. */
  readonly restoring: readonly Restoring[];
  /** How many repositories cannot be used because their storage fails. */
  readonly failing: number;
}

/** Whose sessions are revoked. */
export type Whom =
  | { readonly sessionKey: string | Uint8Array }
  | { readonly user: string };

/** A server that listens. Close it, or let `await using` do so. */
export interface Server extends AsyncDisposable {
  /** What clients call it. */
  readonly name: string;
  /** Where it listens, as http: or https: address. */
  readonly url: string;
  /** The root public key, 32 bytes: clients need it. */
  readonly rootKey: Uint8Array;
  /** Was its database made just now? */
  readonly isNew: boolean;
  /**
   * The database behind it. A repository that only peers use is closed when it
   * was idle for `idleMs`; one that was opened here before stays open.
   */
  readonly database: Database;
  /** How it is. */
  status(): ServerStatus;
  /**
   * Ends a session, or all sessions that a user has by now, for ever: what they
   * wrote and the server has stands, what comes later goes to quarantine. A
   * user's session that nobody here knows of ends when it appears; who logs in
   * later has a session like any other.
   *
   * @returns the keys of the sessions that are known and how many open repositories took a record
   */
  revoke(
    whom: Whom,
    reason?: string,
  ): Promise<{ sessions: readonly string[]; repositories: number }>;
  /** What revoked sessions wrote before they knew, oldest first. */
  quarantine(): QuarantineEntry[];
  /** Admits a batch in quarantine; says how many of its commits are new. */
  accept(id: string): Promise<number>;
  /** Forgets a batch in quarantine. */
  drop(id: string): Promise<void>;
  /** Copies the database to a new folder, while it is in use. */
  backup(folder: string): Promise<CopyReport>;
  /** Tells clients goodbye, makes everything durable, and gives the lock back. */
  close(): Promise<void>;
}
