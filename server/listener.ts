/**
 * The listening socket: address, TLS, and how long its requests get on close.
 * `Deno.serve`, or elsewhere `node:http`.
 */

import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { DatabaseError } from "../src/base/errors.ts";
import { system } from "../src/base/system.ts";
import type { Http } from "./http.ts";
import { messageOf } from "./log.ts";
import type { KnownOptions, ServerOptions } from "./options.ts";
import { atMost } from "./service.ts";

export interface Listener {
  readonly url: string;
  /** Takes no more requests; those that are being answered get so long. */
  close(endMs: number): Promise<void>;
}

interface Listening {
  readonly port: number;
  readonly close: Listener["close"];
}

interface Place {
  readonly hostname: string;
  readonly port: number;
  /** Certificate chain and key (PEM). */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly answer: Http["answer"];
  readonly failed: (error: unknown) => void;
}

export async function listen(
  options: KnownOptions,
  { base, answer }: Http,
  failed: (error: unknown) => void,
): Promise<Listener> {
  const tls = await tlsOf(options);
  const { hostname, port } = options;
  if (!Number.isInteger(port) || port < 0 || port > 0xffff) {
    throw new DatabaseError(
      "invalid-option",
      `\`port\` must be a whole number from 0 to 65535, not ${
        JSON.stringify(port)
      }`,
    );
  }
  const listening = await serve({ hostname, port, tls, answer, failed });
  const scheme = tls === undefined ? "http" : "https";
  const url = `${scheme}://${shownHost(hostname)}:${listening.port}${base}`;
  return { url, close: listening.close };
}

async function serve(place: Place): Promise<Listening> {
  try {
    return await ("Deno" in globalThis ? serveDeno(place) : serveNode(place));
  } catch (cause) {
    throw new DatabaseError(
      "invalid-option",
      `Cannot listen on ${place.hostname}:${place.port}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

async function tlsOf({ tls }: ServerOptions): Promise<Place["tls"]> {
  if (tls === undefined) return undefined;
  try {
    const cert = await readFile(tls.cert, "utf8");
    return { cert, key: await readFile(tls.key, "utf8") };
  } catch (cause) {
    throw new DatabaseError(
      "invalid-option",
      `\`tls\` names files that cannot be read: ${messageOf(cause)}`,
      { cause },
    );
  }
}

function shownHost(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::") return "127.0.0.1";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

function serveDeno({ hostname, port, tls, answer, failed }: Place): Listening {
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

async function serveNode(
  { hostname, port, tls, answer, failed }: Place,
): Promise<Listening> {
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
