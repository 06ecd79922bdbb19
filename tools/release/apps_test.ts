/** The npm package in apps of every common bundler, each built and used in a browser. */

import { equal, match } from "node:assert/strict";
import { type BrowserPlace, browserTest } from "../../tests/browser/kit/mod.ts";
import {
  type App,
  build,
  database,
  example,
  served,
  tellTexts,
  useApp,
  withApp,
} from "./apps.ts";
import { pack, type Packed } from "./pack.ts";

/** npm, a bundler and a browser, on a machine that does other things. */
const SECONDS_MAX = 290;

/** How often `useApp()` loads the page. */
const LOADS = 3;

const ADDRESS = ["--host", "127.0.0.1", "--port", "0"] as const;

const react: App = {
  packages: ["react@19", "react-dom@19"],
  files: {
    ...database(),
    "react.jsx": "react.jsx",
    "main.jsx": "react_main.jsx",
    "index.html": page("main.jsx"),
  },
};

const target = Deno.makeTempDirSync({ prefix: "sheaf-pack-" });
let packed: Promise<Packed> | undefined;

function appTest(
  name: string,
  app: App,
  use: (folder: string, place: BrowserPlace) => Promise<void>,
): void {
  const options = { entries: {}, secondsMax: SECONDS_MAX };
  browserTest(`the package in an app: ${name}`, options, async (place) => {
    packed ??= pack(target);
    const { tarball } = await packed;
    await withApp(tarball, app, (folder) => use(folder, place));
  });
}

Deno.test.afterAll(() => Deno.removeSync(target, { recursive: true }));

function page(script: string): string {
  return `<!DOCTYPE html>
<title>Tasks</title>
<link rel="icon" href="data:,">
<body>
  <div id="app"></div>
  <script type="module" src="/${script}"></script>
</body>
`;
}

/** Its server for who develops, and what it builds. */
function viteTest(name: string, { packages, files }: App): void {
  const app = { packages: ["vite@8", ...packages], files };
  const isWithPlugin = files["vite.config.js"]?.includes("@sheaf/sheaf/vite");
  appTest(`Vite, ${name}`, app, async (folder, { context }) => {
    await served(folder, ["vite", ...ADDRESS], async (url) => {
      const loads = await useApp(context, url);
      // Vite finds packages of workers late, and loads the page again.
      equal(loads, isWithPlugin ? LOADS : LOADS + 1);
    });
    equal(tellTexts(`${folder}/node_modules/.vite`), true);
    await build(folder, "vite", "build");
    equal(tellTexts(`${folder}/dist`), false);
    if (isWithPlugin) equal(copiesIn(`${folder}/dist/assets`), 1);
    const preview = ["vite", "preview", ...ADDRESS] as const;
    await served(folder, preview, async (url) => {
      equal(await useApp(context, url), LOADS);
    });
  });
}

/** How many scripts have the code of the log in them, by what its files begin with. */
function copiesIn(folder: string): number {
  const scripts = [...Deno.readDirSync(folder)]
    .map(({ name }) => Deno.readTextFileSync(`${folder}/${name}`));
  return scripts.filter((text) => text.includes("SHEAFLOG")).length;
}

viteTest("React in StrictMode", react);

viteTest("Preact", {
  packages: ["preact@11"],
  files: {
    ...database(),
    "main.tsx": "preact.jsx",
    "index.html": page("main.tsx"),
    "tsconfig.json":
      `{ "compilerOptions": { "jsx": "react-jsx", "jsxImportSource": "preact" } }`,
    "tasks.js": "tasks_vite.js",
    "vite.config.js": `import { sheaf } from "@sheaf/sheaf/vite";
export default { plugins: [sheaf()] };
`,
  },
});

viteTest("Vue as in the guide", {
  packages: ["vue@3", "@vitejs/plugin-vue"],
  files: {
    ...database(),
    "App.vue": example("vue"),
    "main.js": `import { createApp } from "vue";
import App from "./App.vue";
createApp(App).mount("#app");
`,
    "index.html": page("main.js"),
    "vite.config.js": `import vue from "@vitejs/plugin-vue";
export default { plugins: [vue()] };
`,
  },
});

