// Keeps the page for starts without a network. `VERSION` and `FILES` are put before
// this by vite.config.ts: all that was built. The data are not its business: Sheaf keeps them.

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(FILES)));
});

// A new build waits until no page of the one before is open, which may still load parts of it.
self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

async function takeOver() {
  for (const name of await caches.keys()) {
    if (name !== VERSION) await caches.delete(name);
  }
  await self.clients.claim();
}

self.addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  const isMine = origin === location.origin && FILES.includes(pathname);
  if (event.request.method === "GET" && isMine) {
    event.respondWith(answer(event.request));
  }
});

/** The page from the network where there is one; its parts, which have their contents in their names, as they are kept. */
async function answer(request) {
  const kept = await (await caches.open(VERSION)).match(request);
  if (kept && request.mode !== "navigate") return kept;
  try {
    return await fetch(request, { signal: AbortSignal.timeout(3_000) });
  } catch {
    return kept ?? Response.error();
  }
}
