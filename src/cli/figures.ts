/** Figures for people: counts, bytes, durations and moments as short text. */

const counts = new Intl.NumberFormat("en-US");

/** `171,075`. */
export function formatCount(value: number): string {
  return counts.format(value);
}

/** `1 row`, `2 rows`, `171,075 rows`. */
export function formatAmount(
  value: number,
  one: string,
  many = `${one}s`,
): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

/** `812 B`, `4.1 KB`, `17.1 MB`, in powers of 1000. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** `0.08 ms`, `12.4 ms`, `1.24 s`, `2 min 05 s`. */
export function formatDuration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  if (ms < 999.5) return `${ms.toFixed(ms < 99.95 ? 1 : 0)} ms`;
  if (ms < 59_995) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  const rest = String(seconds % 60).padStart(2, "0");
  return `${Math.floor(seconds / 60)} min ${rest} s`;
}

/** `2026-11-20 14:05:09.123 UTC`: the same wherever it is read. */
export function formatMoment(at: Date): string {
  return `${at.toISOString().replace("T", " ").slice(0, 23)} UTC`;
}