viteTest("Svelte as in the guide", {
  packages: ["svelte@5", "@sveltejs/vite-plugin-svelte"],
  files: {
    ...database(),
    "App.svelte": example("svelte"),
    "main.js": `import { mount } from "svelte";
import App from "./App.svelte";
mount(App, { target: document.getElementById("app") });
`,
    "index.html": page("main.js"),
    "vite.config.js": `import { svelte } from "@sveltejs/vite-plugin-svelte";
export default { plugins: [svelte()] };
`,
  },
});

viteTest("Solid as in the guide", {
  packages: ["solid-js@1", "vite-plugin-solid"],
  files: {
    ...database(),
    "app.jsx": example("jsx ignore"),
    "main.jsx": `import { render } from "solid-js/web";
import { Open } from "./app.jsx";
render(() => <Open />, document.getElementById("app"));
`,
    "index.html": page("main.jsx"),
    "vite.config.js": `import solid from "vite-plugin-solid";
export default { plugins: [solid()] };
`,
  },
});

appTest(
  "esbuild, React",
  { ...react, packages: [...react.packages, "esbuild"] },
  async (folder, place) => {
    const flags = ["--bundle", "--splitting", "--format=esm"];
    const jsx = "--jsx=automatic";
    const out = `--outdir=${place.folder}`;
    await build(folder, "esbuild", "main.jsx", "worker.js", ...flags, jsx, out);
    Deno.writeTextFileSync(`${place.folder}/index.html`, page("main.js"));
    await useApp(place.context, `${place.url}/index.html`);
  },
);

const wrong = `import "./plain.js";
import { tasks } from "./tasks.js";
try {
  tasks.create({ title: 3 });
} catch ({ message }) {
  document.title = message;
}
`;

/** What esbuild must be told for a build without texts of errors. */
const PRODUCTION = ["--conditions=production"];

for (const isForPage of [true, false]) {
  appTest(
    `page and worker of two builds, ${
      isForPage ? "page" : "worker"
    } with texts`,
    {
      packages: ["esbuild"],
      files: { ...database(), "plain.js": "plain.js", "main.js": wrong },
    },
    async (folder, place) => {
      const bundle = async (entry: string, hasTexts: boolean) => {
        const out = `${place.folder}/${entry}`;
        const flags = ["--bundle", "--format=esm", "--minify"];
        if (!hasTexts) flags.push(...PRODUCTION);
        await build(folder, "esbuild", entry, ...flags, `--outfile=${out}`);
        const text = Deno.readTextFileSync(out);
        equal(/Cannot open /.test(text), hasTexts);
      };
      await bundle("main.js", isForPage);
      await bundle("worker.js", !isForPage);
      Deno.writeTextFileSync(`${place.folder}/index.html`, page("main.js"));
      await useApp(place.context, `${place.url}/index.html`);
      const tab = await place.context.newPage();
      await tab.goto(`${place.url}/index.html`);
      await tab.waitForSelector("button");
      match(
        await tab.title(),
        isForPage ? /^Cannot write task\.title: / : /^#.*"task","title"/,
      );
    },
  );
}

appTest(
  "webpack, no framework",
  {
    packages: ["webpack@5", "webpack-cli"],
    files: { ...database(), "main.js": "plain.js" },
  },
  async (folder, place) => {
    const mode = ["--mode", "production", "--entry", "./main.js"];
    await build(folder, "webpack", ...mode, "--output-path", place.folder);
    equal(tellTexts(place.folder), false);
    Deno.writeTextFileSync(`${place.folder}/index.html`, page("main.js"));
    await useApp(place.context, `${place.url}/index.html`);
  },
);

const next: App = {
  packages: ["next@16", "react@19", "react-dom@19"],
  files: {
    ...database("app/"),
    "app/react.jsx": "react.jsx",
    "app/page.jsx": "next_page.jsx",
    "app/layout.jsx": "next_layout.jsx",
  },
};

for (const bundler of ["turbopack", "webpack"]) {
  appTest(`Next.js by ${bundler}`, next, async (folder, { context }) => {
    await build(folder, "next", "build", `--${bundler}`);
    equal(tellTexts(`${folder}/.next/static`), false);
    const start = ["next", "start", "-H", "127.0.0.1", "-p", "0"] as const;
    await served(folder, start, (url) => useApp(context, url));
  });
}
