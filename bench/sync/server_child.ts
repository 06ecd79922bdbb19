/**
 * A server in a process of its own; it obeys one command a line.
 *
 * @module
 */

import { createServer } from "../../server/mod.ts";
import { obeyLines, say } from "../harness/lines.ts";
import type { Mode } from "../sqlite/engine.ts";
import { restingBytes } from "./collect.ts";

/** How the server is started. */
export interface ServerAssignment {
  readonly data: string;
  readonly mode: Mode;
  readonly port: number;
  /** Keeps or gives the root key, so that a wiped server comes back as itself. */
  readonly rootKeyFile: string;
}

/** What it says once it listens. */
export interface ServerHello {
  readonly url: string;
  readonly rootKey: string;
}

/** What it says of itself. */
export interface ServerFigures {
  /** Only where it was asked for memory. */
  readonly rssBytes: number;
  /** Commits of the bench's repository. */
  readonly commits: number;
  /** Does it know that commits are missing which a witness proves? */
  readonly isRestoring: boolean;
}

async function main(): Promise<void> {
  const assignment: ServerAssignment = JSON.parse(Deno.args[0] ?? "");
  const server = await createServer({
    ...assignment,
    hostname: "127.0.0.1",
    login: { anonymous: true },
    quotas: unlimited,
    log: () => {},
  });
  const hello: ServerHello = {
    url: server.url,
    rootKey: server.rootKey.toHex(),
  };
  say(hello);
  await obeyLines(async (command: string): Promise<ServerFigures> => {
    // Only for who asks for memory: it takes longer than what others wait for.
    const rssBytes = command === "memory" ? await restingBytes() : 0;
    const repository = await server.database.repository("bench");
    return {
      rssBytes,
      commits: repository.status().commits,
      isRestoring: server.status().restoring.length > 0,
    };
  });
  await server.close();
}

/** Quotas are for strangers; here one address plays all of them. */
const unlimited = {
  connectionsPerAddress: 10_000,
  unproved: 10_000,
  unprovedPerAddress: 10_000,
  chainsPerMinute: 1e9,
  repositoriesPerMinute: 1e9,
  loginsPerMinute: 1e9,
  commitsPerSecond: 1e9,
  bytesPerSecond: 1e12,
};

if (import.meta.main) {
  await main();
  // Sockets of peers that went away without a word keep their idle timers.
  Deno.exit(0);
}
