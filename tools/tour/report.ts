/**
 * What the tour prints: numbered sections, lines with a time at the right,
 * and checks that decide the exit code.
 *
 * @module
 */

const textWidth = 48;
const timeWidth = 9;

/** `8 µs`, `0.48 ms`, `12.4 ms`, `1.24 s`. */
function formatTime(ms: number): string {
  if (ms < 0.1) return `${(ms * 1000).toFixed(0)} µs`;
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${ms.toFixed(ms < 100 ? 1 : 0)} ms`;
  return `${(ms / 1000).toFixed(2)} s`;
}

/** `171,075`. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** `17.1 MB`. */
export function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Prints the tour and keeps count of what was wrong. */
export class Report {
  readonly #print: (line: string) => void;
  #sections = 0;
  #checks = 0;
  readonly #failures: string[] = [];

  /** @param print takes one line */
  constructor(print: (line: string) => void = (line) => console.log(line)) {
    this.#print = print;
  }

  /** A line as it is. */
  line(text = ""): void {
    this.#print(text);
  }

  /** Begins a section. */
  section(title: string): void {
    this.#print(`\n${++this.#sections}  ${title}`);
  }

  /** What was done, how long it took, and a remark. */
  step(what: string, ms: number | undefined, remark = ""): void {
    const time = ms === undefined ? "" : formatTime(ms);
    const line = `   ${what.padEnd(textWidth)}${time.padStart(timeWidth)}`;
    this.#print(`${line}  ${remark}`.trimEnd());
  }

  /** What was done, and how long each of several turns took. */
  times(what: string, turns: readonly number[]): void {
    this.#columns(what, turns.map(formatTime));
  }

  /** Titles over the times that follow. */
  columns(titles: readonly string[]): void {
    this.#columns("", titles);
  }

  #columns(what: string, cells: readonly string[]): void {
    const texts = cells.map((cell) => cell.padStart(timeWidth));
    this.#print(`   ${what.padEnd(textWidth)}${texts.join("")}`);
  }

  /** Rows of cells in aligned columns; a number stands right. */
  rows(rows: readonly (readonly (string | number)[])[]): void {
    const widths: number[] = [];
    const texts = rows.map((row) => row.map(cellText));
    for (const row of texts) {
      row.forEach((text, i) => {
        widths[i] = Math.max(widths[i] ?? 0, text.length);
      });
    }
    texts.forEach((row, r) => {
      const cells = row.map((text, c) => {
        const width = widths[c] ?? 0;
        return typeof rows[r]?.[c] === "number"
          ? text.padStart(width)
          : text.padEnd(width);
      });
      this.#print(`      ${cells.join("  ").trimEnd()}`);
    });
  }

  /** Does the tour's own answer hold? Prints only when it does not. */
  check(holds: boolean, what: string): void {
    this.#checks++;
    if (holds) return;
    this.#failures.push(what);
    this.#print(`   WRONG: ${what}`);
  }

  /** Tells the outcome; true when every check held. */
  finish(): boolean {
    const wrong = this.#failures.length;
    const checks = formatCount(this.#checks);
    this.#print(
      wrong === 0
        ? `\nAll ${checks} answers were checked and are right.`
        : `\n${wrong} of ${checks} answers are WRONG.`,
    );
    return wrong === 0;
  }
}

function cellText(cell: string | number): string {
  if (typeof cell === "string") return cell;
  return Number.isInteger(cell) ? formatCount(cell) : cell.toFixed(2);
}

/** Runs `work` and says how long it took. */
export function timed<T>(work: () => T): readonly [T, number] {
  const begun = performance.now();
  const result = work();
  return [result, performance.now() - begun];
}

/** Runs `work`, waits for it, and says how long that took. */
export async function timedAsync<T>(
  work: () => Promise<T>,
): Promise<readonly [T, number]> {
  const begun = performance.now();
  const result = await work();
  return [result, performance.now() - begun];
}
