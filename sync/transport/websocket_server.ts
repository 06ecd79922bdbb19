/**
 * The server's end of a WebSocket.
 *
 * The listener picks a subprotocol with `pickProtocol` and upgrades with it.
 * The platform's idle timeout lets go of a peer that is silent, but neither of
 * one that stopped reading while something waits for it, nor of one that does
 * not answer a close; and a server's socket cannot be terminated. Such a socket
 * lives as long as its peer keeps it, after the transport has ended: whoever
 * bounds connections counts until `closed`.
 *
 * @module
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
export function serverTransport(
  socket: WebSocket,
  protocol: string,
): Transport {
  const isOpen = socket.readyState === WebSocket.OPEN;
  return new SocketTransport(socket as unknown as Socket, isOpen, protocol);
}

/** A wire, and the answer that makes it. */
export interface Upgraded {
  /** To be listened to before the answer is given. */
  readonly transport: Transport;
  readonly response: Response;
  /** Resolves when the socket itself is gone, which may be long after the transport ended. */
  readonly closed: Promise<void>;
}

/**
 * Makes a wire of a request that asks for one; throws where it does not.
 *
 * Deno itself finds a protocol only among those that are apart by a comma and a
 * space, as browsers write them; others write none. So it is answered here.
 */
export function upgradeRequest(
  request: Request,
  protocol: string,
  options: Deno.UpgradeWebSocketOptions = {},
): Upgraded {
  const { socket, response } = Deno.upgradeWebSocket(request, options);
  response.headers.set("sec-websocket-protocol", protocol);
  const closed = new Promise<void>((resolve) =>
    socket.addEventListener("close", () => resolve(), { once: true })
  );
  return { transport: serverTransport(socket, protocol), response, closed };
}
