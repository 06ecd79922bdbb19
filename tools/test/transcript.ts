/**
 * Reads what `deno test` prints of the files in one process, while it prints
 * it: which file is running, which tests passed, what failed and why.
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

const RUNNING = /^running (\d+) tests? from /;
/** A test's line has no indent; a step's has. */
const DONE = /^(\S.*) \.\.\. (ok|FAILED|ignored|cancelled) \([^()]*\)$/;
const UNCAUGHT = /^Uncaught error from \S+ FAILED$/;
/** What a test prints itself stands between two lines. */
const PRINTED = /^------- (?:pre-test |post-test )?output -------$/;
const PRINTED_END = /^----- (?:pre-test |post-test )?output end -----$/;
const BEGUN = /^(\S.*) \.\.\.$/;
/** After a minute it is said that a test is running, and its verdict stands on a line of its own. */
const SLOW = /^(\S.*) \.\.\.'.*' has been running for over \(.*\)$/;
const VERDICT = /^ (?:ok|FAILED|cancelled) \([^()]*\)$/;
/** The name of a test begins with its file's. */
const NAMED = /^(\S+?_test\.tsx?): (.*)$/;

/** One process of `deno test` over some files, in their order. */
export class Transcript {
  readonly failed: FailedTest[] = [];
  /** Names of the tests that did not run, as they say themselves. */
  readonly ignored: string[] = [];
  /** Everything from the first line of the errors on. */
  readonly errors: string[] = [];
  /** The last lines, for a process that dies without a word. */
  readonly tail: string[] = [];
  readonly #files: readonly string[];
  readonly #passed = new Map<string, number>();
  #file: string | undefined;
  #tests = Infinity;
  #done = 0;
  #rest = "";
  #begun: string | undefined;
  /** The file whose error was caught by no test: nothing after it has run. */
  #broken: string | undefined;
  #isBroken = false;
  #isOver = false;
  #isPrinting = false;

  constructor(files: readonly string[]) {
    this.#files = files;
  }

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
    let sum = 0;
    for (const [file, passed] of this.#passed) {
      if (!files.includes(file)) sum += passed;
    }
    return sum;
  }

  /** The test that has begun and not ended, if one has. */
  get running(): string | undefined {
    const name = this.#running;
    return name && this.#split(name).name;
  }

  /** The file that is running, or ran last. */
  get file(): string {
    const name = this.#running;
    return (name && this.#split(name).file) ?? this.#file ?? this.#files[0]!;
  }

  /** The files that did not come to their ends. */
  get left(): string[] {
    if (!this.#isBroken && this.#done >= this.#tests) return [];
    const at = this.#file === undefined ? 0 : this.#files.indexOf(this.#file);
    return this.#files.slice(at).filter((file) => file !== this.#broken);
  }

  get #running(): string | undefined {
    if (this.#isOver) return undefined;
    const [, name] = BEGUN.exec(this.#rest.trimEnd()) ?? [];
    return name ?? this.#begun;
  }

  #split(text: string): FailedTest {
    const [, file = this.#files[0]!, name = text] = NAMED.exec(text) ?? [];
    return { file, name };
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
    const [, tests] = RUNNING.exec(line) ?? [];
    if (tests !== undefined) this.#tests = Number(tests);
    else if (UNCAUGHT.test(line)) this.#break();
    else this.#ends(line);
  }

  #ends(line: string): void {
    // A test that prints something is announced once more when it has ended.
    const [, begun] = BEGUN.exec(line) ?? SLOW.exec(line) ?? [];
    if (begun !== undefined) this.#begun = begun;
    const isLate = this.#begun !== undefined && VERDICT.test(line);
    const [, text, verdict] =
      DONE.exec(isLate ? `${this.#begun} ...${line}` : line) ?? [];
    if (text === undefined) return;
    const test = this.#split(text);
    // What comes after an error that no test caught was never begun.
    if (this.#isBroken && test.file !== this.#broken) return;
    this.#begun = undefined;
    this.#file = test.file;
    this.#done++;
    if (verdict === "ignored") this.ignored.push(test.name);
    else if (verdict !== "ok") this.failed.push(test);
    else this.#passed.set(test.file, (this.#passed.get(test.file) ?? 0) + 1);
  }

  /** It is the fault of the test that runs, or of the file that is alone. */
  #break(): void {
    this.#isBroken = true;
    const isKnown = this.#begun !== undefined || this.#files.length === 1;
    if (!isKnown) return;
    const { file } = this;
    this.#broken = file;
    this.failed.push({ file, name: "an error that no test caught" });
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
