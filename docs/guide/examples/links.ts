/**
 * A Node service that keeps short links in a key-value store:
 *
 *     node links.ts
 *     curl -X PUT -d https://example.org/ 'http://127.0.0.1:8080/docs?days=7'
 *     curl -i http://127.0.0.1:8080/docs
 *
 * Its folder is an ordinary repository: `sheaf history` shows who set what, a
 * connection to a server (`db.connect`) makes it a backup and a cluster.
 *
 * @module
 */

import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { DatabaseError, openDatabase } from "@sheaf/sheaf";
import { type Kv, openKv } from "@sheaf/sheaf/kv";

interface Link {
  readonly url: string;
  readonly made: Date;
}

const DAY_MS = 86_400_000;

/** Answers one request. */
async function answer(
  links: Kv<Link>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url!, "http://here");
  const key = decodeURIComponent(pathname.slice(1));
  if (key === "") {
    const all = links.list().entries.map(({ key, value }) => [key, value?.url]);
    response.end(JSON.stringify(Object.fromEntries(all)));
  } else if (request.method === "PUT") {
    const days = Number(searchParams.get("days") ?? 365);
    const value = { url: await bodyOf(request), made: new Date() };
    await links.set(key, value, { ttlMs: days * DAY_MS }); // Durable when it is answered.
    response.writeHead(201).end();
  } else if (request.method === "DELETE") {
    await links.delete(key);
    response.writeHead(204).end();
  } else {
    const link = links.get(key); // From memory, and not once it has expired.
    if (link === undefined) response.writeHead(404).end();
    else response.writeHead(302, { location: link.url }).end();
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > 2_000) break;
  }
  if (text.length <= 2_000 && URL.canParse(text)) return new URL(text).href;
  throw new DatabaseError("invalid-value", "Give a whole URL in the body");
}

/** The service on a folder; `closed` once its last write is safe. */
export async function serve(
  path: string,
  port: number,
): Promise<{ http: Server; close(): Promise<void> }> {
  const db = await openDatabase({ path });
  const links = openKv<Link>(await db.repository("links"));
  const http = createServer((request, response) => {
    answer(links, request, response).catch((error) => {
      const isAsked = error instanceof DatabaseError;
      response.writeHead(isAsked ? 400 : 500).end(
        `${isAsked ? error.message : "It failed"}\n`,
      );
    });
  });
  await new Promise<void>((listening) =>
    http.listen(port, "127.0.0.1", listening)
  );
  return {
    http,
    async close() {
      await new Promise((closed) => http.close(closed));
      await db.close();
    },
  };
}

if (import.meta.main) await serve("./links", 8080);
