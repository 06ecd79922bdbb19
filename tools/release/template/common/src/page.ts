/// <reference types="vite/client" />

// Another list is another page.
addEventListener("hashchange", () => location.reload());

// Starts without a network, once it is built: see service_worker.js.
if (import.meta.env.PROD) {
  void navigator.serviceWorker.register("/service_worker.js");
}
