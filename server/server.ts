/**
 * The server: a service, the routes that lead to it, and the ways in.
 *
 * Architecture invariant: on closing, clients are told first, requests are
 * answered next, the database is closed last; an app's own server never.
 *
 * @module
 */

import type { Server as HttpServer } from "node:http";
import { toHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { system } from "../src/base/system.ts";
import type { Database } from "../src/db/database.ts";
import { diskStorage } from "../src/storage/disk_storage.ts";
import type {
  EmbeddedServer,
  NodeHttpServer,
  Server,
  ServerStatus,
  Whom,
} from "./api.ts";
import { atMost } from "./at_most.ts";
import type { CopyReport } from "./backup.ts";
import type { Http } from "./http.ts";
import { listen, type Listener } from "./listener.ts";
import { messageOf } from "./log.ts";
import type { NodeDoor } from "./node_door.ts";
import { openHttp } from "./open_http.ts";
import type { ServerOptions } from "./options.ts";
import type { QuarantineEntry } from "./quarantine.ts";
import type { Service } from "./service.ts";
import { StaticFiles } from "./static_files.ts";

/** Requests that are still being answered get this long. */
const END_MS = 2_000;
/** Whose address was not said. */
const UNKNOWN = "unknown";

type Backup = (folder: string) => Promise<CopyReport>;

/** A server that runs; what it answers comes by `handle()` and `attach()`. */
export class RunningServer implements EmbeddedServer {
  readonly #service: Service;
  readonly #http: Http;
  readonly #backup: Backup;
  readonly #doors = new Map<NodeHttpServer, Promise<NodeDoor>>();
  #closing: Promise<void> | undefined;

  /**
   * @param service what peers use
   * @param http the routes that lead to it
   * @param backup copies its database
   */
  protected constructor(service: Service, http: Http, backup: Backup) {
    this.#service = service;
    this.#http = http;
    this.#backup = backup;
  }

  /** Opens a server that listens nowhere. */
  static async open(
    service: Service,
    options: ServerOptions,
  ): Promise<RunningServer> {
    return new RunningServer(...await partsOf(service, options));
  }

  get name(): string {
    return this.#service.name;
  }

  get rootKey(): Uint8Array {
    return this.#service.rootKey;
  }

  get isNew(): boolean {
    return this.#service.isNew;
  }

  get database(): Database {
    return this.#service.database;
  }

  handle(request: Request, address = UNKNOWN): Promise<Response> {
    return this.#http.answer(request, address);
  }

  async attach(httpServer: NodeHttpServer): Promise<void> {
    this.#checkAttachable(httpServer);
    const door = this.#open(httpServer as HttpServer);
    this.#doors.set(httpServer, door);
    await door;
  }

  #checkAttachable(httpServer: NodeHttpServer): void {
    if (this.#closing !== undefined) {
      throw new DatabaseError("closed", "The server is closed");
    }
    const problem = this.#http.base === ""
      ? 'needs the option `path`, as "/api/sheaf": what lies elsewhere is the app\'s'
      : this.#doors.has(httpServer)
      ? "was called with this server already"
      : isHttpServer(httpServer)
      ? undefined
      : "takes what `createServer()` of node:http gives, or `app.listen()`";
    if (problem === undefined) return;
    throw new DatabaseError("invalid-option", `attach() ${problem}`);
  }

  async #open(httpServer: HttpServer): Promise<NodeDoor> {
    const { openNodeDoor } = await import("./node_door.ts");
    return await openNodeDoor(httpServer, {
      isOurs: (pathname) =>
        pathname !== undefined && this.#http.isBelow(pathname),
      answer: this.#http.answer,
      failed: failedOf(this.#service),
    });
  }

  status(): ServerStatus {
    return this.#service.status();
  }

  revoke(
    whom: Whom,
    reason = "",
  ): Promise<{ sessions: readonly string[]; repositories: number }> {
    return this.#service.revoke(whom, reason);
  }

  quarantine(): QuarantineEntry[] {
    return this.#service.quarantine();
  }

  accept(id: string): Promise<number> {
    return this.#service.accept(id);
  }

  drop(id: string): Promise<void> {
    return this.#service.drop(id);
  }

  backup(folder: string): Promise<CopyReport> {
    return this.#backup(folder);
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    try {
      await this.#service.drain();
      await this.endRequests(END_MS);
      for (const door of this.#doors.values()) (await door).close();
    } finally {
      await this.#service.close();
    }
  }

  /** Waits for what is being answered, but no longer than so. */
  protected endRequests(endMs: number): Promise<void> {
    return atMost(endMs, this.#http.settled(), system);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A server that listens. */
export class ListeningServer extends RunningServer implements Server {
  readonly #listener: Listener;

  private constructor(
    listener: Listener,
    ...parts: [Service, Http, Backup]
  ) {
    super(...parts);
    this.#listener = listener;
  }

  /** Begins to listen. */
  static async start(
    service: Service,
    options: ServerOptions,
  ): Promise<ListeningServer> {
    const parts = await partsOf(service, options);
    const failed = failedOf(service);
    const listener = await listen({ options, http: parts[1], failed });
    service.log.write("info", "listening", {
      url: listener.url,
      rootKey: toHex(service.rootKey),
    });
    return new ListeningServer(listener, ...parts);
  }

  get url(): string {
    return this.#listener.url;
  }

  protected override async endRequests(endMs: number): Promise<void> {
    await Promise.all([
      super.endRequests(endMs),
      this.#listener.close(endMs),
    ]);
  }
}

async function partsOf(
  service: Service,
  options: ServerOptions,
): Promise<[Service, Http, Backup]> {
  const backup = backupOf(service, options);
  const actions = {
    revoke: (whom: Whom, reason: string) => service.revoke(whom, reason),
    quarantine: () => service.quarantine(),
    accept: (id: string) => service.accept(id),
    drop: (id: string) => service.drop(id),
    backup,
  };
  return [service, await openHttp({ options, service, actions }), backup];
}

/** An app of Express has listeners, too, but no time limits. */
function isHttpServer(value: unknown): boolean {
  return typeof value === "object" && value !== null &&
    "rawListeners" in value && "requestTimeout" in value;
}

function failedOf({ log }: Service): (error: unknown) => void {
  return (error) =>
    log.write("error", "request-failed", { message: messageOf(error) });
}

/** Copies the database to a folder, but not to where everybody may read the keys. */
function backupOf(
  service: Service,
  { static: folder }: ServerOptions,
): Backup {
  return async (target) => {
    if (folder !== undefined) await new StaticFiles(folder).checkApart(target);
    const report = await service.backup(diskStorage(target));
    service.log.write("info", "backup", { folder: target, ...report });
    return report;
  };
}
