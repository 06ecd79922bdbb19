/**
 * How figures and tables are written, for eyes.
 *
 * @module
 */

/** A size as people say it: 1k, 100k, 1m. */
export function showSize(size: number): string {
  if (size % 1_000_000 === 0) return `${size / 1_000_000}m`;
  return size % 1_000 === 0 ? `${size / 1_000}k` : `${size}`;
}

/** Lines of text with the columns below each other; numbers stand to the right. */
export function alignColumns(
  rows: readonly (readonly string[])[],
  leftColumns: number,
): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, at) =>
      widths[at] = Math.max(widths[at] ?? 0, cell.length)
    );
  }
  return rows.map((row) =>
    row.map((cell, at) => {
      if (at === row.length - 1) return cell;
      const width = widths[at] ?? 0;
      return at < leftColumns ? cell.padEnd(width) : cell.padStart(width);
    }).join("  ").trimEnd()
  );
}
