/**
 * Watches the wire: nobody is sent a byte of a repository that it may not read.
 *
 * Every write leaves a mark with the name of its repository spelled out, and
 * frames of a simulation are not compressed: so the name would be seen.
 *
 * @module
 */

import type { Client } from "../client.ts";
import { placeMark } from "../collections.ts";
import { check } from "../failure.ts";
import type { Link } from "../network.ts";

/** See the file's header. */
export class WireWatch {
  readonly #fail: (cause: unknown) => void;
  readonly #forbidden = new Map<string, Uint8Array[]>();
  /** Bytes that went to clients. */
  bytesDown = 0;
  /** Bytes that went to the server. */
  bytesUp = 0;

  constructor(fail: (cause: unknown) => void) {
    this.#fail = fail;
  }

  /** Learns who may read what. */
  watch(clients: readonly Client[]): void {
    for (const client of clients) {
      const { readable, stage, link } = client;
      const names = stage.repositories.filter((name) =>
        !readable.includes(name)
      );
      this.#forbidden.set(
        link.client,
        names.map((name) => new TextEncoder().encode(placeMark(name))),
      );
    }
  }

  /** Looks at a frame that arrives. */
  see(to: "client" | "server", link: Link, frame: Uint8Array): void {
    if (to === "server") {
      this.bytesUp += frame.length;
      return;
    }
    this.bytesDown += frame.length;
    try {
      for (const mark of this.#forbidden.get(link.client) ?? []) {
        check(
          !contains(frame, mark),
          "wire",
          () => `${link.client} was sent ${new TextDecoder().decode(mark)}`,
        );
      }
    } catch (cause) {
      this.#fail(cause);
    }
  }
}

function contains(bytes: Uint8Array, part: Uint8Array): boolean {
  for (
    let at = bytes.indexOf(part[0]!);
    at >= 0;
    at = bytes.indexOf(part[0]!, at + 1)
  ) {
    if (part.every((byte, i) => bytes[at + i] === byte)) return true;
  }
  return false;
}
