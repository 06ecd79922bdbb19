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
const WORKER_CHUNK = "sheaf_worker";
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

/** Says what a script asks for ahead of one that it imports late. */
export type ViteDependencies = (
  file: string,
  dependencies: string[],
  from: { readonly hostId: string; readonly hostType: "html" | "js" },
) => string[];

/** What an app may say of that. */
export interface ViteDependencyOptions {
  readonly resolveDependencies?: ViteDependencies;
}

/** What is used of an app's own settings. */
export interface ViteOptions {
  readonly build?: {
    readonly modulePreload?: boolean | ViteDependencyOptions;
  };
}

/** What is used of a script that was built. */
export interface ViteChunk {
  readonly type: "chunk" | "asset";
  readonly name?: string | undefined;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

/** What Vite asks of a plugin. */
export interface SheafPlugin {
  readonly name: string;
  readonly enforce: "pre";
  config(app: ViteOptions): {
    readonly optimizeDeps: { readonly include: string[] };
    readonly resolve: { readonly dedupe: string[] };
    readonly build?: {
      readonly modulePreload: { resolveDependencies: ViteDependencies };
    };
  };
  generateBundle(
    options: unknown,
    bundle: Readonly<Record<string, ViteChunk>>,
  ): void;
  configResolved(settings: ViteSettings): void;
  resolveId(name: string): string | undefined;
  load(this: ViteBuild, id: string): string | undefined;
}

/** The plugin: `@sheaf/sheaf/worker?url` is the address of a worker that shares its scripts with the page. */
export function sheaf(): SheafPlugin {
  const own = `\0${ADDRESS}`;
  let settings: ViteSettings | undefined;
  const inWorker = new Set<string>();
  // A worker has no document to preload with.
  const preloadOf = (app: unknown) => {
    const { resolveDependencies: own } = Object(app) as ViteDependencyOptions;
    const resolveDependencies: ViteDependencies = (file, all, from) =>
      inWorker.has(from.hostId) ? [] : own?.(file, all, from) ?? all;
    return { resolveDependencies };
  };
  return {
    name: "sheaf",
    enforce: "pre",
    // What a worker imports is otherwise found late, and the page loaded again.
    config: ({ build: { modulePreload } = {} }) => ({
      optimizeDeps: { include: [WORKER] },
      resolve: { dedupe: ONCE },
      ...modulePreload !== false && {
        build: { modulePreload: preloadOf(modulePreload) },
      },
    }),
    generateBundle(_, bundle) {
      inWorker.clear();
      for (const [file, { name }] of Object.entries(bundle)) {
        if (name === WORKER_CHUNK) collect(file, bundle, inWorker);
      }
    },
    configResolved: (resolved) => void (settings = resolved),
    resolveId: (name) => name === ADDRESS ? own : undefined,
    load(id) {
      if (id !== own) return undefined;
      const { base = "/", command } = settings ?? {};
      if (command !== "build") {
        return `export default ${JSON.stringify(`${base}@id/${WORKER}`)};`;
      }
      const made = this.emitFile({
        type: "chunk",
        id: WORKER,
        name: WORKER_CHUNK,
      });
      return `export default import.meta.ROLLUP_FILE_URL_${made};`;
    },
  };
}

/** A script and all that it may load. */
function collect(
  file: string,
  bundle: Readonly<Record<string, ViteChunk>>,
  found: Set<string>,
): void {
  if (found.has(file)) return;
  found.add(file);
  const { imports = [], dynamicImports = [] } = bundle[file] ?? {};
  for (const one of [...imports, ...dynamicImports]) {
    collect(one, bundle, found);
  }
}
