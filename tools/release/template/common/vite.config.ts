import { readFileSync } from "node:fs";
import { sheaf } from "@sheaf/sheaf/vite";
import { defineConfig, type Plugin } from "vite";

/** The service worker, which is told what was built. */
function offline(): Plugin {
  return {
    name: "offline",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const built = Object.keys(bundle).filter((name) =>
        !name.endsWith(".map")
      );
      const files = [
        "/",
        ...built.filter((name) => name !== "index.html").map((name) =>
          `/${name}`
        ),
      ];
      this.emitFile({
        type: "asset",
        fileName: "service_worker.js",
        source: `const VERSION = "${Date.now()}";
const FILES = ${JSON.stringify(files)};
${readFileSync("src/service_worker.js", "utf8")}`,
      });
    },
  };
}

// What the sync server answers: see server/dev.ts.
const server = {
  target: "http://127.0.0.1:8080",
  changeOrigin: false,
  ws: true,
};

export default defineConfig({
  plugins: [sheaf(), offline()],
  server: { proxy: { "/sync": server, "/login": server, "/sheaf": server } },
  build: { target: "es2022" },
});
