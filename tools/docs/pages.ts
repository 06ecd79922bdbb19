/**
 * Which pages the documentation site has, in which order.
 *
 * @module
 */

import { posix } from "node:path";

/** The repository's folder. */
export const root: URL = new URL("../../", import.meta.url);

/** A page that is made of a file of Markdown. */
export interface Page {
  /** Path of the file in the repository. */
  readonly source: string;
  /** Path of the page in the site. */
  readonly path: string;
  /** Markdown. */
  readonly text: string;
  readonly title: string;
}

/** A part of the list of pages. */
export interface Group {
  readonly title: string;
  readonly pages: readonly Page[];
}

const GUIDES: Readonly<Record<string, readonly string[]>> = {
  "First steps": ["start", "create", "trial", "comparison"],
  "Data": ["schema", "queries", "kv", "history", "conflicts", "modes"],
  "Pages": ["browser", "preact", "tabs", "text", "undo", "storage"],
  "Sync": ["sync", "sessions", "rules", "membership", "constraints"],
  "Servers": ["server", "embedding", "node", "production"],
  "Tools": ["command-line", "inspector", "benchmarks", "errors"],
};

/** Everything in docs/ that is no guide. */
const INSIDE = [
  ...["architecture", "protocol", "security", "security-losses"],
  ...["format", "format-checkpoint", "format-kv", "format-opfs"],
  ...["format-redaction", "format-salvage", "format-text", "tabs"],
  ...["glossary", "benchmarks", "style", "testing", "testing-browser"],
  ...["testing-simulation", "promises", "mutants"],
];

const read = (path: string) => Deno.readTextFileSync(new URL(path, root));

function page(source: string, path = pathOf(source)): Page {
  const text = read(source);
  const [, title = source] = /^# (.+)$/m.exec(text) ?? [];
  return { source, path, text, title };
}

/** Where a file of Markdown is in the site. */
export function pathOf(source: string): string {
  return source.replace(/^README\.md$/, "index.md").replace(/^docs\//, "")
    .replace(/\.md$/, ".html").toLowerCase();
}

/** Gives where a link of a page leads in the site, if anywhere; pictures come along. */
export function linksOf(
  groups: readonly Group[],
): (page: Page, target: string) => string | undefined {
  const paths = new Map(
    groups.flatMap(({ pages }) => pages).map((one) => [one.source, one.path]),
  );
  return (page, target) => {
    if (target.startsWith("#")) return target;
    const [path = "", hash] = target.split("#");
    const source = posix.join(posix.dirname(page.source), path);
    const up = "../".repeat(page.path.split("/").length - 1);
    const to = paths.get(source);
    if (to !== undefined) return `${up}${to}${hash ? `#${hash}` : ""}`;
    if (source.startsWith("docs/images/")) return `${up}${pathOf(source)}`;
    return /^docs\/decisions\/?$/.test(source) ? `${up}decisions/` : undefined;
  };
}

/** All pages, in their order; a guide that no group names is an error. */
export function groups(): Group[] {
  const guides = Object.entries(GUIDES).map(([title, names]) => ({
    title,
    pages: names.map((name) => page(`docs/guide/${name}.md`)),
  }));
  const named = guides.flatMap(({ pages }) => pages.map((one) => one.source));
  for (const { name } of Deno.readDirSync(new URL("docs/guide/", root))) {
    if (name.endsWith(".md") && !named.includes(`docs/guide/${name}`)) {
      throw new Error(`tools/docs/pages.ts names no group for ${name}`);
    }
  }
  const decisions = [...Deno.readDirSync(new URL("docs/decisions/", root))]
    .map(({ name }) => `docs/decisions/${name}`).sort();
  return [
    { title: "Sheaf", pages: [page("README.md"), page("CHANGELOG.md")] },
    ...guides,
    { title: "Inside", pages: INSIDE.map((name) => page(`docs/${name}.md`)) },
    { title: "Decisions", pages: decisions.map((name) => page(name)) },
  ];
}
