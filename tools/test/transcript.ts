/**
 * Reads what `deno test` prints, while it prints it: which file is running,
 * which tests passed, what failed and why.
 *
 * It follows the pretty reporter without colours, because that is the one that
 * says what has begun as well as what has ended.
 *
 * @module
 */

/** A test that failed. */
export interface FailedTest {
  readonly file: string;
  readonly name: string;
}

/** What became of a test file. */
export interface FileRun {
  readonly file: string;
  /** How many tests it has; steps are not counted. */
  readonly tests: number;
  done: number;
  passed: number;
}

const RUNNING = /^running (\d+) tests? from \.\/(.+)$/;
/** A test's line has no indent; a step's has. */
const DONE = /^(\S.*) \.\.\. (ok|FAILED|ignored|cancelled) \([^()]*\)$/;
const UNCAUGHT = /^Uncaught error from \.\/(\S+) FAILED$/;
/** What a test prints itself stands between two lines. */
const PRINTED = /^------- (?:pre-test |post-test )?output -------$/;
const PRINTED_END = /^----- (?:pre-test |post-test )?output end -----$/;
const BEGUN = /^(\S.*) \.\.\.$/;

/** One process of `deno test`. */
export class Transcript {
  readonly files: FileRun[] = [];
  readonly failed: FailedTest[] = [];
  /** Names of the tests that did not run, as they say themselves. */
  readonly ignored: string[] = [];
  /** Everything from the first line of the errors on. */
  readonly errors: string[] = [];
  /** The last lines, for a process that dies without a word. */
  readonly tail: string[] = [];
  #rest = "";
  #begun: string | undefined;
  #isOver = false;
  #isPrinting = false;

  /** Takes what was printed next. */
  hear(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) this.#line(line);
  }

  /** How many tests passed. */
  get passed(): number {
    return this.passedWithout([]);
  }

  /** How many tests passed in other files than these. */
  passedWithout(files: readonly string[]): number {
    return this.files.filter(({ file }) => !files.includes(file))
      .reduce((sum, run) => sum + run.passed, 0);
  }

  /** The test that has begun and not ended, if one has. */
  get running(): string | undefined {
    if (this.#isOver) return undefined;
    const [, name] = BEGUN.exec(this.#rest.trimEnd()) ?? [];
    return name ?? this.#begun;
  }

  /** The file that is running, or ran last. */
  get file(): string | undefined {
    return this.files.at(-1)?.file;
  }

  /** Did all tests of a file run to their end? */
  isComplete(file: string): boolean {
    return this.files.some((run) => run.file === file && run.done >= run.tests);
  }

  #line(line: string): void {
    this.tail.push(line);
    if (this.tail.length > TAIL) this.tail.shift();
    if (line === " ERRORS ") this.#isOver = true;
    if (this.#isOver) return void this.errors.push(line);
    if (this.#isPrinting || PRINTED.test(line)) {
      this.#isPrinting = !PRINTED_END.test(line);
      return;
    }
    const [, tests, file] = RUNNING.exec(line) ?? [];
    if (file !== undefined) {
      this.files.push({ file, tests: Number(tests), done: 0, passed: 0 });
      return;
    }
    const [, broken] = UNCAUGHT.exec(line) ?? [];
    if (broken !== undefined) {
      this.failed.push({ file: broken, name: "an error that no test caught" });
      return;
    }
    // A test that prints something is announced once more when it has ended.
    const [, begun] = BEGUN.exec(line) ?? [];
    if (begun !== undefined) this.#begun = begun;
    const [, name, verdict] = DONE.exec(line) ?? [];
    if (name !== undefined) this.#done(name, verdict!);
  }

  #done(name: string, verdict: string): void {
    const run = this.files.at(-1);
    if (run === undefined) return;
    run.done++;
    this.#begun = undefined;
    if (verdict === "ok") run.passed++;
    else if (verdict === "ignored") this.ignored.push(name);
    else this.failed.push({ file: run.file, name });
  }

  /** Why tests failed, without the lists that stand elsewhere. */
  reasons(): string {
    const lines = this.errors.slice(1);
    const end = lines.indexOf(" FAILURES ");
    return lines.slice(0, end < 0 ? lines.length : end).join("\n").trim();
  }
}

/** Lines kept of a process that dies without a word. */
const TAIL = 25;
