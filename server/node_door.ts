/**
 * A server of `node:http` or `node:https` as a way in: its requests and upgrades
 * become requests and answers of the web's kind.
 *
 * It stands before the listeners that the server has. What is not for us goes
 * on to them, as if nobody stood there.
 *
 * Architecture invariant: the server is its owner's: it is neither closed here
 * nor are its other connections touched.
 */

import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";
import {
  loadUpgrader,
  type UpgraderOf,
} from "../sync/transport/websocket_node.ts";
import { provideUpgrade } from "../sync/transport/websocket_server.ts";
import { isHost } from "./origin.ts";

export interface NodeDoorParts {
  /** Is what lies there ours to answer? Asked with `undefined` for what is no address. */
  readonly isOurs: (pathname: string | undefined) => boolean;
  readonly answer: (request: Request, address: string) => Promise<Response>;
  readonly failed: (error: unknown) => void;
}

export async function openNodeDoor(
  server: Server,
  parts: NodeDoorParts,
): Promise<NodeDoor> {
  return new NodeDoor(server, parts, await loadUpgrader());
}

const BODILESS = ["GET", "HEAD"];

export class NodeDoor {
  readonly #server: Server;
  readonly #parts: NodeDoorParts;
  readonly #upgraderOf: UpgraderOf;
  /** Those that were upgraded, which the server itself does not know any more. */
  readonly #sockets = new Set<Duplex>();
  readonly #leave: readonly (() => void)[];
  #isOpen = true;

  constructor(server: Server, parts: NodeDoorParts, upgraderOf: UpgraderOf) {
    this.#server = server;
    this.#parts = parts;
    this.#upgraderOf = upgraderOf;
    this.#leave = [
      standBefore(server, "request", this.#request),
      standBefore(server, "upgrade", this.#upgrade),
    ];
  }

  /** Takes nothing more, and lets go of the sockets that it upgraded. */
  close(): void {
    this.#isOpen = false;
    for (const leave of this.#leave) leave();
    for (const socket of this.#sockets) socket.destroy();
  }

  readonly #request: Taker<[IncomingMessage, ServerResponse]> = (
    [incoming, outgoing],
  ) => {
    if (!this.#takes(incoming)) return false;
    if (!outgoing.headersSent) {
      this.#settle(this.#respond(incoming, outgoing), incoming.socket);
    }
    return true;
  };

  readonly #upgrade: Taker<[IncomingMessage, Duplex, Uint8Array]> = (
    [incoming, socket, head],
    isAlone,
  ) => {
    const isTaken = this.#takes(incoming);
    if (!isTaken && !isAlone) return false;
    if (socket.destroyed || socket.writableEnded) return true;
    const outgoing = responseOver(socket, incoming);
    if (outgoing === undefined) return true;
    if (isTaken) {
      const connected = this.#connect(incoming, socket, head, outgoing);
      this.#settle(connected, socket);
      return true;
    }
    // Without us the server would have taken it for a request like any other.
    return this.#server.emit("request", incoming, outgoing);
  };

  /** Whatever fails for somebody ends his connection, and nothing else. */
  #settle(work: Promise<void>, socket: Duplex): void {
    work.catch((error) => {
      this.#parts.failed(error);
      socket.destroy();
    });
  }

  #takes(incoming: IncomingMessage): boolean {
    return this.#isOpen && this.#parts.isOurs(urlOf(incoming)?.pathname);
  }

  async #respond(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    await write(await this.#answer(incoming), incoming, outgoing);
  }

  async #connect(
    incoming: IncomingMessage,
    socket: Duplex,
    head: Uint8Array,
    outgoing: ServerResponse,
  ): Promise<void> {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const upgrader = this.#upgraderOf(incoming, socket, head);
    const response = await this.#answer(
      incoming,
      (request) => provideUpgrade(request, upgrader),
    );
    if (response.status === 101) outgoing.detachSocket(socket as Socket);
    else await write(response, incoming, outgoing);
  }

  async #answer(
    incoming: IncomingMessage,
    prepare: (request: Request) => void = () => {},
  ): Promise<Response> {
    const request = requestOf(incoming);
    // No address, or no method of the web's.
    if (request === undefined) return new Response(null, { status: 400 });
    try {
      prepare(request);
      const { remoteAddress = "local" } = incoming.socket;
      return await this.#parts.answer(request, remoteAddress);
    } catch (error) {
      this.#parts.failed(error);
      return new Response(null, { status: 500 });
    }
  }
}

/** Says whether an event was for it; it hears whether nobody else would take it. */
type Taker<E extends unknown[]> = (event: E, isAlone: boolean) => boolean;

type Listener = (...event: unknown[]) => void;

/** Has events go to `takes` first, and what it does not take to who listens by now. */
function standBefore<E extends unknown[]>(
  server: Server,
  name: string,
  takes: Taker<E>,
): () => void {
  const others = server.rawListeners(name) as Listener[];
  const listener = (...event: unknown[]) => {
    const isAlone = others.length === 0 && server.listenerCount(name) === 1;
    if (takes(event as E, isAlone)) return;
    for (const other of others) other.apply(server, event);
  };
  server.removeAllListeners(name);
  server.on(name, listener);
  return () => {
    // Where somebody stands before us by now, he passes on to us, and we to the others.
    if (!server.listeners(name).includes(listener)) return;
    server.off(name, listener);
    for (const other of others) server.on(name, other);
  };
}

/**
 * An answer to what the server reported as an upgrade, which ends with it;
 * `undefined` where what was asked before it over the same socket is not answered.
 */
function responseOver(
  socket: Duplex,
  incoming: IncomingMessage,
): ServerResponse | undefined {
  socket.on("error", () => socket.destroy());
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  try {
    outgoing.assignSocket(socket as Socket);
  } catch {
    socket.destroy();
    return undefined;
  }
  outgoing.once("finish", () => {
    outgoing.detachSocket(socket as Socket);
    // He may never let go of his end.
    (socket as Socket).destroySoon();
  });
  return outgoing;
}

async function write(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  // The app answered meanwhile.
  if (outgoing.headersSent) return void response.body?.cancel();
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  // What was not read of a body is not waited for.
  if (!incoming.complete) outgoing.setHeader("connection", "close");
  if (response.body === null) return void outgoing.end();
  const body = Readable.fromWeb(response.body as NodeStream);
  // Whoever went away gets no more.
  await pipeline(body, outgoing).catch(() => outgoing.destroy());
}

/** What a request asks for; `undefined` where it is no address. */
function urlOf({ url = "/", headers, socket }: IncomingMessage) {
  const { host = "localhost" } = headers;
  const scheme = "encrypted" in socket && socket.encrypted ? "https" : "http";
  const address = url.startsWith("/") ? `${scheme}://${host}${url}` : url;
  return isHost(host) && URL.canParse(address) ? new URL(address) : undefined;
}

/** The request as the web has it; `undefined` for what it has not. */
function requestOf(incoming: IncomingMessage): Request | undefined {
  const { method = "GET" } = incoming;
  const url = urlOf(incoming);
  if (url === undefined) return undefined;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    headers.set(name, Array.isArray(value) ? value.join(", ") : value ?? "");
  }
  const body = BODILESS.includes(method)
    ? {}
    // Node asks for `duplex` where a body streams, which the types do not know.
    : { body: Readable.toWeb(incoming) as BodyInit, duplex: "half" };
  try {
    return new Request(url, { method, headers, ...body });
  } catch {
    return undefined;
  }
}
