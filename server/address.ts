/**
 * From whom a request comes, for quotas and logs.
 *
 * Architecture invariant: a header is believed only where the server was told
 * that a proxy of its own writes it.
 *
 * @module
 */

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

/** The part of an address that quotas count by. */
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
