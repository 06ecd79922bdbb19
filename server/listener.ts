/**
 * The listening socket: address, TLS, and how long its requests get on close.
 *
 * @module
 */

import { readFile } from "node:fs/promises";
import { DatabaseError } from "../src/base/errors.ts";
import type { Http } from "./http.ts";
import {
  type HttpServer,
  type HttpServerOptions,
  serveHttp,
} from "./http_server.ts";
import { messageOf } from "./log.ts";
import type { ServerOptions } from "./options.ts";

/** What a listener works with. */
export interface ListenerParts {
  readonly options: ServerOptions;
  readonly http: Http;
  /** Hears of what was thrown instead of an answer. */
  readonly failed: (error: unknown) => void;
}

/** A socket that listens. */
export interface Listener {
  /** Its address. */
  readonly url: string;
  /** Takes no more requests; those that are being answered get so long. */
  close(endMs: number): Promise<void>;
}

const PORT = 8080;
const HOSTNAME = "127.0.0.1";

/** Begins to listen. */
export async function listen(
  { options, http: { base, answer }, failed }: ListenerParts,
): Promise<Listener> {
  const tls = await tlsOf(options);
  const hostname = options.hostname ?? HOSTNAME;
  const port = options.port ?? PORT;
  if (!Number.isInteger(port) || port < 0 || port > 0xffff) {
    throw new DatabaseError(
      "invalid-option",
      `\`port\` must be a whole number from 0 to 65535, not ${
        JSON.stringify(port)
      }`,
    );
  }
  const server = await serve({ hostname, port, tls, answer, failed });
  const scheme = tls === undefined ? "http" : "https";
  return {
    url: `${scheme}://${shownHost(hostname)}:${server.port}${base}`,
    close: (endMs) => server.close(endMs),
  };
}

async function serve(options: HttpServerOptions): Promise<HttpServer> {
  try {
    return await serveHttp(options);
  } catch (cause) {
    const { hostname, port } = options;
    throw new DatabaseError(
      "invalid-option",
      `Cannot listen on ${hostname}:${port}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

async function tlsOf(
  { tls }: ServerOptions,
): Promise<{ cert: string; key: string } | undefined> {
  if (tls === undefined) return undefined;
  try {
    const [cert, key] = await Promise.all([
      readFile(tls.cert, "utf8"),
      readFile(tls.key, "utf8"),
    ]);
    return { cert, key };
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
