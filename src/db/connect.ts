/**
 * `database.connect()`: one connection, on which all open repositories ride.
 *
 * It wires a sync client to repositories and to the session. How a connection
 * is kept and what is said on it is in `sync/`, which is loaded here and not
 * before: a database that never connects pays nothing for it.
 *
 * Architecture invariant: closing waits for nothing remote.
 */

import { DatabaseError } from "../base/errors.ts";
import { refuseOptions } from "../base/known_options.ts";
import type { World } from "../base/world.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import type { ClientStatus as ConnectionStatus } from "../../sync/status.ts";
import type { RepositoryPort } from "../../repo/port.ts";
import type { Channel, Known, SyncReason } from "./channel.ts";
import { parseAddress } from "./connectors.ts";
import type { Tap } from "./internals.ts";
import { Listeners } from "./listeners.ts";
import {
  checkCredentials,
  type CredentialsSource,
  type Login,
} from "./login.ts";
import type { ChannelSource, RepositoryLink } from "./repository_link.ts";
import type { Keyring } from "./keyring.ts";

/** How a database connects. */
export interface ConnectOptions {
  /**
   * What this device shows for its certificate, when it has none or it runs
   * out; a function is asked each time (default: `{ anonymous: true }`).
   */
  readonly session?: CredentialsSource;
  /**
   * Where it logs in: an address of a server, or a function of your own.
   * Default: the address that it connects to.
   */
  readonly login?: string | URL | Login;
  /**
   * Log in at once, though the certificate still holds: after the user's claims
   * changed, or another user took over the device (default: false).
   */
  readonly renew?: boolean;
}

export type { ConnectionStatus };

/** A connection to a server; it comes back by itself until it is closed. */
export interface Connection extends AsyncDisposable {
  /** Where to. */
  readonly address: string;
  /** The same object until something changes. */
  readonly status: ConnectionStatus;
  /** Calls whenever the status changed; the result ends it. */
  subscribe(listener: () => void): () => void;
  /** As `status`, for `useSyncExternalStore` and its kind. */
  getSnapshot(): ConnectionStatus;
  /** Tries again now instead of after the backoff. */
  retry(): void;
  /** Ends it; repositories stay open and go offline. Waits for nothing remote. */
  close(): Promise<void>;
}

interface Client extends Pick<ChannelSource, "remove"> {
  readonly status: ConnectionStatus;
  subscribe(listener: () => void): () => void;
  add(port: RepositoryPort, known?: Known | Uint8Array): Channel;
  retryNow(): void;
  close(): void;
}

export interface ConnectionParts {
  readonly target: string | URL | Connector;
  readonly options: ConnectOptions;
  readonly world: World;
  /** Hears how far the server's clock is ahead of this device's, in milliseconds. */
  readonly follow: (clockOffsetMs: number) => void;
  readonly keyring: Keyring;
  /** Resolves when everything is here that takes in what comes. */
  readonly prepare?: () => Promise<void>;
  /** The repositories that are open when it starts. */
  readonly links: () => Iterable<RepositoryLink>;
  readonly ended: () => void;
  readonly report?: (error: unknown) => void;
  /** Sees the frames, while somebody wants to. */
  readonly tap?: Tap;
}

const bare = { reason: undefined, attempts: 0, retryAt: undefined };
const connecting: ConnectionStatus = { state: "connecting", ...bare };
const closed: ConnectionStatus = { state: "closed", ...bare };

export class DatabaseConnection implements Connection {
  readonly address: string;
  readonly #parts: ConnectionParts;
  readonly #url: URL | undefined;
  readonly #source: CredentialsSource;
  readonly #listeners: Listeners;
  readonly #stop = new AbortController();
  readonly #joined = new Set<RepositoryLink>();
  #client: Client | undefined;
  #failed: ConnectionStatus | undefined;
  #status = connecting;

