/**
 * The HTTP server below the routes: `Deno.serve`, or elsewhere `node:http`.
 *
 * @module
 */

import type { AddressInfo } from "node:net";
import { system } from "../src/base/system.ts";
import { atMost } from "./at_most.ts";

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
    close: (endMs) => atMost(endMs, server.shutdown(), system),
  };
}

async function serveNode(options: HttpServerOptions): Promise<HttpServer> {
  const { hostname, port, tls, answer, failed } = options;
  const { openNodeDoor } = await import("./node_door.ts");
  const server = tls === undefined
    ? (await import("node:http")).createServer()
    : (await import("node:https")).createServer(tls);
  const isOurs = () => true;
  const door = await openNodeDoor(server, { isOurs, answer, failed });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, resolve);
  });
  server.on("error", failed);
  return {
    port: (server.address() as AddressInfo).port,
    async close(endMs) {
      const closed = new Promise<void>((done) => server.close(() => done()));
      await atMost(endMs, closed, system);
      server.closeAllConnections();
      door.close();
    },
  };
}
