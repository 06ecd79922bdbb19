/**
 * Positions: strings between any two of which there is room for another.
 *
 * After David Greenspan, "Implementing Fractional Indexing" (2020). A position
 * is a whole number whose first character tells its length (`a` one digit, `b`
 * two, … upwards; `Z` one digit, `Y` two, … downwards), and a fraction that does
 * not end in `0`. Positions sort by their UTF-16 units.
 */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const POSITION = /^([a-z][0-9A-Za-z]*|[A-Z][0-9A-Za-z]*)$/;
const BASE = DIGITS.length;

/** Digits of the whole part that begins with `head`. */
function wholeLength(head: string): number {
  return head >= "a"
    ? head.charCodeAt(0) - "a".charCodeAt(0) + 1
    : "Z".charCodeAt(0) - head.charCodeAt(0) + 1;
}

export function isPosition(text: string): boolean {
  if (!POSITION.test(text) || text === lowest) return false;
  const length = wholeLength(text[0]!) + 1;
  if (text.length < length) return false;
  return text.length === length || !text.endsWith("0");
}

/** The position of the element at `index` of a list written whole. */
export function positionAt(index: number): string {
  let rest = index;
  let length = 1;
  for (let room = BASE; rest >= room; room *= BASE) {
    rest -= room;
    length++;
  }
  let digits = "";
  for (let i = 0; i < length; i++) {
    digits = DIGITS[rest % BASE] + digits;
    rest = Math.floor(rest / BASE);
  }
  return String.fromCharCode("a".charCodeAt(0) + length - 1) + digits;
}

function wholeOf(position: string): string {
  return position.slice(0, wholeLength(position[0]!) + 1);
}

/** A position after `low` and before `high`; `undefined` is open on that side. */
export function positionBetween(
  low: string | undefined,
  high: string | undefined,
): string {
  if (low === undefined) {
    return high === undefined ? "a0" : before(high);
  }
  if (high === undefined) return next(wholeOf(low)) ?? low + middle("", "");
  const lowWhole = wholeOf(low);
  const highWhole = wholeOf(high);
  if (lowWhole === highWhole) {
    return lowWhole +
      middle(low.slice(lowWhole.length), high.slice(highWhole.length));
  }
  const after = next(lowWhole);
  if (after !== undefined && after < high) return after;
  return lowWhole + middle(low.slice(lowWhole.length), "");
}

function before(high: string): string {
  const whole = wholeOf(high);
  if (whole < high && whole !== lowest) return whole;
  return previous(whole) ?? lowest + middle("", high.slice(lowest.length));
}

/** The least whole part: no position by itself, since nothing comes before it. */
const lowest = "A" + "0".repeat(26);

/** The whole number after this one. */
function next(whole: string): string | undefined {
  const digits = step(whole.slice(1), 1);
  if (digits !== undefined) return whole[0] + digits;
  if (whole[0] === "Z") return "a0";
  if (whole[0] === "z") return undefined;
  const head = String.fromCharCode(whole.charCodeAt(0) + 1);
  return head + "0".repeat(wholeLength(head));
}

/** The whole number before this one. */
function previous(whole: string): string | undefined {
  const digits = step(whole.slice(1), -1);
  if (digits !== undefined) {
    const found = whole[0] + digits;
    return found === lowest ? lowest + middle("", "") : found;
  }
  if (whole[0] === "a") return "Zz";
  if (whole[0] === "A") return undefined;
  const head = String.fromCharCode(whole.charCodeAt(0) - 1);
  return head + "z".repeat(wholeLength(head));
}

function step(digits: string, by: 1 | -1): string | undefined {
  const wrap = by === 1 ? "0" : "z";
  for (let i = digits.length - 1; i >= 0; i--) {
    const digit = DIGITS[DIGITS.indexOf(digits[i]!) + by];
    if (digit === undefined) continue;
    return digits.slice(0, i) + digit + wrap.repeat(digits.length - i - 1);
  }
  return undefined;
}

function middle(low: string, high: string): string {
  let shared = 0;
  while (
    shared < high.length && (low[shared] ?? "0") === high[shared]
  ) shared++;
  if (shared > 0) {
    return high.slice(0, shared) +
      middle(low.slice(shared), high.slice(shared));
  }
  const from = low === "" ? 0 : DIGITS.indexOf(low[0]!);
  const to = high === "" ? BASE : DIGITS.indexOf(high[0]!);
  if (to - from > 1) return DIGITS[Math.floor((from + to) / 2)]!;
  if (high.length > 1) return high[0]!;
  return DIGITS[from]! + middle(low.slice(1), "");
}
