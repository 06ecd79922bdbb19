/**
 * Which web pages may use this server: the checks of the headers `Origin` and
 * `Host`.
 *
 * A browser sends it with every cross-origin request and WebSocket, and pages
 * cannot forge it. Programs send none and pass.
 *
 * Architecture invariant: without a list, only pages from this very host.
 *
 * @module
 */

/** Decides over an `Origin` header. */
export type OriginCheck = (request: Request) => boolean;

/**
 * The check for a list of origins: none for "the host that was asked", `*` for
 * everybody.
 */
export function originCheck(allowed: readonly string[]): OriginCheck {
  if (allowed.includes("*")) return () => true;
  const known = new Set(allowed.map(normalOrigin));
  return (request) => {
    const origin = request.headers.get("origin");
    if (origin === null) return true;
    const normal = normalOrigin(origin);
    if (normal === undefined) return false;
    return known.size > 0 ? known.has(normal) : isSameHost(normal, request);
  };
}

/** Is it a host, maybe with a port, and nothing that would change the address it is put into? */
export function isHost(text: string): boolean {
  return !/[/?#@\\]/.test(text) && URL.canParse(`http://${text}`);
}

/** `scheme://host[:port]` in one spelling; `undefined` for what is no origin. */
export function normalOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin } = new URL(text);
  return origin === "null" ? undefined : origin;
}

/** Behind a proxy the scheme may differ, the host that was asked does not. */
function isSameHost(origin: string, request: Request): boolean {
  const host = request.headers.get("host")?.toLowerCase();
  if (host === undefined) return false;
  const { host: own, protocol } = new URL(origin);
  const port = protocol === "https:" ? ":443" : ":80";
  return own === host || own === withoutEnd(host, port);
}

function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}
