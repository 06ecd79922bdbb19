/**
 * The server: a service, the routes that lead to it, and the ways in.
 *
 * Architecture invariant: on closing, clients are told first, requests are
 * answered next, the database is closed last; an app's own server never.
 */

import type { Server as HttpServer } from "node:http";
import { toHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { checkOptions } from "../src/base/known_options.ts";
import { system } from "../src/base/system.ts";
import { diskStorage } from "../src/storage/disk_storage.ts";
import type { EmbeddedServer, NodeHttpServer, Server } from "./api.ts";
import type { CopyReport } from "./backup.ts";
import { Http } from "./http.ts";
import { listen, type Listener } from "./listener.ts";
import { messageOf } from "./log.ts";
import { Memory, processHeap } from "../src/base/memory.ts";
import type { NodeDoor } from "./node_door.ts";
import {
  type EmbedOptions,
  embedOptions,
  type ServerOptions,
  serverOptions,
} from "./options.ts";
import { atMost, makeService, Service } from "./service.ts";
import { StaticFiles } from "./static_files.ts";
import { openTracing } from "./tracing.ts";

/** Requests that are still being answered get this long. */
const END_MS = 2_000;
/** Whose address was not said. */
const UNKNOWN = "unknown";

/** Starts a server; it listens when this resolves. */
export async function createServer(options: ServerOptions): Promise<Server> {
  return await start(ListeningServer, checkOptions(options, serverOptions));
}

/** Starts a server that listens nowhere: what it is to answer is handed in, or attached. */
export async function embedServer(
  options: EmbedOptions,
): Promise<EmbeddedServer> {
  return await start(RunningServer, checkOptions(options, embedOptions));
}

async function start<S extends RunningServer>(
  kind: new (...parts: ConstructorParameters<typeof Service>) => S,
  options: ServerOptions,
): Promise<S> {
  const memory = new Memory(processHeap, () => system.monotonic());
  const server = await makeService(
    (parts) => new kind(parts),
    options,
    options.world ?? system,
    await openTracing(),
    () => memory.isFull(),
  );
  try {
    await server.begin();
    return server;
  } catch (cause) {
    await server.database.close();
    throw cause;
  }
}

/** A server that runs; what it answers comes by `handle()` and `attach()`. */
class RunningServer extends Service implements EmbeddedServer {
  protected http!: Http;
  readonly #doors = new Map<NodeHttpServer, Promise<NodeDoor>>();
  #closing: Promise<void> | undefined;

  /** Lets requests in; nothing is asked before. */
  async begin(): Promise<void> {
    this.http = await Http.open(this);
  }

  handle(request: Request, address?: string): Promise<Response> {
    return this.http.answer(request, address ?? UNKNOWN);
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
    const problem = this.http.base === ""
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
        pathname !== undefined && this.http.isBelow(pathname),
      answer: this.http.answer,
      failed: this.failed,
    });
  }

  protected readonly failed = (error: unknown): void =>
    this.log.write("error", "request-failed", { message: messageOf(error) });

  /** Copies the database to a folder, but not to where everybody may read the keys. */
  async backup(folder: string): Promise<CopyReport> {
    const { static: open } = this.options;
    if (open !== undefined) await new StaticFiles(open).checkApart(folder);
    const report = await this.copyTo(diskStorage(folder));
    this.log.write("info", "backup", { folder, ...report });
    return report;
  }

  override close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    try {
      await this.drain();
      await this.endRequests(END_MS);
      for (const door of this.#doors.values()) (await door).close();
    } finally {
      await super.close();
    }
  }

  /** Waits for what is being answered, but no longer than so. */
  protected endRequests(endMs: number): Promise<void> {
    return atMost(endMs, this.http.settled(), system);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

class ListeningServer extends RunningServer implements Server {
  #listener!: Listener;

  override async begin(): Promise<void> {
    await super.begin();
    this.#listener = await listen(this.options, this.http, this.failed);
    this.log.write("info", "listening", {
      url: this.url,
      rootKey: toHex(this.rootKey),
    });
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

/** An app of Express has listeners, too, but no time limits. */
function isHttpServer(value: unknown): boolean {
  return typeof value === "object" && value !== null &&
    "rawListeners" in value && "requestTimeout" in value;
}
