/**
 * Text tables: aligned columns that fit the terminal, numbers to the right.
 *
 * Cells are escaped here, so a table may always be printed as it is.
 */

import { escapeControls } from "./output.ts";

export interface TableColumn {
  readonly title: string;
  /** Where its cells stand; default left. */
  readonly align?: "left" | "right";
}

/** No column is cut below this many characters. */
const narrowest = 6;
const gap = "  ";

// Emoji, and the East Asian blocks whose characters take two cells.
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60])/u;
const marks = /\p{M}/gu;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** How many terminal cells a text takes (escaped text; good, not perfect). */
export function displayWidth(text: string): number {
  // deno-lint-ignore no-control-regex -- the class is exactly "plain ASCII"
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += wide.test(segment) ? 2 : segment.replace(marks, "") ? 1 : 0;
  }
  return width;
}

/** The text, cut with an ellipsis when it is wider than `width` cells. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const more = displayWidth(segment);
    if (used + more > width - 1) break;
    kept += segment;
    used += more;
  }
  return `${kept}…`;
}

export function pad(
  text: string,
  width: number,
  align: "left" | "right" = "left",
): string {
  const fill = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "right" ? fill + text : text + fill;
}

/** A table as text, one line per row, with a header; no `widthMax` cuts nothing. */
export function formatTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  widthMax?: number,
): string {
  const cells = rows.map((row) =>
    row.map((cell) => escapeControls(clip(cell, widthMax)))
  );
  const titles = columns.map((column) => escapeControls(column.title));
  const widths = fit(naturalWidths(titles, cells), widthMax);
  const rule = widths.map((width) => "─".repeat(width));
  return [titles, rule, ...cells]
    .map((row) => formatLine(row, columns, widths))
    .join("");
}

/** Spares measuring megabytes of which a line can show a few hundred characters. */
function clip(text: string, widthMax: number | undefined): string {
  if (widthMax === undefined || text.length <= widthMax * 8) return text;
  return text.slice(0, widthMax * 8).toWellFormed();
}

function formatLine(
  row: readonly string[],
  columns: readonly TableColumn[],
  widths: readonly number[],
): string {
  const cells = columns.map((column, i) => {
    const width = widths[i] ?? 0;
    return pad(cut(row[i] ?? "", width), width, column.align);
  });
  return `${cells.join(gap).trimEnd()}\n`;
}

function naturalWidths(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): number[] {
  const widths = titles.map(displayWidth);
  for (const row of rows) {
    for (let i = 0; i < widths.length; i++) {
      widths[i] = Math.max(widths[i] ?? 0, displayWidth(row[i] ?? ""));
    }
  }
  return widths;
}

/** Takes from the widest column until all fit, never below the narrowest. */
function fit(widths: number[], widthMax: number | undefined): number[] {
  if (widthMax === undefined) return widths;
  widths = widths.map((width) => Math.min(width, widthMax));
  let over = widths.reduce((sum, width) => sum + width + gap.length, 0) -
    gap.length - widthMax;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= narrowest) break;
    widths[widths.indexOf(widest)] = widest - 1;
    over--;
  }
  return widths;
}
