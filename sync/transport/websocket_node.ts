/** Upgrades of requests that `node:http` took, by npm's `ws`. */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { limits } from "../../src/base/limits.ts";
import type { Socket } from "./socket_transport.ts";
import type { UpgradeOptions, Upgrader } from "./websocket_server.ts";

/** What is used of a socket of the package `ws` besides. */
interface NodeSocket extends Socket {
  on(type: "message" | "pong" | "close", listener: () => void): void;
  ping(): void;
  terminate(): void;
}

/** What is used of its server. */
interface NodeUpgrades {
  on(type: "wsClientError", listener: (error: Error) => void): void;
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Uint8Array,
    done: (socket: NodeSocket) => void,
  ): void;
}

type UpgradesClass = new (options: Record<string, unknown>) => NodeUpgrades;

/** Says how a request that `node:http` reports as an upgrade becomes a socket. */
export type UpgraderOf = (
  request: IncomingMessage,
  socket: Duplex,
  head: Uint8Array,
) => Upgrader;

/** Loads what upgrades. */
export async function loadUpgrader(): Promise<UpgraderOf> {
  const { WebSocketServer } = await import("ws") as unknown as {
    WebSocketServer: UpgradesClass;
  };
  const protocols = new WeakMap<IncomingMessage, string>();
  const upgrades = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.frameBytesMax + 1,
    handleProtocols: (_offered: unknown, request: IncomingMessage) =>
      protocols.get(request),
  });
  // Else it answers by itself what is no upgrade.
  upgrades.on("wsClientError", () => {});
  return (request, wire, head) => (protocol, options) => {
    protocols.set(request, protocol);
    let socket: NodeSocket | undefined;
    upgrades.handleUpgrade(request, wire, head, (made) => socket = made);
    if (socket === undefined) throw new TypeError("This is no upgrade");
    watchSilence(socket, options);
    return { socket, response: switched() };
  };
}

/** Stands for the answer that is given already; its status cannot be asked for. */
function switched(): Response {
  return Object.defineProperty(new Response(null), "status", { value: 101 });
}

/** Pings a socket that is silent, and lets go of one that stays so. */
function watchSilence(socket: NodeSocket, { idleTimeout = 0 }: UpgradeOptions) {
  if (idleTimeout <= 0) return;
  let turns = 0;
  const heard = () => void (turns = 0);
  const timer = setInterval(() => {
    turns++;
    if (turns === 2) socket.ping();
    if (turns > 2) socket.terminate();
  }, idleTimeout * 1000);
  socket.on("message", heard);
  socket.on("pong", heard);
  socket.on("close", () => clearInterval(timer));
}
