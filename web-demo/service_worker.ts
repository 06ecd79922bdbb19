/**
 * Keeps the page for cold starts without a wire.
 *
 * One build is one cache, filled as a whole or not at all. A new build waits
 * until the user takes it, or all pages are closed; pages of the build before
 * that are still open then find their parts until they go. Data is not its business:
 * the database keeps that, and `/sync`, `/login` and `/sheaf` go to the server.
 *
 * @module
 */

/// <reference lib="webworker" />

declare const VERSION: string;
declare const FILES: readonly string[];

const worker = self as unknown as ServiceWorkerGlobalScope;
const CACHE = `stook-${VERSION}`;
/** Names that hold the hash of what is in the file: whatever cache has it, it is that. */
const BY_CONTENT = /-[A-Z0-9]{8}\.[a-z0-9]+$/;

worker.addEventListener("install", (event) => {
  event.waitUntil(fill());
});

async function fill(): Promise<void> {
  const cache = await caches.open(CACHE);
  // Past the browser's own cache, so that one build is not mixed with another.
  const requests = FILES.map((file) => new Request(file, { cache: "reload" }));
  await cache.addAll(requests);
}

worker.addEventListener("activate", (event) => {
  event.waitUntil(forgetOthers().then(() => worker.clients.claim()));
});

async function forgetOthers(): Promise<void> {
  const pages = await worker.clients.matchAll({
    type: "window",
    includeUncontrolled: true,
  });
  // One of them asked for this build and begins anew; others go on with theirs.
  if (pages.length > 1) return;
  for (const name of await caches.keys()) {
    if (name.startsWith("stook-") && name !== CACHE) await caches.delete(name);
  }
}

worker.addEventListener("message", ({ data }) => {
  if (data === "take-over") void worker.skipWaiting();
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== worker.origin) return;
  const isPage = request.mode === "navigate" && url.pathname === "/";
  const file = isPage ? "/" : url.pathname;
  if (!FILES.includes(file) && !BY_CONTENT.test(file)) return;
  event.respondWith(answer(file, request));
});

async function answer(file: string, request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  return await cache.match(file) ?? await caches.match(file) ??
    await fetch(request);
}
