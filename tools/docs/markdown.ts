/**
 * Markdown as HTML: headings with addresses, code in colours, links between
 * pages, and rows of tables that explain a code as places to link to.
 *
 * @module
 */

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import ini from "highlight.js/lib/languages/ini";
import json from "highlight.js/lib/languages/json";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import { Marked, type Tokens } from "marked";

hljs.registerLanguage("sh", bash);
hljs.registerLanguage("ini", ini);
hljs.registerLanguage("json", json);
hljs.registerLanguage("ts", typescript);
hljs.registerLanguage("html", xml);

const ALIASES: Readonly<Record<string, string>> = {
  ...{ tsx: "ts", jsx: "ts", js: "ts", vue: "html", svelte: "html" },
};

/** A part of a page, from one heading to the next. */
export interface Section {
  readonly id: string;
  readonly heading: string;
  /** What it says, without marks. */
  readonly text: string;
}

export interface Rendered {
  readonly html: string;
  readonly sections: readonly Section[];
}

/** Text as it stands in HTML. */
export function escape(text: string): string {
  return text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
}

/** A heading's address, as GitHub makes it. */
export function slug(heading: string): string {
  return heading.toLowerCase().replace(/<[^>]*>|[^\p{L}\p{N}\s_-]/gu, "")
    .trim().replace(/\s/g, "-");
}

/** Code in colours. */
export function colour(code: string, language: string): string {
  const known = ALIASES[language] ?? language;
  if (!hljs.getLanguage(known)) return escape(code);
  return hljs.highlight(code, { language: known }).value;
}

/** What stands between tags and marks. */
const plain = (text: string) =>
  text.replace(/```[^]*?```/g, " ").replace(
    /\]\([^)]*\)|[`*#|[\]]|<[^>]*>/g,
    " ",
  )
    .replace(/-{3,}/g, " ").replace(/\s+/g, " ").trim();

/**
 * Renders a page.
 *
 * @param link gives the address of what a link names; `undefined` where the site has no such page
 */
export function render(
  markdown: string,
  link: (target: string) => string | undefined,
): Rendered {
  const sections: Section[] = [];
  const taken = new Map<string, number>();
  const idOf = (heading: string) => {
    const id = slug(heading);
    const before = taken.get(id) ?? 0;
    taken.set(id, before + 1);
    return before === 0 ? id : `${id}-${before}`;
  };
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const id = idOf(text);
        const inner = this.parser.parseInline(tokens);
        return `<h${depth} id="${id}"><a href="#${id}">${inner}</a></h${depth}>\n`;
      },
      code({ text, lang = "" }: Tokens.Code): string {
        const [language = ""] = lang.split(" ");
        return `<pre><code>${colour(text, language)}</code></pre>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const inner = this.parser.parseInline(tokens);
        const target = /^[a-z]+:/.test(href) ? href : link(href);
        return target === undefined
          ? inner
          : `<a href="${escape(target)}">${inner}</a>`;
      },
      image({ href, text }: Tokens.Image): string {
        const source = link(href) ?? href;
        return `<img src="${escape(source)}" alt="${
          escape(text)
        }" loading="lazy">`;
      },
      table({ header, rows }: Tokens.Table): string {
        const cell = (tag: string) => ({ tokens }: Tokens.TableCell) =>
          `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
        const body = rows.map((row) => {
          const [first = ""] = row.map(({ text }) => text);
          const codes = /^[`a-z, -]+$/.test(first)
            ? first.match(/(?<=`)[a-z-]+(?=`)/g) ?? []
            : [];
          const id = codes.find((one) => !taken.has(one));
          if (id !== undefined) taken.set(id, 1);
          const cells = row.map(cell("td")).join("");
          return `<tr${id === undefined ? "" : ` id="${id}"`}>${cells}</tr>`;
        });
        return `<div class="table"><table><thead><tr>${
          header.map(cell("th")).join("")
        }</tr></thead><tbody>${body.join("\n")}</tbody></table></div>\n`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  const parts = markdown.replace(/^```[^]*?^```$/gm, "").split(/^(?=#{1,3} )/m);
  const seen = new Map<string, number>();
  for (const part of parts) {
    const [, heading = ""] = /^#+ (.+)$/m.exec(part) ?? [];
    const id = slug(heading);
    const before = seen.get(id) ?? 0;
    seen.set(id, before + 1);
    sections.push({
      id: before === 0 ? id : `${id}-${before}`,
      heading: plain(heading),
      text: plain(part.replace(/^#+ .+$/m, "")),
    });
  }
  return { html, sections };
}
