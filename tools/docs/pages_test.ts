/** The pages of the documentation site: links that lead somewhere, codes that are explained. */

import { deepEqual, match } from "node:assert/strict";
import { posix } from "node:path";
import { render } from "./markdown.ts";
import { groups, linksOf, type Page, root } from "./pages.ts";

const all = groups();
const pages = all.flatMap(({ pages }) => pages);
const linkFrom = linksOf(all);
const rendered = new Map(pages.map((page) => [page.path, htmlOf(page)]));

function htmlOf(page: Page): string {
  return render(page.text, (target) => linkFrom(page, target)).html;
}

const idsOf = (html: string) =>
  new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id));

/** Links of a page to places that there are not. */
function deadLinks([path, html]: [string, string]): string[] {
  return Array.from(html.matchAll(/href="([^"]+)"/g), ([, href]) => href!)
    .filter((href) => !/^[a-z]+:/.test(href))
    .filter((href) => {
      const [to = "", hash] = href.split("#");
      const target = to === "" ? path : posix.join(posix.dirname(path), to);
      if (target === "decisions/") return false;
      const found = rendered.get(target);
      return found === undefined ||
        hash !== undefined && !idsOf(found).has(hash);
    })
    .map((href) => `${path}: ${href}`);
}

Deno.test("the site's pages link to parts that are there", () => {
  deepEqual([...rendered].flatMap(deadLinks), []);
});

Deno.test("the guide explains every error code", () => {
  const ids = idsOf(rendered.get("guide/errors.html")!);
  const source = Deno.readTextFileSync(new URL("src/base/errors.ts", root));
  const [, union = ""] = /type ErrorCode =([^]*?);\n/.exec(source) ?? [];
  const codes = Array.from(
    union.matchAll(/\| "([a-z-]+)"/g),
    ([, one]) => one!,
  );
  match(codes.join(), /^invalid-name,.*already-connected$/);
  deepEqual(codes.filter((code) => !ids.has(code)), []);
});
