/**
 * The one connection of a device, for all of its tabs.
 *
 * Any tab connects and disconnects for all of them. Credentials that are data
 * are kept by the connection; functions stay in the tabs and are asked there.
 *
 * Architecture invariant: a tab that is gone keeps nobody waiting.
 */

import { equalBytes } from "../base/bytes.ts";
import { type Deferred, deferred } from "../base/deferred.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
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
import { errorOf } from "./failure.ts";
import type { Ask, ConnectRequest, DatabaseReport, OfTab } from "./messages.ts";
import type { Member } from "./owner_members.ts";

export interface OwnerConnectionParts {
  readonly database: Pick<Database, "connect" | "connection">;
  readonly asks: Asks;
  readonly tabs: () => readonly Member[];
  readonly changed: () => void;
  /** Another way to a server than its address, for tests. */
  readonly connectorOf?: (address: string) => Connector;
}

export class OwnerConnection {
  readonly #parts: OwnerConnectionParts;
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

  async disconnect(): Promise<void> {
    const { database, tabs, changed } = this.#parts;
    for (const tab of tabs()) tab.connect = undefined;
    await database.connection?.close();
    changed();
  }

  /** A page heard of the network: the owner's own worker, whose connectors listen there, may not have. */
  network(isThere: boolean): void {
    globalThis.dispatchEvent(new Event(isThere ? "online" : "offline"));
  }

  retry(): void {
    this.#parts.database.connection?.retry();
  }

  report(): DatabaseReport["connection"] {
    const { connection } = this.#parts.database;
    return connection &&
      { address: connection.address, status: connection.status };
  }
}

interface Asking {
  readonly tab: string;
  readonly answer: Deferred<unknown>;
}

/** The answer of a tab that gives none. */
const NONE = Symbol("none");

export class Asks {
  readonly #world: World;
  readonly #asked = new Map<number, Asking>();
  /** Of the last question. No owner's begins like another's: late answers to one are none to the next. */
  #last: number;

  constructor(world: World) {
    this.#world = world;
    const dice = new Uint8Array(4);
    world.random(dice);
    this.#last = dice.reduce((number, byte) => number * 256 + byte, 0);
  }

  /** Asks one tab after the other until one answers; what that one fails with is the answer. */
  async ask(
    tabs: readonly Member[],
    what: Ask["what"],
    args: readonly unknown[],
  ): Promise<unknown> {
    for (const tab of tabs) {
      const answer = await this.#askOne(tab, what, args);
      if (answer !== NONE) return answer;
    }
    throw new DatabaseError(
      "login-failed",
      "No page is there to log in: it was closed. Call connect() again",
    );
  }

  async #askOne(
    tab: Member,
    what: Ask["what"],
    args: readonly unknown[],
  ): Promise<unknown> {
    const ask = ++this.#last;
    const answer = deferred<unknown>();
    const forget = this.#world.after(
      limits.tabAskMsMax,
      () => answer.resolve(NONE),
    );
    this.#asked.set(ask, { tab: tab.id, answer });
    try {
      tab.post({ kind: "ask", ask, what, args });
      return await answer.promise;
    } finally {
      forget();
      this.#asked.delete(ask);
    }
  }

  reply(tab: Member, { ask, value, failure }: OfTab["reply"]): void {
    const asking = this.#asked.get(ask);
    if (asking?.tab !== tab.id) return;
    if (failure === undefined) asking.answer.resolve(value);
    else asking.answer.reject(errorOf(failure));
  }

  left(tab: Member): void {
    for (const asking of this.#asked.values()) {
      if (asking.tab === tab.id) asking.answer.resolve(NONE);
    }
  }
}
