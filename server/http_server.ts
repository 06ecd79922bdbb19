/**
 * The HTTP server below the routes: `Deno.serve`, or elsewhere `node:http` with
 * requests and answers of the web's kind.
 *
 * @module
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  loadUpgrader,
  type UpgraderOf,
} from "../sync/transport/websocket_node.ts";
import { provideUpgrade } from "../sync/transport/websocket_server.ts";

/** How an HTTP server listens. */
export interface HttpServerOptions {
  readonly hostname: string;
  readonly port: number;
  /** Certificate chain and key (PEM). */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Answers a request from an address. */
  readonly answer: (request: Request, address: string) => Promise<Response>;
  /** Hears of what was thrown instead of an answer. */
  readonly failed: (error: unknown) => void;
}

/** An HTTP server that listens. */
export interface HttpServer {
  readonly port: number;
  /** Takes no more requests; those that are being answered get so long. */
  close(endMs: number): Promise<void>;
}

/** Begins to listen; rejects where that cannot be. */
export function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  return "Deno" in globalThis ? serveDeno(options) : serveNode(options);
}

// deno-lint-ignore require-await -- what it throws is a rejection
async function serveDeno(options: HttpServerOptions): Promise<HttpServer> {
  const { hostname, port, tls, answer, failed } = options;
  const server = Deno.serve({
    hostname,
    port,
    ...tls,
    onListen() {},
    onError(error) {
      failed(error);
      return new Response(null, { status: 500 });
    },
  }, (request, { remoteAddr }) => answer(request, remoteAddr.hostname));
  return {
    port: server.addr.port,
    close: (endMs) => within(endMs, server.shutdown()),
  };
}

async function serveNode(options: HttpServerOptions): Promise<HttpServer> {
  const { hostname, port, tls } = options;
  const upgraderOf = await loadUpgrader();
  const server: Server = tls === undefined
    ? (await import("node:http")).createServer()
    : (await import("node:https")).createServer(tls);
  const sockets = new Set<Duplex>();
  const handler = new NodeHandler(options, upgraderOf);
  server.on("request", handler.request);
  server.on("upgrade", (incoming, socket, head) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    handler.upgrade(incoming, socket, head);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, resolve);
  });
  server.on("error", options.failed);
  return {
    port: (server.address() as AddressInfo).port,
    async close(endMs) {
      const closed = new Promise<void>((done) => server.close(() => done()));
      await within(endMs, closed);
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function within(endMs: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, endMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** Methods of requests that have no body. */
const BODILESS = ["GET", "HEAD"];

/** Answers what `node:http` takes. */
class NodeHandler {
  readonly #options: HttpServerOptions;
  readonly #upgraderOf: UpgraderOf;

  constructor(options: HttpServerOptions, upgraderOf: UpgraderOf) {
    this.#options = options;
    this.#upgraderOf = upgraderOf;
  }

  readonly request = async (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> => {
    const response = await this.#answer(incoming);
    outgoing.statusCode = response.status;
    for (const [name, value] of response.headers) {
      outgoing.setHeader(name, value);
    }
    // What was not read of a body is not waited for.
    if (!incoming.complete) outgoing.setHeader("connection", "close");
    if (response.body === null) return void outgoing.end();
    const body = Readable.fromWeb(response.body as NodeStream);
    // Whoever went away gets no more.
    await pipeline(body, outgoing).catch(() => outgoing.destroy());
  };

  async upgrade(
    incoming: IncomingMessage,
    socket: Duplex,
    head: Uint8Array,
  ): Promise<void> {
    socket.on("error", () => socket.destroy());
    const upgrader = this.#upgraderOf(incoming, socket, head);
    const response = await this.#answer(
      incoming,
      (request) => provideUpgrade(request, upgrader),
    );
    if (response.status === 101) return;
    const body = await response.text();
    socket.end([
      `HTTP/1.1 ${response.status} `,
      ...Array.from(response.headers, ([name, value]) => `${name}: ${value}`),
      `content-length: ${new TextEncoder().encode(body).length}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"));
  }

  async #answer(
    incoming: IncomingMessage,
    prepare: (request: Request) => void = () => {},
  ): Promise<Response> {
    const { answer, failed, tls } = this.#options;
    let request: Request;
    try {
      request = requestOf(incoming, tls === undefined ? "http" : "https");
    } catch {
      return new Response(null, { status: 400 }); // No address, or no method of the web's.
    }
    try {
      prepare(request);
      return await answer(request, incoming.socket.remoteAddress ?? "local");
    } catch (error) {
      failed(error);
      return new Response(null, { status: 500 });
    }
  }
}

/** The request as the web has it; throws a TypeError for what it has not. */
function requestOf(incoming: IncomingMessage, scheme: string): Request {
  const { method = "GET", url = "/" } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    headers.set(name, Array.isArray(value) ? value.join(", ") : value ?? "");
  }
  const host = headers.get("host") ?? "localhost";
  const address = url.startsWith("/") ? `${scheme}://${host}${url}` : url;
  if (BODILESS.includes(method)) {
    return new Request(address, { method, headers });
  }
  const body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
  // Node asks for `duplex` where a body streams, which the types do not know.
  const init = { method, headers, body, duplex: "half" };
  return new Request(address, init as RequestInit);
}
