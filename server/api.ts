/** The server as those who embed it hold it. */

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

/** What is used of a server of `node:http` or `node:https`. */
export interface NodeHttpServer {
  /** Tells a server from an app, which listens to events, too. */
  readonly requestTimeout: number;
  /** Takes a listener. */
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/** A server inside an app's own. Close it, or let `await using` do so. */
export interface EmbeddedServer extends AsyncDisposable {
  /** What clients call it. */
  readonly name: string;
  /** The root public key, 32 bytes: clients need it. */
  readonly rootKey: Uint8Array;
  /** Was its database made just now? */
  readonly isNew: boolean;
  /**
   * The database behind it. A repository that only peers use is closed when it
   * was idle for `idleMs`; one that was opened here before stays open.
   */
  readonly database: Database;
  /**
   * Answers a request whose path begins with the server's `path`, and under
   * `Deno.serve` also one that asks for a WebSocket: then hand in the request as
   * it came, and give the answer back as it is.
   *
   * @param address of who asks, for quotas; who has none shares those of all others that have none
   */
  handle(request: Request, address?: string): Promise<Response>;
  /**
   * Answers what comes to a server of `node:http` or `node:https` below `path`,
   * WebSockets too; what else comes goes to the listeners that the server has by
   * now. Closing this server undoes it, and does not close that one.
   *
   * It rejects with a `DatabaseError`: `invalid-option` without a `path`, and for
   * what is no such server or was attached to already, `closed` after `close()`.
   */
  attach(httpServer: NodeHttpServer): Promise<void>;
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
  /**
   * Tells clients goodbye, has requests answered that have begun, makes everything
   * durable, and gives the lock back. What is asked from now on is refused (503), but for /healthz, /metrics and /sheaf.
   */
  close(): Promise<void>;
}

/** A server that listens. Close it, or let `await using` do so. */
export interface Server extends EmbeddedServer {
  /** Where it listens, as http: or https: address. */
  readonly url: string;
}
