/**
 * The database as apps hold it, wherever its files are: here, or with the owner
 * of a browser device.
 *
 * Types, and what is the same everywhere.
 */

import { DatabaseError } from "../base/errors.ts";
import type { Mode } from "../../repo/mod.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import type { Connection, ConnectOptions } from "./connect.ts";
import type { Repository } from "./repository.ts";
import type { DatabaseStorage } from "./storage_status.ts";

/** How a repository is deleted. */
export interface DeleteOptions {
  /** What becomes of commits that no server has; when absent, they keep it from being deleted. */
  readonly unsent?: "discard";
}

/** The pages of this device that share a database. */
export interface TabsStatus {
  /** `owner`: the files are with this page's worker. `follower`: with another's. `alone`: nobody can share them. */
  readonly role: "owner" | "follower" | "alone" | "connecting";
  /** How many pages there are, this one included. */
  readonly count: number;
  /** Why this page has to be reloaded, if so. */
  readonly reload: string | undefined;
}

/** `database.tabs`. */
export interface DatabaseTabs {
  /** The same object until something changes. */
  readonly status: TabsStatus;
  /** Calls whenever the status changed; the result ends it. */
  readonly subscribe: (listener: () => void) => () => void;
  /** As `status`, for `useSyncExternalStore` and its kind. */
  readonly getSnapshot: () => TabsStatus;
}

/** An open database. Close it, or let `await using` do so. */
export interface Database extends AsyncDisposable {
  /** The default mode of new repositories. */
  readonly mode: Mode;
  /** The root public key, 32 bytes: who may certify sessions here. */
  readonly rootKey: Uint8Array;
  /** Who writes here, for the history: what the certificate says, once there is one. */
  readonly user: string;
  /** The public key that signs what is written here, 32 bytes. */
  readonly sessionKey: Uint8Array;
  /** The connection, from {@linkcode connect} until it is closed. */
  readonly connection: Connection | undefined;
  /** The medium that the data lies on. */
  readonly storage: DatabaseStorage;
  /** Who shares it on this device. */
  readonly tabs: DatabaseTabs;
  /**
   * Connects to a server, and keeps coming back until the connection is closed.
   * All repositories that are open, or are opened later, ride on it. It
   * returns at once: what becomes of it is in `connection.status` and in each
   * `repository.sync.status`.
   *
   * @param target `ws:`, `wss:`, `http:` or `https:` address, or a connector
   * @throws {DatabaseError} `already-connected`, `invalid-option`, `closed`
   */
  connect(
    target: string | URL | Connector,
    options?: ConnectOptions,
  ): Connection;
  /**
   * Opens a repository, or makes it. The same name gives the same object
   * until it is closed.
   *
   * @param name 1 to 8 segments of `[A-Za-z0-9_-]{1,64}` joined by `/`
   * @throws {DatabaseError} `invalid-name`, `mode-mismatch`,
   * `root-key-mismatch`, `log-damaged`, `closed`, or a code of the storage
   */
  repository(name: string): Promise<Repository>;
  /**
   * Deletes a repository from this device for good: its history, and all that
   * was kept beside it. It is closed first, for everybody who has it open here.
   * Opening it again begins anew, with what the server has; fine where there is
   * none.
   *
   * @throws {DatabaseError} `unsent` when it has what no server has, unless that
   * is to be discarded; `invalid-name`, `invalid-option`, `closed`, or a code of
   * the storage
   */
  deleteRepository(name: string, options?: DeleteOptions): Promise<void>;
  /** Names of all repositories in the folder, sorted. */
  repositories(): string[];
  /** Makes everything durable, closes all repositories and gives the lock back. */
  close(): Promise<void>;
}

const alone: TabsStatus = Object.freeze({
  role: "alone",
  count: 1,
  reload: undefined,
});

/** Of a database that nobody can share. */
export const noTabs: DatabaseTabs = {
  status: alone,
  subscribe: () => () => {},
  getSnapshot: () => alone,
};

export function closedError(): DatabaseError {
  return new DatabaseError("closed", "The database is closed: open it again");
}

/** What is said to who would change what is only read. */
export function readOnlyError(what: string): DatabaseError {
  return new DatabaseError(
    "storage-readonly",
    `${what}: the database was opened with \`readOnly\`. Open it without on a medium that can be written`,
  );
}

export function connectedError(address: string): DatabaseError {
  return new DatabaseError(
    "already-connected",
    `The database is connected to ${address}: close that connection first`,
  );
}
