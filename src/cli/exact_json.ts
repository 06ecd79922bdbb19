/**
 * JSON read only where nothing of it is lost.
 *
 * `JSON.parse` takes two things that it cannot keep, in silence: digits that a
 * double does not hold, and all but the last value of a key that stands twice.
 *
 * Architecture invariant: what is parsed here says what its text says.
 */

/** JSON that would lose something by being parsed. */
export class InexactJson extends SyntaxError {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/**
 * The value of JSON text.
 *
 * @throws {SyntaxError} it is not JSON; {@linkcode InexactJson} when it is and
 * something would be lost
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  checkExact(text);
  return value;
}

const [QUOTE, BACKSLASH, COLON] = [34, 92, 58];
const [BRACE, BRACKET, END_BRACE, END_BRACKET] = [123, 91, 125, 93];
const [MINUS, ZERO, NINE, SPACE] = [45, 48, 57, 32];

/** Text that is known to be JSON: are its numbers and its keys such that all are kept? */
function checkExact(text: string): void {
  /** The keys of the objects that are open; arrays have none. */
  const open: (Set<string> | undefined)[] = [];
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(text, at);
      if (isKey(text, end)) checkKey(text, at, end, open.at(-1));
      at = end;
    } else if (code === MINUS || code >= ZERO && code <= NINE) {
      at = checkNumber(text, at);
    } else {
      if (code === BRACE) open.push(new Set());
      else if (code === BRACKET) open.push(undefined);
      else if (code === END_BRACE || code === END_BRACKET) open.pop();
      at++;
    }
  }
}

/** Behind the closing quote of the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  const end = text.indexOf('"', at + 1);
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end + 1;
  for (let i = at + 1;; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i + 1;
  }
}

/** In JSON only a key has a colon behind it. */
function isKey(text: string, end: number): boolean {
  let at = end;
  while (text.charCodeAt(at) <= SPACE) at++;
  return text.charCodeAt(at) === COLON;
}

function checkKey(
  text: string,
  at: number,
  end: number,
  seen: Set<string> | undefined,
): void {
  const quoted = text.slice(at, end);
  const key: string = quoted.includes("\\")
    ? JSON.parse(quoted)
    : quoted.slice(1, -1);
  if (seen?.has(key)) {
    throw new InexactJson(`the key ${shown(quoted)} stands twice`, at);
  }
  seen?.add(key);
}

const numberFrom = /[-+.\deE]+/y;

/** Behind the number that begins at `at`. */
function checkNumber(text: string, at: number): number {
  numberFrom.lastIndex = at;
  const source = numberFrom.exec(text)?.[0] ?? "";
  if (isExactNumber(source)) return at + source.length;
  throw new InexactJson(
    `the number ${shown(source)} would be kept as ${
      Number(source)
    }: write it as a string`,
    at,
  );
}

function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/** So many digits tell any double from all others. */
const digitsMax = 17;
/** Doubles take fewer as decimals, and finding zeros at the end is quadratic. */
const charactersMax = 1_000;

const decimal = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Is the text a number as JSON writes it, all of whose digits a double has? Whole
 * ones must come back as they were: `9007199254740993` does not. Others may have
 * digits that a double has and would not write: `0.10000000000000001`.
 */
export function isExactNumber(text: string): boolean {
  if (text.length > charactersMax) return false;
  const value = Number(text);
  if (String(value) === text) return Number.isFinite(value);
  const given = digitsOf(text);
  if (given === undefined || !Number.isFinite(value)) return false;
  const { length } = given.digits;
  if (length === 0) return true;
  if (length > digitsMax || value === 0) return false;
  const isWhole = !/[.eE]/.test(text);
  const kept = digitsOf(isWhole ? String(value) : value.toPrecision(length));
  return kept?.digits === given.digits && kept.power === given.power;
}

/** The digits of a number without zeros at their ends, and where they stand. */
function digitsOf(
  text: string,
): { readonly digits: string; readonly power: number } | undefined {
  const [found, whole = "", fraction = "", exponent = "0"] =
    decimal.exec(text) ?? [];
  if (found === undefined) return undefined;
  const all = whole + fraction;
  const digits = all.replace(/^0+/, "");
  const power = whole.length - (all.length - digits.length) + Number(exponent);
  return { digits: digits.replace(/0+$/, ""), power };
}
