/**
 * Ways to a server that are no URL. Their transports are loaded when somebody
 * connects, so that a database that never does pays nothing for them.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
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
