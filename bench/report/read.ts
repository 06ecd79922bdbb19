/**
 * Reads a run back from the text that `--json` wrote.
 *
 * Architecture invariant: a file is foreign input; what passes here has the
 * types that reports rely on, and everything else is a `SyntaxError` that says
 * where.
 *
 * @module
 */

import type {
  Durability,
  Figure,
  Run,
  SuiteName,
  SuiteRun,
  Unit,
} from "../harness/figure.ts";

const suiteNames: ReadonlySet<unknown> = new Set<SuiteName>([
  "sqlite",
  "sync",
  "kv",
  "ycsb",
  "stress",
  "compare",
  "text",
]);
const durabilities: ReadonlySet<unknown> = new Set<Durability>([
  "fsync",
  "written",
  "queued",
  "memory",
  "none",
]);
const units: ReadonlySet<unknown> = new Set<Unit>([
  "ms",
  "B",
  "per s",
  "trips",
  "items",
]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * The run in a text, also where that is one suite's alone; throws `SyntaxError`
 * if it is something else.
 */
export function parseRun(text: string): Run {
  const file: unknown = JSON.parse(text);
  if (isFields(file) && file.suite !== undefined) {
    return { format: 1, suites: [parseSuite(file, "the suite")] };
  }
  if (!isFields(file) || file.format !== 1 || !Array.isArray(file.suites)) {
    throw new SyntaxError(
      "This is not a run that the bench's --json wrote (format 1)",
    );
  }
  return {
    format: 1,
    suites: file.suites.map((suite: unknown, at) =>
      parseSuite(suite, `suites[${at}]`)
    ),
  };
}

/** One suite's run in a text, as bench/results holds them. */
export function parseSuiteRun(text: string): SuiteRun {
  return parseSuite(JSON.parse(text), "the suite");
}

function parseSuite(value: unknown, place: string): SuiteRun {
  const suite = fieldsOf(value, place);
  check(suiteNames.has(suite.suite), `${place}.suite`);
  check(isText(suite.command), `${place}.command`);
  check(isText(suite.startedAt), `${place}.startedAt`);
  check(isNumber(suite.seconds), `${place}.seconds`);
  checkMachine(suite.machine, `${place}.machine`);
  checkVersions(suite.versions, `${place}.versions`);
  check(
    Array.isArray(suite.peers) && suite.peers.every(isText),
    `${place}.peers`,
  );
  checkNoise(suite.noise, `${place}.noise`);
  check(Array.isArray(suite.figures), `${place}.figures`);
  const figures = suite.figures as unknown[];
  figures.forEach((one, at) => checkFigure(one, `${place}.figures[${at}]`));
  // Every field that the type has was checked above.
  return value as SuiteRun;
}

function checkMachine(value: unknown, place: string): void {
  const machine = fieldsOf(value, place);
  for (const name of ["os", "cpu", "fileSystem"]) {
    check(isText(machine[name]), `${place}.${name}`);
  }
  for (const name of ["cores", "memoryGiB", "fdatasyncMicros"]) {
    check(isNumber(machine[name]), `${place}.${name}`);
  }
}

function checkVersions(value: unknown, place: string): void {
  const versions = fieldsOf(value, place);
  for (const name of ["deno", "v8", "sqlite", "sheaf", "commit", "date"]) {
    check(isText(versions[name]), `${place}.${name}`);
  }
}

function checkNoise(value: unknown, place: string): void {
  const noise = fieldsOf(value, place);
  for (const name of ["loadBefore", "cpuDrift", "syncDrift", "spread"]) {
    check(isNumber(noise[name]), `${place}.${name}`);
  }
  check(
    noise.warning === undefined || isText(noise.warning),
    `${place}.warning`,
  );
}

function checkFigure(value: unknown, place: string): asserts value is Figure {
  const figure = fieldsOf(value, place);
  check(suiteNames.has(figure.suite), `${place}.suite`);
  for (const name of ["table", "operation", "engine"]) {
    check(isText(figure[name]), `${place}.${name}`);
  }
  check(durabilities.has(figure.durability), `${place}.durability`);
  check(units.has(figure.unit), `${place}.unit`);
  check(typeof figure.isMoreBetter === "boolean", `${place}.isMoreBetter`);
  for (const name of ["size", "samples", "repetitions"]) {
    check(isNumber(figure[name]), `${place}.${name}`);
  }
  for (const name of ["median", "p75", "p99", "p995", "max", "spread"]) {
    check(figure[name] === null || isNumber(figure[name]), `${place}.${name}`);
  }
  check(
    Array.isArray(figure.distribution) && figure.distribution.every(isNumber),
    `${place}.distribution`,
  );
  const beside = fieldsOf(figure.beside, `${place}.beside`);
  for (const [name, number] of Object.entries(beside)) {
    check(isNumber(number), `${place}.beside.${name}`);
  }
  checkExtras(figure, place);
}

function checkExtras(figure: Fields, place: string): void {
  for (const name of ["wrong", "failed", "skipped"]) {
    const text = figure[name];
    check(text === undefined || isText(text), `${place}.${name}`);
  }
  if (figure.target !== undefined) checkTarget(figure.target, place);
  if (figure.alsoTargets !== undefined) {
    check(Array.isArray(figure.alsoTargets), `${place}.alsoTargets`);
    for (const one of figure.alsoTargets as unknown[]) checkTarget(one, place);
  }
  check(
    figure.floor === undefined || isNumber(figure.floor),
    `${place}.floor`,
  );
  if (figure.against !== undefined) {
    const against = fieldsOf(figure.against, `${place}.against`);
    check(
      isText(against.engine) && isNumber(against.ratio),
      `${place}.against`,
    );
  }
}

function checkTarget(value: unknown, place: string): void {
  const target = fieldsOf(value, `${place}.target`);
  const isKnown = ["ratio", "median", "p99", "max"].some((of) =>
    of === target.of
  );
  check(isKnown && isNumber(target.value), `${place}.target`);
}

function fieldsOf(value: unknown, place: string): Fields {
  if (!isFields(value)) throw new SyntaxError(`${place} is not an object`);
  return value;
}

function check(isRight: boolean, place: string): void {
  if (!isRight) throw new SyntaxError(`${place} is missing or of a wrong kind`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
