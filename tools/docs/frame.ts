/**
 * What stands around the text of each page: the list of pages, search, the
 * choice of light and dark.
 *
 * @module
 */

import { escape } from "./markdown.ts";

/** A page in the list. */
export interface Listed {
  readonly path: string;
  readonly title: string;
}

export interface ListedGroup {
  readonly title: string;
  readonly pages: readonly Listed[];
}

/** Groups that are shut until one of their pages is shown. */
const SHUT = ["Inside", "Decisions"];

/** A whole page. */
export function frame(
  { path, title }: Listed,
  html: string,
  groups: readonly ListedGroup[],
): string {
  const up = "../".repeat(path.split("/").length - 1);
  const item = (one: Listed) =>
    `<li><a href="${up}${one.path}"${
      one.path === path ? ' aria-current="page"' : ""
    }>${escape(one.title)}</a></li>`;
  const list = groups.map(({ title, pages }) => {
    const isOpen = !SHUT.includes(title) ||
      pages.some((one) => one.path === path);
    return `<details${isOpen ? " open" : ""}><summary>${title}</summary><ul>${
      pages.map(item).join("")
    }</ul></details>`;
  }).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === "Sheaf" ? title : `${escape(title)} · Sheaf`}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}site.css">
<script type="module" src="${up}site.js" data-root="${up}"></script>
</head>
<body>
<header>
<a class="name" href="${up}index.html">Sheaf</a>
<search><input type="search" placeholder="Search ( / )" aria-label="Search" autocomplete="off"><ol hidden></ol></search>
<button id="theme" aria-label="Light or dark">◐</button>
<button id="menu" aria-label="Pages" aria-expanded="false">☰</button>
</header>
<nav aria-label="Pages">${list}</nav>
<main>
${html}
</main>
</body>
</html>
`;
}