  constructor(parts: ConnectionParts) {
    refuseOptions(this);
    const { target, options } = parts;
    const isConnector = typeof target === "object" && !(target instanceof URL);
    this.#url = isConnector ? undefined : parseAddress(target);
    this.address = isConnector ? target.address : this.#url!.href;
    this.#source = options.session ?? { anonymous: true };
    if (typeof this.#source !== "function") checkCredentials(this.#source);
    if (isAddress(options.login)) parseAddress(options.login);
    this.#parts = parts;
    this.#listeners = new Listeners(parts.report);
    void this.#start();
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  readonly getSnapshot = (): ConnectionStatus => this.#status;

  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  async #start(): Promise<void> {
    const { world, keyring, options, links, report, tap } = this.#parts;
    const { follow, prepare } = this.#parts;
    for (const link of links()) link.sync.without("connecting");
    try {
      const [{ fullMemory, Renewal, SyncClient }, connector] = await Promise
        .all([
          import("./online.ts"),
          this.#connector(),
          prepare?.(),
        ]);
      if (this.#stop.signal.aborted) return;
      const renewal = new Renewal({
        keyring,
        world,
        source: this.#source,
        login: options.login ?? this.#url,
        isDue: options.renew ?? false,
        stop: this.#stop.signal,
      });
      const client: Client = new SyncClient({
        connector,
        world,
        rootKey: keyring.rootKey,
        prover: (renew: boolean, signal: AbortSignal) =>
          renewal.prover(renew, signal),
        follow,
        isFull: fullMemory(world),
        ...(tap !== undefined && { frame: tap }),
      });
      this.#client = client;
      client.subscribe(() => this.#changed());
      for (const link of links()) this.join(link);
      this.#changed();
    } catch (cause) {
      // Code that could not be loaded: an app that was taken from its server, say.
      if (this.#stop.signal.aborted) return;
      const reason = reasonOf(cause);
      this.#failed = { ...bare, state: "refused", reason };
      for (const link of links()) link.sync.without("refused", reason);
      this.#changed();
      if (!(cause instanceof DatabaseError)) report?.(cause);
    }
  }

  async #connector(): Promise<Connector> {
    const { target } = this.#parts;
    if (this.#url === undefined) return target as Connector;
    const { websocketConnector } = await import("./online.ts");
    return websocketConnector(this.#url);
  }

  #changed(): void {
    if (this.#stop.signal.aborted) return;
    const status = this.#failed ?? this.#client?.status ?? connecting;
    if (status === this.#status) return;
    this.#status = status;
    this.#listeners.tell();
  }

  /** A repository was opened: it rides along. */
  join(link: RepositoryLink): void {
    if (this.#stop.signal.aborted) return;
    const client = this.#client;
    if (client === undefined) return link.sync.without("connecting");
    if (this.#joined.has(link)) return;
    this.#joined.add(link);
    link.join({
      add: (replica, known) => client.add(replica.port(), known),
      remove: (name) => client.remove(name),
    });
  }

  /** A repository closes. */
  leave(link: RepositoryLink): void {
    if (this.#joined.delete(link)) link.leave();
  }

  retry(): void {
    if (this.#client !== undefined) return this.#client.retryNow();
    if (this.#failed === undefined) return;
    this.#failed = undefined;
    void this.#start();
  }

  close(): Promise<void> {
    if (this.#stop.signal.aborted) return Promise.resolve();
    this.#stop.abort();
    for (const link of this.#joined) link.leave();
    for (const link of this.#parts.links()) link.sync.without("offline");
    this.#joined.clear();
    this.#client?.close();
    this.#parts.ended();
    this.#status = closed;
    this.#listeners.tell();
    this.#listeners.clear();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function isAddress(login: ConnectOptions["login"]): login is string | URL {
  return login !== undefined && typeof login !== "function";
}

function reasonOf(cause: unknown): SyncReason {
  const message = cause instanceof Error ? cause.message : String(cause);
  return {
    code: cause instanceof DatabaseError ? cause.code : "internal",
    message,
  };
}
