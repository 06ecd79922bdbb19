/**
 * Where a long run is: one changing line on a terminal, plain lines elsewhere.
 * Written to standard error, so that the table alone goes to standard output.
 *
 * @module
 */

/** Says what is being done. */
export class Progress {
  readonly #isTerminal = Deno.stderr.isTerminal();
  readonly #started = performance.now();
  #done = 0;
  #total = 0;
  #printedAt = -Infinity;

  /** Begins a stretch of `total` steps. */
  begin(total: number): void {
    this.#total = total;
    this.#done = 0;
  }

  /** One step more; `what` is what it does. */
  step(what: string): void {
    this.#done++;
    const line = `${this.#elapsed()} [${this.#done}/${this.#total}] ${what}`;
    if (this.#isTerminal) write(`\r\x1b[K${line.slice(0, 110)}`);
    else this.#printSeldom(line);
  }

  /** A line that stays. */
  note(text: string): void {
    write(`${this.#isTerminal ? "\r\x1b[K" : ""}${text}\n`);
  }

  /** Takes the changing line away. */
  end(): void {
    if (this.#isTerminal) write("\r\x1b[K");
  }

  /** A log of every step would bury what matters: a line every two seconds. */
  #printSeldom(line: string): void {
    const now = performance.now();
    if (now - this.#printedAt < 2_000 && this.#done < this.#total) return;
    this.#printedAt = now;
    write(line + "\n");
  }

  #elapsed(): string {
    return `${
      ((performance.now() - this.#started) / 1_000).toFixed(0).padStart(4)
    } s`;
  }
}

function write(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}
