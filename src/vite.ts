/**
 * A plugin of Vite, published as `@sheaf/sheaf/vite`: the worker of a page becomes
 * a part of the page's own build, so that both load one copy of what they share.
 * By itself Vite builds a worker alone, and all that it may ever need into it.
 *
 * @example
 * ```ts ignore
 * // vite.config.js
 * import { sheaf } from "@sheaf/sheaf/vite";
 * export default { plugins: [sheaf()] };
 *
 * // where the database is opened
 * import worker from "@sheaf/sheaf/worker?url";
 * const db = await openDatabase({ name: "board", worker, schemas: [Task] });
 * ```
 *
 * @module
 */

const WORKER = "@sheaf/sheaf/worker";
const ADDRESS = `${WORKER}?url`;

/** Packages of which a page has one, wherever Sheaf is linked from. */
const ONCE = ["preact", "react", "react-dom"];

/** What is used of a build of Vite's. */
export interface ViteBuild {
  /** Makes a script of its own; gives what stands for its address. */
  emitFile(file: { type: "chunk"; id: string; name: string }): string;
}

/** What is used of its settings. */
export interface ViteSettings {
  readonly command: string;
  readonly base: string;
}

/** What Vite asks of a plugin. */
export interface SheafPlugin {
  readonly name: string;
  readonly enforce: "pre";
  config(): {
    readonly optimizeDeps: { readonly include: string[] };
    readonly resolve: { readonly dedupe: string[] };
  };
  configResolved(settings: ViteSettings): void;
  resolveId(name: string): string | undefined;
  load(this: ViteBuild, id: string): string | undefined;
}

/** The plugin: `@sheaf/sheaf/worker?url` is the address of a worker that shares its scripts with the page. */
export function sheaf(): SheafPlugin {
  const own = `\0${ADDRESS}`;
  let settings: ViteSettings | undefined;
  return {
    name: "sheaf",
    enforce: "pre",
    // What a worker imports is otherwise found late, and the page loaded again.
    config: () => ({
      optimizeDeps: { include: [WORKER] },
      resolve: { dedupe: ONCE },
    }),
    configResolved: (resolved) => void (settings = resolved),
    resolveId: (name) => name === ADDRESS ? own : undefined,
    load(id) {
      if (id !== own) return undefined;
      const { base = "/", command } = settings ?? {};
      if (command !== "build") {
        return `export default ${JSON.stringify(`${base}@id/${WORKER}`)};`;
      }
      const name = "sheaf_worker";
      const made = this.emitFile({ type: "chunk", id: WORKER, name });
      return `export default import.meta.ROLLUP_FILE_URL_${made};`;
    },
  };
}
