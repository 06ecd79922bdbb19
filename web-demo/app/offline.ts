/**
 * The page's half of the service worker: it registers it, and says when a new
 * version waits. Nothing is replaced under somebody's hands.
 *
 * @module
 */

import { tell } from "../state/say.ts";

const CHECK_MS = 30 * 60_000;

/** Registers the service worker, and tells of updates. */
export function followServiceWorker(): void {
  if (!("serviceWorker" in navigator)) return;
  const { serviceWorker } = navigator;
  let isReplacing = false;
  serviceWorker.addEventListener("controllerchange", () => {
    if (isReplacing) location.reload();
  });
  const offer = (registration: ServiceWorkerRegistration) =>
    tell("A new version is here.", {
      staysMs: Infinity,
      action: {
        label: "Use it",
        run: () => {
          isReplacing = true;
          const { waiting } = registration;
          // Where none waits any more it has taken over: another page asked for it, or the browser did it by itself.
          if (waiting === null) location.reload();
          else waiting.postMessage("take-over");
        },
      },
    });
  serviceWorker.register("/sw.js", { type: "module" }).then((registration) => {
    if (registration.waiting) offer(registration);
    registration.addEventListener("updatefound", () => {
      const worker = registration.installing;
      worker?.addEventListener("statechange", () => {
        // Without a controller it is the first one: nothing is replaced.
        const isUpdate = worker.state === "installed" &&
          serviceWorker.controller !== null;
        if (isUpdate) offer(registration);
      });
    });
    const check = () => void registration.update().catch(() => {});
    setInterval(check, CHECK_MS);
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") check();
    });
  }).catch((error: unknown) => console.warn("No cold start offline:", error));
}
