/**
 * The server's end of a WebSocket: wraps what `Deno.upgradeWebSocket` gives.
 *
 * The listener picks a subprotocol with `pickProtocol`, upgrades with it, and
 * hands the socket over at once. Leave the platform's idle timeout on: it lets
 * go of a peer that does not even answer the platform's own pings.
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
