/**
 * What a server says of itself before anybody logs in.
 *
 * @module
 */

import { toHex } from "../base/bytes.ts";
import { checkOptions } from "../base/known_options.ts";
import { parseAddress } from "./connectors.ts";

/** What a server says of itself. */
export interface ServerInfo {
  /** Its name. */
  readonly name: string;
  /** Its root public key in 64 hexadecimal digits, as `openDatabase` takes it. */
  readonly rootKey: string;
  /** The mode of the repositories that it makes. */
  readonly mode: string;
  /** The kinds of credentials that it takes: `anonymous`, `token`, `jwt`, `app`. */
  readonly login: readonly string[];
}

/**
 * Asks a server for its name, root key, mode and kinds of login. What comes
 * over plain `http:` is as trustworthy as the wire: keep the root key with the
 * app where you can.
 *
 * @throws {DatabaseError} `unreachable`, `invalid-option`
 */
export async function serverInfo(
  address: string | URL,
  options: { readonly signal?: AbortSignal } = {},
): Promise<ServerInfo> {
  const { signal } = checkOptions(options, { signal: 0 });
  parseAddress(address);
  const { serverInfo } = await import("./online.ts");
  const info = await serverInfo(address, signal);
  const { name, rootKey, mode, login } = info;
  return { name, rootKey: toHex(rootKey), mode, login };
}
