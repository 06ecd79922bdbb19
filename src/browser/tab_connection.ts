/**
 * `database.connect()` of a tab: the one connection of the device, which the
 * owner of the files has.
 *
 * Credentials that are data go to the owner; functions stay here and are asked
 * when they are needed.
 */

import { DatabaseError } from "../base/errors.ts";
import { refuseOptions } from "../base/known_options.ts";
import type {
  Connection,
  ConnectionStatus,
  ConnectOptions,
} from "../db/connect.ts";
import { parseAddress } from "../db/connectors.ts";
import { Listeners } from "../db/listeners.ts";
import {
  checkCredentials,
  credentialsOf,
  type LoginAnswer,
  type LoginRequest,
} from "../db/login.ts";
import type { Ask, ConnectRequest, DatabaseReport } from "./messages.ts";

export interface TabConnectionParts {
  readonly address: string;
  /** How this tab connected; a connection of another tab has nothing to answer. */
  readonly options: ConnectOptions | undefined;
  readonly call: (
    method: "connect" | "disconnect" | "retryConnection" | "sign",
    args?: readonly unknown[],
  ) => Promise<unknown>;
  readonly ended: () => void;
  readonly report?: ((error: unknown) => void) | undefined;
}

const bare = { reason: undefined, attempts: 0, retryAt: undefined };

export class TabConnection implements Connection {
  readonly address: string;
  readonly #parts: TabConnectionParts;
  readonly #listeners: Listeners;
  #status: ConnectionStatus = { state: "connecting", ...bare };
  /** Has the owner said that there is one? */
  #isThere = false;

  constructor(parts: TabConnectionParts) {
    refuseOptions(this);
    const { options, address } = parts;
    const { session, login } = options ?? {};
    if (session !== undefined && typeof session !== "function") {
      checkCredentials(session);
    }
    if (login !== undefined && typeof login !== "function") parseAddress(login);
    this.#parts = parts;
    this.address = address;
    this.#listeners = new Listeners(parts.report);
  }

  /** As the owner is told. */
  get request(): ConnectRequest | undefined {
    const { options } = this.#parts;
    if (options === undefined) return undefined;
    const { session, login, renew } = options;
    return {
      address: this.address,
      session: typeof session === "function" ? "ask" : session,
      login: typeof login === "function"
        ? "ask"
        : login && parseAddress(login).href,
      renew,
    };
  }

  /** Asks the owner to connect. */
  begin(): void {
    this.#parts.call("connect", [this.request]).catch((cause: unknown) => {
      const message = cause instanceof Error ? cause.message : String(cause);
      const code = cause instanceof DatabaseError ? cause.code : "internal";
      const reason = { code, message };
      this.#become({ ...bare, state: "refused", reason });
    });
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  readonly getSnapshot = (): ConnectionStatus => this.#status;

  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** An owner has taken this tab in; who heard it before it called `connect()` is asked now. */
  welcomed(connection: DatabaseReport["connection"]): void {
    const isUnheard = connection === undefined && this.request !== undefined;
    if (!isUnheard) return this.report(connection);
    this.#isThere = false;
    this.begin();
  }

  /** The owner says how it stands; without a connection, another tab ended it. */
  report(connection: DatabaseReport["connection"]): void {
    if (connection?.address === this.address) {
      this.#isThere = true;
      this.#become(connection.status);
    } else if (this.#isThere) this.#end();
  }

  #become(status: ConnectionStatus): void {
    if (JSON.stringify(status) === JSON.stringify(this.#status)) return;
    this.#status = Object.freeze(status);
    this.#listeners.tell();
  }

  async answer({ what, args }: Ask): Promise<unknown> {
    const { options, call } = this.#parts;
    if (what === "credentials") {
      return await credentialsOf(options?.session ?? { anonymous: true });
    }
    const login = options?.login;
    if (what !== "login" || typeof login !== "function") {
      throw new DatabaseError("login-failed", "This page cannot log in");
    }
    // Both sides are one build: it is the question of the owner's session keeper.
    const question = args[0] as Omit<LoginRequest, "sign">;
    // A login may be for a key that is new, and that only the owner has.
    const sign = async (message: Uint8Array) =>
      await call("sign", [question.sessionKey, message]) as Uint8Array;
    const never = new AbortController().signal;
    const answer: LoginAnswer | "key-taken" = await login(
      { ...question, sign },
      never,
    );
    return answer;
  }

  retry(): void {
    this.#parts.call("retryConnection").catch(() => {}); // Then it was ended.
  }

  async close(): Promise<void> {
    if (this.#status.state === "closed") return;
    this.#end();
    await this.#parts.call("disconnect");
  }

  #end(): void {
    this.#parts.ended();
    this.#become({ ...bare, state: "closed" });
    this.#listeners.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
