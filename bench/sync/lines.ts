/**
 * Lines of text out of a process's bytes.
 *
 * @module
 */

/** Reads a stream line by line. */
export class Lines {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** The next whole line; `undefined` at the end. */
  async next(): Promise<string | undefined> {
    while (!this.#rest.includes("\n")) {
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      this.#rest += this.#decoder.decode(value, { stream: true });
    }
    const at = this.#rest.indexOf("\n");
    const line = this.#rest.slice(0, at);
    this.#rest = this.#rest.slice(at + 1);
    return line;
  }

  /** Reads no further. */
  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}
