/**
 * Wires to a server over WebSocket.
 *
 * Deno's own client writes a frame's header and payload apart, and Nagle's
 * algorithm then meets the delayed acknowledgement: frames of 1 to 60 KB take
 * 44 ms. So where there are Node's modules the package `ws` is taken; browsers
 * use their own.
 */

import { deferred } from "../../src/base/deferred.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import { native } from "../../src/base/system.ts";
import { type CodecName, codecsHere, protocolsOf } from "./frame_codec.ts";
import { type Socket, SocketTransport } from "./socket_transport.ts";
import type { Connector, Transport, TransportEnd } from "./transport.ts";

/** How a WebSocket is opened. */
export interface WebsocketOptions {
  /** Opening takes no longer. */
  readonly connectMsMax?: number;
  /** Which compressions to offer, best first; all that are here when absent. */
  readonly codecs?: readonly CodecName[];
  /** Certificates (PEM) of authorities to trust beside the known ones; not in browsers. */
  readonly authorities?: string;
}

/** Connects to `ws:`, `wss:`, `http:` or `https:` addresses. */
export function websocketConnector(
  address: string | URL,
  options: WebsocketOptions = {},
): Connector {
  const url = websocketUrl(address);
  return {
    address: url.href,
    connect: (signal) => connect(url.href, options, signal),
    onNetwork,
  };
}

/** The address with a WebSocket's scheme; throws `invalid-option` for other schemes. */
export function websocketUrl(address: string | URL): URL {
  return urlWith(address, { "http:": "ws:", "https:": "wss:" });
}

/** The address with HTTP's scheme; throws `invalid-option` for other schemes. */
export function httpUrl(address: string | URL): URL {
  return urlWith(address, { "ws:": "http:", "wss:": "https:" });
}

function urlWith(
  address: string | URL,
  schemes: Record<string, string>,
): URL {
  const text = String(address);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url && (schemes[url.protocol] ?? url.protocol);
  if (!url || !scheme || !Object.values(schemes).includes(scheme)) {
    const message =
      `Cannot use "${address}" as a server's address: it must begin with ws:, wss:, http: or https:`;
    throw new DatabaseError("invalid-option", message);
  }
  url.hash = "";
  url.protocol = scheme;
  return url;
}

async function connect(
  url: string,
  options: WebsocketOptions,
  signal: AbortSignal,
): Promise<Transport> {
  const socket = await openSocket(url, options);
  const transport = new SocketTransport(socket, false);
  const opened = deferred<Transport>();
  const giveUp = (code: string, detail: string) => {
    opened.reject({ code, detail } satisfies TransportEnd);
    transport.close(code, detail);
    (socket.terminate ?? socket.close).call(socket, 4000, code);
  };
  const abort = () => giveUp("lost", "No longer wanted");
  const connectMsMax = options.connectMsMax ?? limits.connectMsMax;
  const timer = setTimeout(
    () => giveUp("timeout", `No answer within ${connectMsMax} ms`),
    connectMsMax,
  );
  signal.addEventListener("abort", abort, { once: true });
  socket.addEventListener("open", () => opened.resolve(transport));
  socket.addEventListener(
    "error",
    ({ message = "" }) => opened.reject(endOfError(message)),
  );
  socket.addEventListener(
    "close",
    () => opened.reject({ code: "lost", detail: "The connection was closed" }),
  );
  if (signal.aborted) abort();
  try {
    return await opened.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** What is used of a socket of the package `ws` besides. */
interface NodeSocket extends Socket {
  on(
    type: "upgrade",
    listener: (response: { readonly socket: Wire | null }) => void,
  ): void;
}

/** What is used of the TCP or TLS socket below. */
interface Wire {
  cork(): void;
  uncork(): void;
}

type SocketClass = new (
  url: string,
  protocols: string[],
  options?: Record<string, unknown>,
) => NodeSocket;

async function openSocket(
  url: string,
  { codecs = codecsHere(), authorities }: WebsocketOptions,
): Promise<Socket> {
  const protocols = protocolsOf(codecs);
  if (native.crypto === undefined) {
    return new WebSocket(url, protocols) as unknown as Socket;
  }
  const ws = await import("ws") as unknown as { WebSocket: SocketClass };
  const socket = new ws.WebSocket(url, protocols, {
    perMessageDeflate: false,
    maxPayload: limits.frameBytesMax + 1,
    ...(authorities !== undefined && { ca: authorities }),
  });
  gatherWrites(socket);
  return socket;
}

/** Frames of one turn go out in one write: proof and opening in one packet. */
function gatherWrites(socket: NodeSocket): void {
  socket.on("upgrade", ({ socket: wire }) => {
    if (wire === null) return; // Bun's own `ws` shows none.
    const send = socket.send.bind(socket);
    let isGathering = false;
    socket.send = (bytes) => {
      if (!isGathering) {
        isGathering = true;
        wire.cork();
        queueMicrotask(() => {
          isGathering = false;
          wire.uncork();
        });
      }
      send(bytes);
    };
  });
}

const STATUS_CODES: Readonly<Record<string, string>> = {
  "401": "forbidden",
  "403": "forbidden",
  "429": "rate-limited",
  "503": "unavailable",
};

function endOfError(message: string): TransportEnd {
  const status = /Unexpected server response: (\d+)/.exec(message)?.[1];
  const code = (status !== undefined && STATUS_CODES[status]) || "lost";
  return { code, detail: message || "The server could not be reached" };
}

/** What of a browser's page is used; elsewhere there is none. */
interface Page extends EventTarget {
  readonly visibilityState: string;
}

/** Tells when the network is back or gone, or the page is looked at again, where the platform tells. */
function onNetwork(tell: (isThere: boolean) => void): () => void {
  const { document: page } = globalThis as { document?: Page };
  const hear = ({ type }: Event) => {
    if (type !== "visibilitychange") tell(type === "online");
    else if (page?.visibilityState === "visible") tell(true);
  };
  const end = new AbortController();
  const { signal } = end;
  for (const type of ["online", "offline"]) {
    globalThis.addEventListener?.(type, hear, { signal });
  }
  page?.addEventListener("visibilitychange", hear, { signal });
  return () => end.abort();
}
