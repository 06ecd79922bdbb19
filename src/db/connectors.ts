/**
 * Ways to a server: addresses, connectors that are no URL, and what a server says
 * of itself before anybody logs in. Transports are loaded when somebody
 * connects, so that a database that never does pays nothing for them.
 */

import { toHex } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import type { Port } from "../../sync/transport/message_port.ts";
import type { Connector } from "../../sync/transport/transport.ts";

/** A connector over the ports that `open` gives, one a connection: to a worker, or another tab. */
export function messagePortConnector(
  address: string,
  open: () => Port | Promise<Port>,
): Connector {
  return {
    address,
    async connect(signal) {
      const transports = await import("../../sync/transport/message_port.ts");
      return await transports.messagePortConnector(address, open)
        .connect(signal);
    },
  };
}

/** What {@linkcode memoryConnector} connects to: a server in this very program. */
export interface Acceptor {
  /** Takes the other end of a new wire. */
  accept(transport: Awaited<ReturnType<Connector["connect"]>>): void;
}

/** A connector to a server in this very program; for tests, and for servers that are clients of themselves. */
export function memoryConnector(address: string, server: Acceptor): Connector {
  return {
    address,
    async connect(signal) {
      const transports = await import(
        "../../sync/transport/memory_transport.ts"
      );
      const accept = server.accept.bind(server);
      return await transports.memoryConnector(address, accept).connect(signal);
    },
  };
}

const SCHEMES = ["ws:", "wss:", "http:", "https:"];

/** Checks a server's address before anything is loaded for it. */
export function parseAddress(address: string | URL): URL {
  const text = String(address);
  if (URL.canParse(text)) {
    const url = new URL(text);
    if (SCHEMES.includes(url.protocol)) return url;
  }
  throw new DatabaseError(
    "invalid-option",
    `Cannot use "${address}" as a server's address: it must begin with ws:, wss:, http: or https:`,
  );
}

/** What a server says of itself. */
export interface ServerInfo {
  /** Its name. */
  readonly name: string;
  /** Its root public key in 64 hexadecimal digits, as `openDatabase` takes it. */
  readonly rootKey: string;
  /** The mode of the repositories that it makes. */
  readonly mode: string;
  /** The kinds of credentials that it takes: `anonymous`, `token`, `jwt`, `app`. */
  readonly login: readonly string[];
}

/**
 * Asks a server for its name, root key, mode and kinds of login. What comes
 * over plain `http:` is as trustworthy as the wire: keep the root key with the
 * app where you can.
 *
 * @throws {DatabaseError} `unreachable`, `invalid-option`
 */
export async function serverInfo(
  address: string | URL,
  options: { readonly signal?: AbortSignal } = {},
): Promise<ServerInfo> {
  const { signal } = checkOptions(options, { signal: 0 });
  parseAddress(address);
  const { serverInfo } = await import("./online.ts");
  const info = await serverInfo(address, signal);
  const { name, rootKey, mode, login } = info;
  return { name, rootKey: toHex(rootKey), mode, login };
}
