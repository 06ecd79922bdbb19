/**
 * Which web pages may use this server: the checks of the headers `Origin` and
 * `Host`.
 *
 * A browser sends it with every cross-origin request and WebSocket, and pages
 * cannot forge it. Programs send none and pass.
 *
 * Architecture invariant: without a list, only pages from this very host.
 *
 * From whom a request comes, for quotas and logs.
 *
 * Architecture invariant: a header is believed only where the server was told
 * that a proxy of its own writes it.
 */

export type OriginCheck = (request: Request) => boolean;

/** The check for a list of origins: none for "the host that was asked", `*` for everybody. */
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

/** The address of a request's sender. IPv6 addresses are cut to their /64: one household, one quota. */
export function addressOf(
  request: Request,
  direct: string,
  trustsProxy: boolean,
): string {
  if (!trustsProxy) return networkOf(direct);
  // The last entry is the one that the nearest proxy wrote.
  const last = request.headers.get("x-forwarded-for")?.split(",").at(-1);
  return networkOf(last?.trim() || direct);
}

/** Plain or mapped; some proxies tell the port as well. */
const IPV4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i;
const GROUPS = 8;
const TEXT_MAX = 45;

export function networkOf(address: string): string {
  const plain = address.replace(/^\[|\](?::\d+)?$/g, "").slice(0, TEXT_MAX);
  const ipv4 = IPV4.exec(plain)?.[1];
  if (ipv4 !== undefined) return ipv4;
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Math.max(0, GROUPS - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill("0"), ...after];
  const network = groups.slice(0, 4).map((group) =>
    group.toLowerCase().replace(/^0+(?=.)/, "")
  );
  return `${network.join(":")}::/64`;
}
