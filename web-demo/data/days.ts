/**
 * Days and moments in words.
 *
 * @module
 */

const DAY_MS = 86_400_000;
/** Further away than this a day and a month could be of the wrong year. */
const FAR_DAYS = 300;

/** A day as text, `2026-11-24`, where this device is. */
export function dayOf(at: number): string {
  const date = new Date(at);
  const month = String(date.getMonth() + 1).padStart(2, "0");
  const day = String(date.getDate()).padStart(2, "0");
  return `${date.getFullYear()}-${month}-${day}`;
}

/** How many days from one to the other. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

const short = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const withYear = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});
const weekday = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  timeZone: "UTC",
});
const full = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});
const monthAndYear = new Intl.DateTimeFormat("en-GB", {
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});
const moment = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** So many days later. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** So many months later, on the same day, or the last one where a month is shorter. */
export function addMonths(day: string, months: number): string {
  const date = new Date(day);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + months];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const on = Math.min(date.getUTCDate(), last);
  return new Date(Date.UTC(year, month, on)).toISOString().slice(0, 10);
}

/** The six weeks, from Monday on, in which the month of a day stands. */
export function weeksAround(day: string): string[][] {
  const first = `${day.slice(0, 7)}-01`;
  const start = addDays(first, -((new Date(first).getUTCDay() + 6) % 7));
  return Array.from(
    { length: 6 },
    (_, week) =>
      Array.from({ length: 7 }, (_, at) => addDays(start, 7 * week + at)),
  );
}

/** A day in words, whatever today is. */
export function fullDay(day: string): string {
  return full.format(Date.parse(day));
}

/** A day's month and year in words. */
export function monthWords(day: string): string {
  return monthAndYear.format(Date.parse(day));
}

/** A day in words, seen from today. */
export function dueWords(due: string, today: string): string {
  const days = daysBetween(today, due);
  if (days === 0) return "Today";
  if (days === 1) return "Tomorrow";
  if (days === -1) return "Yesterday";
  const date = new Date(Date.parse(due));
  if (days > 1 && days < 7) return weekday.format(date);
  return (Math.abs(days) > FAR_DAYS ? withYear : short).format(date);
}

/** How pressing a day is. */
export function pressure(
  due: string,
  today: string,
): "late" | "soon" | "later" {
  const days = daysBetween(today, due);
  return days < 0 ? "late" : days <= 2 ? "soon" : "later";
}

/** A moment in words. */
export function momentWords(at: number): string {
  return moment.format(at);
}

/** How long ago, in few words. */
export function agoWords(at: number, now: number = Date.now()): string {
  const seconds = Math.max(0, (now - at) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  const days = Math.floor(seconds / 86_400);
  if (days < 14) return days === 1 ? "yesterday" : `${days} days ago`;
  return short.format(at);
}
