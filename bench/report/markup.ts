/**
 * HTML and SVG that cannot be broken by what is put into them.
 *
 * Architecture invariant: text reaches a page only through {@linkcode html},
 * which escapes everything that is not markup already; names and errors of
 * engines are foreign text.
 *
 * @module
 */

/** Text that is markup and was made by {@linkcode html}. */
export class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** What may stand in a template: text is escaped, markup is not, nothing is nothing. */
export type Part =
  | string
  | number
  | Markup
  | undefined
  | false
  | readonly Part[];

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as it must stand in HTML, between tags or in a quoted attribute. */
export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => escapes[sign] ?? sign);
}

/** Markup from a template; quote the attributes. */
export function html(
  strings: TemplateStringsArray,
  ...parts: readonly Part[]
): Markup {
  let text = strings[0] ?? "";
  parts.forEach((part, at) => text += textOf(part) + (strings[at + 1] ?? ""));
  return new Markup(text);
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Markup) return part.toString();
  if (typeof part === "string") return escapeText(part);
  if (typeof part === "number") return String(Math.round(part * 100) / 100);
  return part.map(textOf).join("");
}
