/**
 * `deno task docs`: the documentation site, in `.site/`, from docs/ and the
 * comments of the public API. `sheaf serve --static .site` gives it out.
 *
 * `--out FOLDER` writes it elsewhere. With it come `llms.txt` and
 * `llms-full.txt`, for programs that read.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { dirname, posix } from "node:path";
import * as esbuild from "esbuild";
import MiniSearch from "minisearch";
import { frame, type ListedGroup } from "./frame.ts";
import { colour, render, type Section } from "./markdown.ts";
import { groups, linksOf, type Page, root } from "./pages.ts";
import { type Entry, readReference } from "./reference.ts";
import { type Found, searchOptions } from "./search_options.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: { out: { type: "string", default: ".site" } },
});
const out = values.out;
const all = groups();
const reference = await readReference();
const linkFrom = linksOf(all);
const listed: ListedGroup[] = [
  ...all.slice(0, -2),
  {
    title: "Reference",
    pages: reference.map(({ page, specifier }) => ({
      path: `api/${page}.html`,
      title: specifier,
    })),
  },
  ...all.slice(-2),
];
const found: Omit<Found, "id">[] = [];

function write(path: string, text: string): void {
  Deno.mkdirSync(dirname(`${out}/${path}`), { recursive: true });
  Deno.writeTextFileSync(`${out}/${path}`, text);
}

function remember(
  path: string,
  page: string,
  sections: readonly Section[],
): void {
  for (const { id, heading, text } of sections) {
    if (heading === "" && text === "") continue;
    const at = id === "" ? path : `${path}#${id}`;
    found.push({ path: at, page, heading: heading || page, text });
  }
}

function writePage(page: Page): void {
  const { html, sections } = render(
    page.text,
    (target) => linkFrom(page, target),
  );
  write(page.path, frame(page, html, listed));
  // Figures and lists of tests are not what somebody searches for.
  if (!/promises|mutants|benchmarks\.html$/.test(page.path)) {
    remember(page.path, page.title, sections);
  }
}

/** All that an entry point exports, on one page. */
function writeEntry({ specifier, page, comment, exported }: Entry): void {
  const path = `api/${page}.html`;
  const none = () => undefined;
  const names = exported.map(({ name }) => `<a href="#${name}">${name}</a>`);
  const parts = exported.map(({ name, comment, declaration }) =>
    `<h2 id="${name}"><a href="#${name}">${name}</a></h2>\n${
      render(comment, none).html
    }<pre><code>${colour(declaration, "ts")}</code></pre>`
  );
  const html = `<h1>${specifier}</h1>\n${render(comment, none).html}
<p class="names">${names.join(" ")}</p>\n${parts.join("\n")}`;
  write(path, frame({ path, title: specifier }, html, listed));
  remember(
    path,
    specifier,
    exported.map(({ name, comment }) => ({
      id: name,
      heading: name,
      text: comment,
    })),
  );
}

function writeIndex(): void {
  const index = new MiniSearch<Found>(searchOptions);
  index.addAll(found.map((one, id) => ({ id, ...one })));
  write("search.json", JSON.stringify(index));
}

/** Decisions have no page that lists them in the repository. */
function writeDecisions(): void {
  const { pages } = all.at(-1)!;
  const items = pages.map(({ path, title }) =>
    `<li><a href="${posix.basename(path)}">${title}</a></li>`
  );
  const path = "decisions/index.html";
  const html = `<h1>Decisions</h1><ul>${items.join("")}</ul>`;
  write(path, frame({ path, title: "Decisions" }, html, listed));
}

/** As https://llmstxt.org has it: a list of pages, and all guides in one text. */
function writeForPrograms(): void {
  const guides = all.slice(1, -2);
  const list = guides.map(({ title, pages }) =>
    `## ${title}\n\n${
      pages.map((one) => `- [${one.title}](${one.path})`).join("\n")
    }\n`
  );
  const [first] = all[0]!.pages;
  const [, summary = ""] = /^# .+\n\n(.+)$/m.exec(first!.text) ?? [];
  write("llms.txt", `# Sheaf\n\n> ${summary}\n\n${list.join("\n")}`);
  const texts = [first!, ...guides.flatMap(({ pages }) => pages)]
    .map(({ text }) => text.trim());
  write("llms-full.txt", `${texts.join("\n\n")}\n`);
}

await Deno.remove(out, { recursive: true }).catch(() => {});
for (const { pages } of all) for (const page of pages) writePage(page);
for (const entry of reference) writeEntry(entry);
writeDecisions();
writeIndex();
writeForPrograms();
for (
  const { name, isFile } of Deno.readDirSync(new URL("docs/images/", root))
) {
  if (!isFile) continue;
  Deno.mkdirSync(`${out}/images`, { recursive: true });
  const image = new URL(`docs/images/${name}`, root);
  Deno.copyFileSync(image, `${out}/images/${name.toLowerCase()}`);
}
await esbuild.build({
  entryPoints: [new URL("site_page.ts", import.meta.url).pathname],
  outfile: `${out}/site.js`,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  logLevel: "warning",
});
await esbuild.stop();
Deno.copyFileSync(new URL("site.css", import.meta.url), `${out}/site.css`);
console.log(`${out}: ${found.length} sections`);
console.log("deno task serve --static .site --port 8080 serves them");
