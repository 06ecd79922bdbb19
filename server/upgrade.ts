/**
 * Makes a connection of a request that asks for one: a WebSocket in one of the
 * wire's subprotocols.
 *
 * @module
 */

import {
  pickProtocol,
  upgradeRequest,
} from "../sync/transport/websocket_server.ts";
import { HttpFault } from "./body.ts";
import type { Connections } from "./connections.ts";

/** The platform pings a silent socket after this long and lets go of a dead one. */
const IDLE_SECONDS = 30;

/**
 * Upgrades a request.
 *
 * @throws {HttpFault} `wrong-version`, `too-many-connections`, `bad-request`
 */
export function upgrade(
  request: Request,
  address: string,
  connections: Connections,
): Response {
  const offered = request.headers.get("sec-websocket-protocol");
  const protocol = pickProtocol(offered ?? "");
  if (protocol === undefined) {
    throw connections.declined(
      address,
      400,
      "wrong-version",
      "This server speaks the subprotocols sheaf.1, sheaf.1.zstd and sheaf.1.deflate",
    );
  }
  const places = connections.take(address);
  try {
    const options = { idleTimeout: IDLE_SECONDS };
    const wire = upgradeRequest(request, protocol, options);
    connections.begin(wire, address, places);
    return wire.response;
  } catch (error) {
    places.connection();
    places.unproved();
    if (!(error instanceof TypeError)) throw error;
    throw new HttpFault(
      400,
      "bad-request",
      "This is no WebSocket upgrade, or not the request as it came",
    );
  }
}
