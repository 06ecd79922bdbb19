/**
 * A static server on 127.0.0.1, which browsers count as a secure context. Each
 * has a port, and so an origin with storage, of its own. Every script `x.js`
 * has a page `x.html` that loads it and keeps its exports as `sheafEntry`.
 *
 * @module
 */

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  png: "image/png",
  webmanifest: "application/manifest+json",
};

/** A server that runs. */
export interface PageServer extends AsyncDisposable {
  readonly url: string;
}

function pageOf(name: string): string {
  return `<!doctype html><meta charset="utf-8"><title>${name}</title>
<link rel="icon" href="data:,"><body><script type="module">
import * as entry from "/${name}.js";
globalThis.sheafEntry = entry;
</script>`;
}

/** What gives a page clocks of 5 µs instead of 100. */
const isolation = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

function readFrom(
  folders: readonly string[],
  name: string,
): Uint8Array<ArrayBuffer> | undefined {
  for (const folder of folders) {
    try {
      return Deno.readFileSync(`${folder}/${name}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return undefined;
}

function respond(
  folders: readonly string[],
  isIsolated: boolean,
  request: Request,
): Response {
  const { pathname } = new URL(request.url);
  const [, name, ending = ""] = /^\/([\w-]+)\.(\w+)$/.exec(pathname) ?? [];
  if (name === undefined) return new Response("not found", { status: 404 });
  const headers = {
    "content-type": TYPES[ending] ?? "application/octet-stream",
    "cache-control": "no-store",
    ...isIsolated && isolation,
  };
  const bytes = readFrom(folders, `${name}.${ending}`);
  if (bytes !== undefined) return new Response(bytes, { headers });
  if (ending !== "html") return new Response("not found", { status: 404 });
  return new Response(pageOf(name), { headers });
}

/** Serves the files of `folders`, the first one's before the others'; isolated pages have precise clocks. */
export function servePages(
  folders: string | readonly string[],
  { isIsolated = false }: { readonly isIsolated?: boolean } = {},
): PageServer {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => respond([folders].flat(), isIsolated, request),
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
