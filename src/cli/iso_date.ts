/**
 * ISO 8601 dates that mean the same moment everywhere: a day, or a time with
 * its zone, to the millisecond.
 *
 * A time without a zone is none: it would depend on the machine that reads it.
 */

const iso =
  /^(\d{4})-(\d\d)-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;
const expanded = /^[+-]\d{6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export function parseIsoDate(text: string): Date | undefined {
  const parts = iso.exec(text);
  if (parts === null && !expanded.test(text)) return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return undefined;
  if (parts === null) return date;
  return isDay(Number(parts[1]), Number(parts[2]), Number(parts[3]))
    ? date
    : undefined;
}

/** Is it in the calendar? `new Date` takes February 30 for March 1. */
function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
