/**
 * The one connection of a device, for all of its tabs.
 *
 * Any tab connects and disconnects for all of them. Credentials that are data
 * are kept by the connection; functions stay in the tabs and are asked there.
 *
 * @module
 */

import { equalBytes } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { parseAddress } from "../db/connectors.ts";
import type { Database } from "../db/face.ts";
import type {
  Credentials,
  CredentialsSource,
  Login,
  LoginAnswer,
  LoginRequest,
} from "../db/login.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import type { ConnectRequest, DatabaseReport } from "./messages.ts";
import type { Asks } from "./owner_asks.ts";
import type { Member } from "./owner_members.ts";

/** What it works with. */
export interface OwnerConnectionParts {
  readonly database: Pick<Database, "connect" | "connection">;
  readonly asks: Asks;
  readonly tabs: () => readonly Member[];
  /** Runs whenever it changed. */
  readonly changed: () => void;
  /** Another way to a server than its address, for tests. */
  readonly connectorOf?: (address: string) => Connector;
}

/** Connects for all tabs. */
export class OwnerConnection {
  readonly #parts: OwnerConnectionParts;
  /** Logins that pages are asked for just now. */
  readonly #loggingIn = new Set<LoginRequest>();

  constructor(parts: OwnerConnectionParts) {
    this.#parts = parts;
  }

  /**
   * Connects as a tab asks, or joins the connection that there is.
   *
   * @throws {DatabaseError} `already-connected` to another address, `invalid-option`
   */
  connect(tab: Member, request: ConnectRequest): void {
    const { database, changed, connectorOf } = this.#parts;
    const { href } = parseAddress(request.address);
    const { connection } = database;
    if (connection !== undefined && connection.address !== href) {
      throw new DatabaseError(
        "already-connected",
        `The database is connected to ${connection.address}, perhaps by another tab: close that connection first`,
      );
    }
    tab.connect = request;
    if (connection !== undefined) return;
    const { session, login, renew } = request;
    database.connect(connectorOf?.(href) ?? href, {
      ...session !== undefined && { session: this.#source(session) },
      ...login !== undefined && {
        login: login === "ask" ? this.#login : login,
      },
      ...renew !== undefined && { renew },
    }).subscribe(changed);
    changed();
  }

  #source(session: unknown): CredentialsSource {
    if (session !== "ask") return session as Credentials; // `connect()` checks them.
    return async () => {
      const tabs = this.#asked(({ session }) => session === "ask");
      // The session keeper checks them.
      return await this.#parts.asks.ask(tabs, "credentials", []) as Credentials;
    };
  }

  readonly #login: Login = async (question) => {
    const { sign: _, ...request } = question;
    const tabs = this.#asked(({ login }) => login === "ask");
    this.#loggingIn.add(question);
    try {
      const answer = await this.#parts.asks.ask(tabs, "login", [request]);
      return answer as LoginAnswer | "key-taken"; // The session keeper checks it.
    } finally {
      this.#loggingIn.delete(question);
    }
  };

  /** Signs for a page that logs in: as a key that only this side has, when it is a new one. */
  async sign(key: unknown, message: unknown): Promise<Uint8Array> {
    for (const { sessionKey, sign } of this.#loggingIn) {
      const isAsked = key instanceof Uint8Array && equalBytes(key, sessionKey);
      if (isAsked && message instanceof Uint8Array) return await sign(message);
    }
    throw new DatabaseError(
      "login-failed",
      "This login is over: its key does not sign for it any more",
    );
  }

  /** Who may be asked, those first that somebody sees. */
  #asked(fits: (request: ConnectRequest) => boolean): Member[] {
    const tabs = this.#parts.tabs().filter(({ connect }) =>
      connect !== undefined && fits(connect)
    );
    return tabs.sort((a, b) => Number(a.isHidden) - Number(b.isHidden));
  }

  /** Ends the connection of the device. */
  async disconnect(): Promise<void> {
    const { database, tabs, changed } = this.#parts;
    for (const tab of tabs()) tab.connect = undefined;
    await database.connection?.close();
    changed();
  }

  /** Tries again now. */
  retry(): void {
    this.#parts.database.connection?.retry();
  }

  /** What tabs are told. */
  report(): DatabaseReport["connection"] {
    const { connection } = this.#parts.database;
    return connection &&
      { address: connection.address, status: connection.status };
  }
}
