/**
 * The server's end of a WebSocket.
 *
 * The listener picks a subprotocol with `pickProtocol` and upgrades with it.
 * The idle timeout lets go of a peer that is silent, but neither of one that
 * stopped reading while something waits for it, nor of one that does not answer
 * a close; and Deno's server socket cannot be terminated. Such a socket lives as
 * long as its peer keeps it, after the transport has ended: whoever bounds
 * connections counts until `closed`.
 */

import { type Socket, SocketTransport } from "./socket_transport.ts";
import type { Transport } from "./transport.ts";

export { pickProtocol } from "./frame_codec.ts";

/**
 * The wire over an upgraded socket, which may still be opening.
 *
 * @param socket the socket
 * @param protocol what it was upgraded with: Deno's server socket does not say
 */
export function serverTransport(socket: Socket, protocol: string): Transport {
  return new SocketTransport(socket, socket.readyState === OPEN, protocol);
}

/** `WebSocket.OPEN`, which Node 20 has no class for. */
const OPEN = 1;

/** A wire, and the answer that makes it. */
export interface Upgraded {
  /** To be listened to before the answer is given. */
  readonly transport: Transport;
  readonly response: Response;
  /** Resolves when the socket itself is gone, which may be long after the transport ended. */
  readonly closed: Promise<void>;
}

/** How a request is upgraded. */
export interface UpgradeOptions {
  /** A socket that is silent for so long is pinged, and one that goes on so let go. */
  readonly idleTimeout?: number;
}

/** Makes a socket of a request; throws a TypeError where it asks for none. */
export type Upgrader = (
  protocol: string,
  options: UpgradeOptions,
) => { readonly socket: Socket; readonly response: Response };

const upgraders = new WeakMap<Request, Upgrader>();

/** For a request that came otherwise than by `Deno.serve`: how it is upgraded. */
export function provideUpgrade(request: Request, upgrader: Upgrader): void {
  upgraders.set(request, upgrader);
}

/** Makes a wire of a request that asks for one; throws a TypeError where it does not. */
export function upgradeRequest(
  request: Request,
  protocol: string,
  options: UpgradeOptions = {},
): Upgraded {
  const upgrade = upgraders.get(request) ?? denoUpgrader(request);
  const { socket, response } = upgrade(protocol, options);
  const closed = new Promise<void>((resolve) =>
    socket.addEventListener("close", () => resolve())
  );
  return { transport: serverTransport(socket, protocol), response, closed };
}

/**
 * Deno itself finds a protocol only among those that are apart by a comma and a
 * space, as browsers write them; others write none. So it is answered here.
 */
function denoUpgrader(request: Request): Upgrader {
  return (protocol, options) => {
    if (!("Deno" in globalThis)) throw new TypeError("No upgrade was provided");
    const { socket, response } = Deno.upgradeWebSocket(request, options);
    response.headers.set("sec-websocket-protocol", protocol);
    return { socket: socket as unknown as Socket, response };
  };
}
